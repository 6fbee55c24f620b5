// c·tanh(x/c) on scores, before the bias is added.
#if defined(ATTEST_FAST_SIMD_SOFTCAP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_SOFTCAP_INL_HPP
#undef ATTEST_FAST_SIMD_SOFTCAP_INL_HPP
#else
#define ATTEST_FAST_SIMD_SOFTCAP_INL_HPP
#endif

#include "fast/algorithm/softcap.hpp"
#include "fast/simd/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

/// c_k + c_{k+1}·r + …
template <class T, std::size_t k, class D>
HWY_INLINE hn::Vec<D> tanh_series(D d, hn::Vec<D> r) {
  constexpr auto& c = tanh_format<T>::coefficients;
  if constexpr (k + 1 == c.size()) return hn::Set(d, c[k]);
  else return hn::MulAdd(r, tanh_series<T, k + 1>(d, r), hn::Set(d, c[k]));
}

/// tanh(ln 2 / 2 · t), with the sign of t; ±1 for t = ±∞; NaN for NaN.
/// Cost  22 instructions with fused multiply-add in f32, one of them a division
template <class T, class D>
HWY_INLINE hn::Vec<D> tanh_of_power(D d, hn::Vec<D> t) {
  using format = exp2_format<T>;
  hn::RebindToUnsigned<D> const bits;
  auto const to_low_bits = hn::Set(d, format::integer_at_low_bits + T(format::bias));
  auto const one = hn::Set(d, T(1)), largest = hn::Set(d, tanh_format<T>::largest), size = hn::Abs(t);
  auto const clamped = hn::IfThenElse(hn::Gt(size, largest), largest, size);
  auto const shifted = hn::Add(clamped, to_low_bits);
  auto const r = hn::Sub(clamped, hn::Sub(shifted, to_low_bits));
  auto const power = hn::BitCast(d, hn::ShiftLeft<format::fraction_bits>(hn::BitCast(bits, shifted)));
  auto const less_one = hn::MulAdd(hn::Mul(r, power), tanh_series<T, 0>(d, r), hn::Sub(power, one));
  return hn::CopySign(hn::Div(less_one, hn::Add(less_one, hn::Set(d, T(2)))), t);
}

/// operations::softcap
template <class T>
void softcap(T* s, score_cap<T> const& cap, std::int64_t count) noexcept {
  tag<T> const d;
  auto const to_power = hn::Set(d, cap.to_power), to_score = hn::Set(d, cap.to_score);
  for (std::int64_t j = 0; j < count; j += lanes<T>)
    hn::StoreU(hn::Mul(tanh_of_power<T>(d, hn::Mul(hn::LoadU(d, s + j), to_power)), to_score), d, s + j);
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
