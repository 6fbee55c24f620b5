// Loaded with LD_PRELOAD: Highway finds fewer SIMD targets than the processor has. ATTEST_TEST_TARGETS is "avx2" for
// the targets of a processor without AVX-512, "baseline" for the targets that every processor has.
#include <cstdlib>
#include <string_view>

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace {

[[gnu::constructor]] void take_targets_away() {
  char const* const asked = std::getenv("ATTEST_TEST_TARGETS");
  if (!asked) return;
  auto const of_avx2 = hwy::SupportedTargets() & ~(HWY_AVX2 - 1);  // better targets have lower bits
  hwy::SetSupportedTargetsForTest(std::string_view(asked) == "avx2" ? of_avx2 : HWY_STATIC_TARGET);
}

}  // namespace
