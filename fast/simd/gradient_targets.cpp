// The operations of the backward pass, compiled once for each SIMD target. A file of its own: the code of the forward
// pass stays as the compiler makes it without this one.
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/simd/gradient_targets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/gradient-inl.hpp"
#include "fast/simd/gradient_operations.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

template <class T>
constexpr gradient_operations<T> all_gradient_operations() {
  return {.weights = gradient_weights<T>,
          .softcap = softcap_and_slope<T>,
          .multiply_by = multiply_by<T>,
          .drop = drop<T>,
          .clear_masked = clear_masked<T>,
          .dot = dot<T>,
          .transposed_values = transposed_values<T>,
          .finish = finish_gradient<T>};
}

gradient_operations<float> const& gradient_operations_f32() {
  static constexpr gradient_operations<float> all = all_gradient_operations<float>();
  return all;
}

gradient_operations<double> const& gradient_operations_f64() {
  static constexpr gradient_operations<double> all = all_gradient_operations<double>();
  return all;
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::fast {

HWY_EXPORT(gradient_operations_f32);
HWY_EXPORT(gradient_operations_f64);

template <>
gradient_operations<float> const& best_gradient_operations<float>() noexcept {
  return HWY_DYNAMIC_DISPATCH(gradient_operations_f32)();
}

template <>
gradient_operations<double> const& best_gradient_operations<double>() noexcept {
  return HWY_DYNAMIC_DISPATCH(gradient_operations_f64)();
}

}  // namespace attest::fast
#endif
