// The operations, compiled once for each SIMD target, and the choice among them at run time.
// SSE4 and SSSE3 have no fused multiply-add: they are not worth their own code. Vectors of SVE have no size, and cannot
// be members of a class, as they are here.
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/simd/simd_targets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/exponential-inl.hpp"
#include "fast/simd/pack-inl.hpp"
#include "fast/simd/product-inl.hpp"
#include "fast/simd/rows-inl.hpp"
#include "fast/simd/softcap-inl.hpp"
#include "fast/simd/storage-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

template <class T>
constexpr operations<T> all_operations() {
  return {.name = hwy::TargetName(HWY_TARGET),
          .panel = panel_columns<T>,
          .few_rows = few_rows,
          .transpose = transpose<T>,
          .scale = scale<T>,
          .stored = stored_rows(narrow_elements{}),
          .pack_values = pack_values<T>,
          .scores = scores<T>,
          .multiply = multiply<T>,
          .softcap = softcap<T>,
          .add_bias = add_bias<T>,
          .hide_masked = hide_masked<T>,
          .update_max = update_max<T>,
          .exponentiate = exponentiate<T>,
          .values = values<T>,
          .values_in_place = values_in_place<T>,
          .listed_values = listed_values<T>,
          .few = all_row_products(stored_elements<T>{}),
          .visible_values = visible_values<T>,
          .add_multiple = add_multiple<T>,
          .finish = finish<T>};
}

operations<float> const& operations_f32() {
  static operations<float> const all = all_operations<float>();
  return all;
}

operations<double> const& operations_f64() {
  static operations<double> const all = all_operations<double>();
  return all;
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::fast {

HWY_EXPORT(operations_f32);
HWY_EXPORT(operations_f64);

template <>
operations<float> const& best_operations<float>() noexcept {
  return HWY_DYNAMIC_DISPATCH(operations_f32)();
}

template <>
operations<double> const& best_operations<double>() noexcept {
  return HWY_DYNAMIC_DISPATCH(operations_f64)();
}

namespace {

/// Highway's targets are bits, the best one lowest.
constexpr std::int64_t lowest_bit(std::int64_t bits) noexcept { return bits & -bits; }

std::int64_t available() noexcept { return hwy::SupportedTargets() & HWY_TARGETS; }

}  // namespace

std::vector<std::string_view> simd_targets() {
  std::vector<std::string_view> names;
  for (std::int64_t left = available(); left != 0; left &= left - 1) names.push_back(hwy::TargetName(lowest_bit(left)));
  return names;
}

bool use_simd_target(std::string_view name) noexcept {
  hwy::SetSupportedTargetsForTest(0);
  std::int64_t chosen = available();
  if (!name.empty()) {
    while (chosen != 0 && hwy::TargetName(lowest_bit(chosen)) != name) chosen &= chosen - 1;
    if (chosen == 0) return false;
    chosen = lowest_bit(chosen);
  }
  hwy::GetChosenTarget().Update(chosen);
  return true;
}

}  // namespace attest::fast
#endif
