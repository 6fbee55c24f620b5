// Packing: K and Q as columns, V as panels, so that the products read with unit stride.
#if defined(ATTEST_FAST_PACK) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_PACK
#undef ATTEST_FAST_PACK
#else
#define ATTEST_FAST_PACK
#endif

#include <limits>

#include "fast/simd/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// The numbers of a 128-bit block: transposition happens inside blocks.
template <class T>
inline constexpr std::int64_t block_numbers = 16 / static_cast<std::int64_t>(sizeof(T));

/// A vector whose block b is the block at from + b·stride.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_blocks(D d, T const* from, std::int64_t stride) {
  if constexpr (hn::MaxLanes(D()) * sizeof(T) == 16) {
    return hn::LoadU(d, from);
  } else {
    hn::Half<D> const half;
    constexpr auto blocks = static_cast<std::int64_t>(hn::MaxLanes(D()) * sizeof(T) / 32);
    return hn::Combine(d, load_blocks(half, from + blocks * stride, stride), load_blocks(half, from, stride));
  }
}

#endif

/// Rows first … first + lanes − 1 of `from`, all of them there, to columns of `to`.
template <class T>
HWY_INLINE void transpose_lanes(matrix<T const> from, std::int64_t depth, std::int64_t width, T* HWY_RESTRICT to) {
  std::int64_t t = 0;
#if HWY_TARGET != HWY_SCALAR
  tag<T> const d;
  constexpr std::int64_t block = block_numbers<T>;
  std::int64_t const stride = block * from.stride;
  for (; t + block <= depth; t += block) {
    auto const v0 = load_blocks(d, from.data + t, stride), v1 = load_blocks(d, from.row(1) + t, stride);
    auto const low = hn::InterleaveLower(d, v0, v1), high = hn::InterleaveUpper(d, v0, v1);
    if constexpr (sizeof(T) == 8) {
      hn::StoreU(low, d, to + t * width);
      hn::StoreU(high, d, to + (t + 1) * width);
    } else {
      hn::RepartitionToWide<hn::RebindToUnsigned<tag<T>>> const pairs;
      auto const v2 = load_blocks(d, from.row(2) + t, stride), v3 = load_blocks(d, from.row(3) + t, stride);
      auto const a = hn::BitCast(pairs, low), b = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
      auto const e = hn::BitCast(pairs, high), f = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), d, to + t * width);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)), d, to + (t + 1) * width);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, e, f)), d, to + (t + 2) * width);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, e, f)), d, to + (t + 3) * width);
    }
  }
#endif
  for (; t < depth; ++t)
    for (std::int64_t i = 0; i < lanes<T>; ++i) to[t * width + i] = from.row(i)[t];
}

/// operations::transpose. The last rows first: what a vector writes beyond `width` is the next column's beginning.
template <class T>
void transpose(matrix<T const> from, std::int64_t rows, std::int64_t depth, std::int64_t width, T* to) noexcept {
  for (std::int64_t i = rounded_up(width, lanes<T>) - lanes<T>; i >= 0; i -= lanes<T>) {
    if (i + lanes<T> <= rows) {
      transpose_lanes<T>({from.row(i), from.stride}, depth, width, to + i);
    } else {
      std::int64_t const last = i + lanes<T> < width ? i + lanes<T> : width;
      for (std::int64_t t = 0; t < depth; ++t)
        for (std::int64_t a = i; a < last; ++a) to[t * width + a] = a < rows ? from.row(a)[t] : T(0);
    }
  }
}

/// c·x, c = high + low; ±∞ where x is, whatever the sign of low.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> scaled(D d, hn::Vec<D> x, T high, T low) {
  auto const finite = hn::Lt(hn::Abs(x), hn::Set(d, std::numeric_limits<T>::infinity()));
  return hn::MulAdd(x, hn::Set(d, high), hn::IfThenElseZero(finite, hn::Mul(x, hn::Set(d, low))));
}

/// operations::scale. y·0 is NaN for NaN and infinities only; where there is one, infinities are looked for. What is scaled
/// in place is not there to be scaled again: then they always are.
template <class T>
bool scale(T const* from, T high, T low, std::int64_t count, T* to) noexcept {
  tag<T> const d;
  hn::CappedTag<T, 1> const one;
  std::int64_t const whole = count - count % lanes<T>;
  T last_test = 0;
  for (std::int64_t t = whole; t < count; ++t) {
    auto const y = scaled(one, hn::LoadU(one, from + t), high, low);
    hn::StoreU(y, one, to + t);
    last_test += hn::GetLane(y) * 0;
  }
  auto test = hn::Zero(d);
  if (from != to) {
    auto const most = hn::Set(d, high), rest = hn::Set(d, low);
    for (std::int64_t t = 0; t < whole; t += lanes<T>) {
      auto const x = hn::LoadU(d, from + t), y = hn::MulAdd(x, most, hn::Mul(x, rest));
      hn::StoreU(y, d, to + t);
      test = hn::MulAdd(y, hn::Zero(d), test);
    }
    if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(test, hn::Zero(d))) && last_test == 0)) return true;
    test = hn::Zero(d);
  }
  for (std::int64_t t = 0; t < whole; t += lanes<T>) {
    auto const y = scaled(d, hn::LoadU(d, from + t), high, low);
    hn::StoreU(y, d, to + t);
    test = hn::MulAdd(y, hn::Zero(d), test);
  }
  return hn::AllTrue(d, hn::Eq(test, hn::Zero(d))) && last_test == 0;
}

/// operations::pack_values
template <class T>
bool pack_values(matrix<T const> from, std::int64_t rows, std::int64_t keys, std::int64_t dv, T* to) noexcept {
  tag<T> const d;
  constexpr std::int64_t P = panel_columns<T>;
  auto const zero = hn::Zero(d);
  auto test = zero, other_test = zero;  // two chains of additions: each waits for itself
  for (std::int64_t c = 0; c < dv; c += P) {
    T* HWY_RESTRICT const panel = to + c * keys;
    if (c + P <= dv) {
      for (std::int64_t j = 0; j < rows; ++j) {
        auto const a = hn::LoadU(d, from.row(j) + c), b = hn::LoadU(d, from.row(j) + c + lanes<T>);
        hn::StoreU(a, d, panel + j * P);
        hn::StoreU(b, d, panel + j * P + lanes<T>);
        test = hn::MulAdd(a, zero, test);
        other_test = hn::MulAdd(b, zero, other_test);
      }
    } else {
      for (std::int64_t j = 0; j < rows; ++j) {
        for (std::int64_t a = 0; a < P; ++a) panel[j * P + a] = c + a < dv ? from.row(j)[c + a] : T(0);
        auto const a = hn::LoadU(d, panel + j * P), b = hn::LoadU(d, panel + j * P + lanes<T>);
        test = hn::MulAdd(a, zero, test);
        other_test = hn::MulAdd(b, zero, other_test);
      }
    }
  }
  return hn::AllTrue(d, hn::Eq(hn::Add(test, other_test), zero));
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
