// Rows of bf16 and f16 to f32 and back.
#if defined(ATTEST_FAST_STORAGE) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_STORAGE
#undef ATTEST_FAST_STORAGE
#else
#define ATTEST_FAST_STORAGE
#endif

#include "fast/simd/vectors-inl.hpp"
#include "fast/algorithm/storage.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

inline constexpr bool converts_f16 = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2;

/// operations::widen_bf16
inline void widen_bf16(problem::bf16 const* from, std::int64_t count, float* to) noexcept {
  tag<float> const d;
  hn::RebindToUnsigned<decltype(d)> const words;
  hn::Rebind<std::uint16_t, decltype(d)> const halves;
  std::int64_t t = 0;
  for (; t + lanes<float> <= count; t += lanes<float>) {
    auto const bits = hn::LoadU(halves, reinterpret_cast<std::uint16_t const*>(from + t));
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, bits))), d, to + t);
  }
  for (; t < count; ++t) to[t] = widened(from[t]);
}

/// operations::widen_f16. The processor's conversion does not look at its subnormals-are-zero flag.
inline void widen_f16(problem::f16 const* from, std::int64_t count, float* to) noexcept {
  std::int64_t t = 0;
  if constexpr (converts_f16) {
    tag<float> const d;
    hn::Rebind<hwy::float16_t, decltype(d)> const halves;
    for (; t + lanes<float> <= count; t += lanes<float>)
      hn::StoreU(hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<hwy::float16_t const*>(from + t))), d, to + t);
  }
  for (; t < count; ++t) to[t] = widened(from[t]);
}

/// operations::narrow_bf16 and narrow_f16: once an output element, so the compiler's loop will do.
template <class E>
void narrow(float const* from, std::int64_t count, E* to) noexcept {
  for (std::int64_t t = 0; t < count; ++t) to[t] = narrowed<E>(from[t]);
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
