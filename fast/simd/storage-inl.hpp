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

/// The numbers stored in the lower and the upper half of each word, exactly. The processor's conversion of f16 ignores
/// its subnormals-are-zero flag.
template <class E>
struct halves_of_words {
  vector<float> lower, upper;

  HWY_INLINE explicit halves_of_words(hn::Vec<hn::RebindToUnsigned<tag<float>>> words) {
    tag<float> const d;
    hn::RebindToUnsigned<tag<float>> const bits;
    if constexpr (narrow_format<E>::cuts_f32) {
      constexpr std::uint32_t cut = ~std::uint32_t{0} << narrow_format<E>::shift;
      lower = hn::BitCast(d, hn::ShiftLeft<narrow_format<E>::shift>(words));
      upper = hn::BitCast(d, hn::And(words, hn::Set(bits, cut)));
    } else if constexpr (converts_f16 && std::is_same_v<E, problem::f16>) {
      hn::Rebind<std::uint16_t, tag<float>> const half;
      hn::Rebind<hwy::float16_t, tag<float>> const stored;
      lower = hn::PromoteTo(d, hn::BitCast(stored, hn::TruncateTo(half, words)));
      upper = hn::PromoteTo(d, hn::BitCast(stored, hn::TruncateTo(half, hn::ShiftRight<16>(words))));
    } else {
      HWY_ALIGN std::uint32_t word[lanes<float>];
      HWY_ALIGN float low[lanes<float>], high[lanes<float>];
      hn::Store(words, bits, word);
      for (std::int64_t a = 0; a < lanes<float>; ++a) {
        low[a] = widened(E{static_cast<std::uint16_t>(word[a])});
        high[a] = widened(E{static_cast<std::uint16_t>(word[a] >> 16)});
      }
      lower = hn::Load(d, low), upper = hn::Load(d, high);
    }
  }
};

/// The lanes<working<E>> numbers stored at `from`, exactly. A format that is neither the upper half of an f32 nor known
/// to the processor is converted one by one.
template <class E>
HWY_INLINE vector<working<E>> numbers_at(E const* from) {
  tag<working<E>> const d;
  if constexpr (!is_narrow<E>) {
    return hn::LoadU(d, from);
  } else if constexpr (narrow_format<E>::cuts_f32) {
    hn::RebindToUnsigned<tag<float>> const words;
    hn::Rebind<std::uint16_t, tag<float>> const halves;
    auto const bits = hn::LoadU(halves, reinterpret_cast<std::uint16_t const*>(from));
    return hn::BitCast(d, hn::ShiftLeft<narrow_format<E>::shift>(hn::PromoteTo(words, bits)));
  } else if constexpr (converts_f16 && std::is_same_v<E, problem::f16>) {
    hn::Rebind<hwy::float16_t, tag<float>> const halves;
    return hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<hwy::float16_t const*>(from)));
  } else {
    HWY_ALIGN float number[lanes<float>];
    for (std::int64_t a = 0; a < lanes<float>; ++a) number[a] = widened(from[a]);
    return hn::Load(d, number);
  }
}

/// row_conversions::widen
template <class E>
void widen(E const* from, std::int64_t count, float* to) noexcept {
  std::int64_t t = 0;
  for (; t + lanes<float> <= count; t += lanes<float>) hn::StoreU(numbers_at(from + t), tag<float>(), to + t);
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
