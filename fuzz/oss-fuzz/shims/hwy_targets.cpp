// The three functions of Highway's library that attest calls, for programs that must run where Highway is not installed
// (ATTEST_SELF_CONTAINED). Highway's headers do everything else.
// Source  hwy/targets.h, which declares them; Highway's own targets.cc asks CPUID for the same instruction sets
#include <hwy/targets.h>

namespace hwy {
namespace {

std::int64_t mocked = 0;

std::int64_t found() noexcept {
  std::int64_t targets = HWY_ENABLED_BASELINE | HWY_STATIC_TARGET;
#if HWY_ARCH_X86
  auto const has_avx2 = [] {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("f16c");
  };
  auto const has_avx3 = [] {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd");
  };
  if (has_avx2()) targets |= HWY_AVX2;
  if (has_avx2() && has_avx3()) targets |= HWY_AVX3;
#endif
  return targets;
}

}  // namespace

std::int64_t SupportedTargets() {
  static std::int64_t const supported = found();
  return mocked != 0 ? mocked : supported;
}

void SetSupportedTargetsForTest(std::int64_t targets) { mocked = targets; }

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
