// Stages: loops over the keys of one row. A stage is written once, for R = lanes and for R = double, and keeps its sums
// in an accumulator. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_STAGES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_STAGES_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_STAGES_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_STAGES_INL_HPP
#endif

#include <cstddef>
#include <type_traits>

#include "reference/machine/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// Calls Stage::at<R>(j) for the keys from `begin` to `end`: full vectors first, then one double at a time.
template <class Stage>
HWY_INLINE void each_key(std::size_t begin, std::size_t end, Stage& stage) {
  std::size_t j = begin;
  for (; j + lane_count <= end; j += lane_count) stage.template at<lanes>(j);
  for (; j < end; ++j) stage.template at<double>(j);
}
template <class Stage>
HWY_INLINE void each_key(std::size_t n, Stage& stage) {
  each_key(0, n, stage);
}

/// Sums on lanes, and sums of the keys that are left over.
template <template <class> class Sum>
struct accumulator {
  Sum<lanes> wide;
  Sum<double> single;
  static HWY_INLINE accumulator none() { return {Sum<lanes>::none(), Sum<double>::none()}; }
  template <class R>
  HWY_INLINE Sum<R>& of() {
    if constexpr (std::is_same_v<R, double>) return single;
    else return wide;
  }
};

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
