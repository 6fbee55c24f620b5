// Packing: K transposed, V in panels, so that the products read memory in order.
#if defined(ATTEST_FAST_SIMD_PACK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_PACK_INL_HPP
#undef ATTEST_FAST_SIMD_PACK_INL_HPP
#else
#define ATTEST_FAST_SIMD_PACK_INL_HPP
#endif

#include <cstddef>
#include <limits>

#include "fast/simd/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

/// Numbers in 128 bits: a transposition works on pieces of this size.
template <class T>
inline constexpr std::int64_t piece_numbers = 16 / static_cast<std::int64_t>(sizeof(T));

#if HWY_TARGET != HWY_SCALAR
/// A vector whose piece b is the one at row(first + b·step).
template <class D, class Row>
HWY_INLINE hn::Vec<D> load_pieces(D d, Row const& row, std::int64_t first, std::int64_t step) {
  using T = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) == 16) {
    return hn::LoadU(d, reinterpret_cast<T const*>(row(first)));
  } else {
    hn::Half<D> const half;
    constexpr auto pieces = static_cast<std::int64_t>(hn::MaxLanes(D()) * sizeof(T) / 32);
    return hn::Combine(d, load_pieces(half, row, first + pieces * step, step), load_pieces(half, row, first, step));
  }
}
#endif

/// 16 bytes of each of lanes<T> rows, transposed: column c holds the word c of every row. A word is as long as T.
template <class T>
struct transposed_piece {
  vector<T> column[piece_numbers<T>];

  /// row(i): the address of the 16 bytes of row i
  template <class Row>
  HWY_INLINE void read(Row const& row) {
    tag<T> const d;
#if HWY_TARGET == HWY_SCALAR
    for (std::int64_t c = 0; c < piece_numbers<T>; ++c)
      column[c] = hn::LoadU(d, reinterpret_cast<T const*>(row(0)) + c);
#else
    constexpr std::int64_t far = piece_numbers<T>;
    auto const v0 = load_pieces(d, row, 0, far), v1 = load_pieces(d, row, 1, far);
    auto const low = hn::InterleaveLower(d, v0, v1), high = hn::InterleaveUpper(d, v0, v1);
    if constexpr (sizeof(T) == 8) {
      column[0] = low, column[1] = high;
    } else {
      hn::RepartitionToWide<hn::RebindToUnsigned<tag<T>>> const pairs;
      auto const v2 = load_pieces(d, row, 2, far), v3 = load_pieces(d, row, 3, far);
      auto const a = hn::BitCast(pairs, low), b = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
      auto const e = hn::BitCast(pairs, high), f = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
      column[0] = hn::BitCast(d, hn::InterleaveLower(pairs, a, b));
      column[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, a, b));
      column[2] = hn::BitCast(d, hn::InterleaveLower(pairs, e, f));
      column[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, e, f));
    }
#endif
  }
};

/// The first lanes<T> rows of `from`, transposed to columns of `to`: row t begins at to + t·column.
template <class T>
HWY_INLINE void transpose_lanes(matrix<T const> from, std::int64_t depth, std::int64_t column, T* HWY_RESTRICT to) {
  std::int64_t t = 0;
  for (; t + piece_numbers<T> <= depth; t += piece_numbers<T>) {
    transposed_piece<T> piece;
    piece.read([&](std::int64_t i) { return from.row(i) + t; });
    HWY_UNROLL(4)
    for (std::int64_t c = 0; c < piece_numbers<T>; ++c) hn::StoreU(piece.column[c], tag<T>(), to + (t + c) * column);
  }
  for (; t < depth; ++t)
    for (std::int64_t i = 0; i < lanes<T>; ++i) to[t * column + i] = from.row(i)[t];
}

/// operations::transpose. The last rows come first, since the numbers that a vector writes beyond `width` lie where the
/// next column begins.
template <class T>
void transpose(matrix<T const> from, std::int64_t rows, std::int64_t depth, std::int64_t width, matrix<T> to) noexcept {
  for (std::int64_t i = rounded_up(width, lanes<T>) - lanes<T>; i >= 0; i -= lanes<T>) {
    if (i + lanes<T> <= rows) {
      transpose_lanes<T>({from.row(i), from.stride}, depth, to.stride, to.data + i);
    } else {
      for (std::int64_t t = 0; t < depth; ++t) {
        hn::StoreU(hn::Zero(tag<T>()), tag<T>(), to.row(t) + i);
        for (std::int64_t a = i; a < rows; ++a) to.row(t)[a] = from.row(a)[t];
      }
    }
  }
}

/// to_t ← c·from_t in whole vectors of D, c = high + low. An infinite x stays infinite if `guarded`, and may become NaN
/// if not: high·x and low·x can have different signs.
///
/// Returns  whether every to_t is finite: y·0 is 0 for finite y only, so the sum of these products is 0 or NaN
template <bool guarded, class D, class T = hn::TFromD<D>>
HWY_INLINE bool scale_vectors(D d, T const* from, T high, T low, std::int64_t count, T* to) {
  auto test = hn::Zero(d);
  for (std::int64_t t = 0; t < count; t += static_cast<std::int64_t>(hn::MaxLanes(d))) {
    auto const x = hn::LoadU(d, from + t);
    auto rest = hn::Mul(x, hn::Set(d, low));
    if constexpr (guarded)
      rest = hn::IfThenElseZero(hn::Lt(hn::Abs(x), hn::Set(d, std::numeric_limits<T>::infinity())), rest);
    auto const y = hn::MulAdd(x, hn::Set(d, high), rest);
    hn::StoreU(y, d, to + t);
    test = hn::MulAdd(y, hn::Zero(d), test);
  }
  return hn::AllTrue(d, hn::Eq(test, hn::Zero(d)));
}

/// operations::scale. If a result is not finite, the row is redone with infinities guarded. In-place calls guard them
/// from the start, since their input is overwritten.
template <class T>
bool scale(T const* from, T high, T low, std::int64_t count, T* to) noexcept {
  tag<T> const d;
  std::int64_t const whole = count - count % lanes<T>;
  bool const tail = scale_vectors<true>(hn::CappedTag<T, 1>(), from + whole, high, low, count - whole, to + whole);
  if (from != to && HWY_LIKELY(scale_vectors<false>(d, from, high, low, whole, to) && tail)) return true;
  return scale_vectors<true>(d, from, high, low, whole, to) && tail;
}

/// operations::pack_values
template <class T>
bool pack_values(matrix<T const> from, std::int64_t rows, std::int64_t keys, std::int64_t dv, T* to) noexcept {
  tag<T> const d;
  constexpr std::int64_t P = panel_columns<T>;
  auto const zero = hn::Zero(d);
  auto test = zero, other_test = zero;  // 0 or NaN, as in scale_vectors(); two chains, since an addition has a latency
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
