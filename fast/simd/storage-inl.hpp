// Conversions of rows between the 16-bit types and f32.
#if defined(ATTEST_FAST_SIMD_STORAGE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_STORAGE_INL_HPP
#undef ATTEST_FAST_SIMD_STORAGE_INL_HPP
#else
#define ATTEST_FAST_SIMD_STORAGE_INL_HPP
#endif

#include "fast/simd/operations.hpp"
#include "fast/simd/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

inline constexpr bool converts_f16 = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2;

/// row_conversions::widen. The processor's conversion of f16 ignores its subnormals-are-zero flag. A format that is
/// neither the upper half of an f32 nor known to the processor is left to the scalar loop.
template <class E>
void widen(E const* from, std::int64_t count, float* to) noexcept {
  tag<float> const d;
  std::int64_t t = 0;
  if constexpr (narrow_format<E>::cuts_f32) {
    hn::RebindToUnsigned<decltype(d)> const words;
    hn::Rebind<std::uint16_t, decltype(d)> const halves;
    for (; t + lanes<float> <= count; t += lanes<float>) {
      auto const bits = hn::LoadU(halves, reinterpret_cast<std::uint16_t const*>(from + t));
      hn::StoreU(hn::BitCast(d, hn::ShiftLeft<narrow_format<E>::shift>(hn::PromoteTo(words, bits))), d, to + t);
    }
  } else if constexpr (converts_f16 && std::is_same_v<E, problem::f16>) {
    hn::Rebind<hwy::float16_t, decltype(d)> const halves;
    for (; t + lanes<float> <= count; t += lanes<float>)
      hn::StoreU(hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<hwy::float16_t const*>(from + t))), d, to + t);
  }
  for (; t < count; ++t) to[t] = widened(from[t]);
}

/// row_conversions::narrow. It runs once for each output element, so a scalar loop is fast enough.
template <class E>
void narrow(float const* from, std::int64_t count, E* to) noexcept {
  for (std::int64_t t = 0; t < count; ++t) to[t] = narrowed<E>(from[t]);
}

/// operations::stored
template <class... E>
constexpr auto stored_rows(problem::type_list<E...>) noexcept {
  return std::tuple(row_conversions<E>{widen<E>, narrow<E>}...);
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
