// The two matrix products of a strip, S = Q·Kᵀ and O = P·V, on one register tile.
#if defined(ATTEST_FAST_SIMD_PRODUCT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_PRODUCT_INL_HPP
#undef ATTEST_FAST_SIMD_PRODUCT_INL_HPP
#else
#define ATTEST_FAST_SIMD_PRODUCT_INL_HPP
#endif

#include <type_traits>

#include "fast/simd/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

/// The sums of one tile, in registers.
template <class T, int rows, int vectors>
struct register_tile {
  vector<T> sum[rows][vectors];
};

/// The distance between the rows of a packed panel, known to the compiler.
template <class T>
using packed = std::integral_constant<std::int64_t, panel_columns<T>>;

/// Calls tile(height, i) with a constant height for tiles that cover the rows [0, rows): as many of tile_rows as fit,
/// then at most one of each smaller height.
template <class F>
HWY_INLINE void each_tile(std::int64_t rows, F const& tile) {
  std::int64_t i = 0;
  auto const next = [&]<int height>(std::integral_constant<int, height> tall) {
    tile(tall, i);
    i += height;
  };
  while (i + tile_rows <= rows) next(std::integral_constant<int, tile_rows>());
  if constexpr (tile_rows > 8)
    if (i + 8 <= rows) next(std::integral_constant<int, 8>());
  if constexpr (tile_rows > 4)
    if (i + 4 <= rows) next(std::integral_constant<int, 4>());
  if (i + 2 <= rows) next(std::integral_constant<int, 2>());
  if (i < rows) next(std::integral_constant<int, 1>());
}

/// sum_iv = Σ_t a_it·b_tv, from 0, t in order. a_it is a[t + i·a_row], and b_t begins at b + t·b_row.
/// Cost  12 × 2 tile: 24 multiply-adds, 12 broadcasts and 2 loads for each t
template <int rows, int vectors, class T, class A, class B>
HWY_INLINE register_tile<T, rows, vectors> multiplied(T const* HWY_RESTRICT a, A a_row, T const* HWY_RESTRICT b,
                                                      B b_row, std::int64_t depth, T const* next) {
  tag<T> const d;
  register_tile<T, rows, vectors> tile;
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::Zero(d);
  for (std::int64_t t = 0; t < depth; ++t) {
    vector<T> row[vectors];
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) row[v] = hn::LoadU(d, b + v * lanes<T>);
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) hwy::Prefetch(next + v * lanes<T>);
    HWY_UNROLL(16) for (int i = 0; i < rows; ++i) {
      auto const factor = hn::Set(d, a[i * a_row]);
      HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::MulAdd(factor, row[v], tile.sum[i][v]);
    }
    ++a, b += b_row, next += b_row;
  }
  return tile;
}

/// One tile of scores.
template <int rows, class T>
HWY_INLINE void score_tile(T const* Q, T const* K, std::int64_t depth, T const* next, T* S) {
  tag<T> const d;
  auto const tile = multiplied<rows, 2>(Q, depth, K, packed<T>(), depth, next);
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i)
    HWY_UNROLL(2) for (int v = 0; v < 2; ++v) hn::StoreU(tile.sum[i][v], d, S + i * score_stride<T> + v * lanes<T>);
}

/// operations::scores. All tiles of the strip use a panel of K while it is in the first-level cache.
template <class T>
void scores(T const* Q, T const* K, std::int64_t depth, std::int64_t rows, interval keys, T* S) noexcept {
  constexpr std::int64_t P = panel_columns<T>;
  for (std::int64_t j = keys.first; j < keys.last; j += P) {
    T const *const panel = K + j * depth, *const next = panel + P * depth;
    std::int64_t i = 0;
    for (; i + tile_rows <= rows; i += tile_rows)
      score_tile<tile_rows>(Q + i * depth, panel, depth, next, S + i * score_stride<T> + j);
    if constexpr (tile_rows > 8)
      if (i + 8 <= rows) score_tile<8>(Q + i * depth, panel, depth, next, S + i * score_stride<T> + j), i += 8;
    if constexpr (tile_rows > 4)
      if (i + 4 <= rows) score_tile<4>(Q + i * depth, panel, depth, next, S + i * score_stride<T> + j), i += 4;
    if (i + 2 <= rows) score_tile<2>(Q + i * depth, panel, depth, next, S + i * score_stride<T> + j), i += 2;
    if (i < rows) score_tile<1>(Q + i * depth, panel, depth, next, S + i * score_stride<T> + j);
  }
}

/// How many rows of V ahead of the product are prefetched: the latency of the second-level cache.
inline constexpr std::int64_t rows_ahead = 32;

/// V as a list of its rows, from a column on: V_j begins at rows[j] + column.
template <class T>
struct listed_rows {
  T const* const* rows = nullptr;
  std::int64_t column = 0;
};

/// One tile of P·V. v_row is the row stride of V.
template <int rows, int vectors, class T, class B>
HWY_INLINE register_tile<T, rows, vectors> value_sums(T const* P, T const* V, B v_row, std::int64_t depth) {
  return multiplied<rows, vectors>(P, std::integral_constant<std::int64_t, score_stride<T>>(), V, v_row, depth,
                                   V + rows_ahead * v_row);
}
/// The same, bit for bit, if each row of V lies elsewhere. v_row has no meaning.
template <int rows, int vectors, class T, class B>
HWY_INLINE register_tile<T, rows, vectors> value_sums(T const* HWY_RESTRICT P, listed_rows<T> V, B,
                                                      std::int64_t depth) {
  tag<T> const d;
  register_tile<T, rows, vectors> tile;
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::Zero(d);
  for (std::int64_t t = 0; t < depth; ++t) {
    T const* HWY_RESTRICT const from = V.rows[t] + V.column;
    vector<T> row[vectors];
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) row[v] = hn::LoadU(d, from + v * lanes<T>);
    HWY_UNROLL(16) for (int i = 0; i < rows; ++i) {
      auto const factor = hn::Set(d, P[t + i * score_stride<T>]);
      HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::MulAdd(factor, row[v], tile.sum[i][v]);
    }
  }
  return tile;
}

/// One tile of O. V is where a value_sums() finds it.
template <int rows, int vectors, class T, class V_t, class B>
HWY_INLINE void value_tile(T const* P, V_t V, B v_row, std::int64_t depth, T const* factor, T* O, std::int64_t stride) {
  tag<T> const d;
  // Prefetches the elements of O that the sums will be added to.
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i)
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) hwy::Prefetch(O + i * stride + v * lanes<T>);
  auto const tile = value_sums<rows, vectors>(P, V, v_row, depth);
  HWY_UNROLL(16) for (int i = 0; i < rows; ++i) {
    auto const f = hn::Set(d, factor[i]);
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) {
      T* const o = O + i * stride + v * lanes<T>;
      hn::StoreU(hn::MulAdd(hn::LoadU(d, o), f, tile.sum[i][v]), d, o);
    }
  }
}

template <int vectors, class T, class V_t, class B>
HWY_INLINE void value_panel(T const* P, V_t V, B v_row, std::int64_t depth, std::int64_t rows, T const* factor,
                            matrix<T> O) {
  each_tile(rows, [&]<int height>(std::integral_constant<int, height>, std::int64_t i) {
    value_tile<height, vectors>(P + i * score_stride<T>, V, v_row, depth, factor + i, O.row(i), O.stride);
  });
}

/// operations::values
template <class T>
void values(T const* P, T const* V, std::int64_t rows, interval keys, std::int64_t dv, T const* factor,
            matrix<T> O) noexcept {
  constexpr std::int64_t columns = panel_columns<T>;
  for (std::int64_t c = 0; c < dv; c += columns) {
    T const* const panel = V + c * blocking_of<T>.keys + keys.first * columns;
    matrix<T> const to{O.data + c, O.stride};
    if (c + lanes<T> < dv) value_panel<2>(P + keys.first, panel, packed<T>(), keys.size(), rows, factor, to);
    else value_panel<1>(P + keys.first, panel, packed<T>(), keys.size(), rows, factor, to);
  }
}

/// The body of values_in_place() and listed_values(); V_from(c) is V from its column c on.
template <class T, class From>
HWY_INLINE void unpacked_values(T const* P, From const& V_from, std::int64_t v_row, std::int64_t rows,
                                std::int64_t depth, std::int64_t dv, T const* factor, matrix<T> O) {
  std::int64_t c = 0;
  auto const columns = [&]<int vectors>(std::integral_constant<int, vectors>) {
    for (; c + vectors * lanes<T> <= dv; c += vectors * lanes<T>)
      value_panel<vectors>(P, V_from(c), v_row, depth, rows, factor, {O.data + c, O.stride});
  };
  columns(std::integral_constant<int, 2>()), columns(std::integral_constant<int, 1>());
}

/// operations::values_in_place
template <class T>
void values_in_place(T const* P, matrix<T const> V, std::int64_t rows, interval keys, std::int64_t dv, T const* factor,
                     matrix<T> O) noexcept {
  T const* const first = V.row(keys.first);
  unpacked_values<T>(
      P + keys.first, [first](std::int64_t c) { return first + c; }, V.stride, rows, keys.size(), dv, factor, O);
}

/// operations::listed_values
template <class T>
void listed_values(T const* P, T const* const* V, std::int64_t rows, interval keys, std::int64_t dv, T const* factor,
                   matrix<T> O) noexcept {
  T const* const* const first = V + keys.first;
  unpacked_values<T>(
      P + keys.first, [first](std::int64_t c) { return listed_rows<T>{first, c}; }, 0, rows, keys.size(), dv, factor,
      O);
}

/// operations::visible_values
template <class T>
void visible_values(T const* P, T const* V, std::uint8_t const* visible, interval keys, std::int64_t dv, T factor,
                    T* O) noexcept {
  tag<T> const d;
  constexpr std::int64_t columns = panel_columns<T>;
  for (std::int64_t c = 0; c < dv; c += lanes<T>) {
    T const* const panel = V + c / columns * columns * blocking_of<T>.keys + c % columns;
    auto sum = hn::Zero(d);
    for (std::int64_t j = keys.first; j < keys.last; ++j)
      if (visible[j] != 0) sum = hn::MulAdd(hn::Set(d, P[j]), hn::LoadU(d, panel + j * columns), sum);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, O + c), hn::Set(d, factor), sum), d, O + c);
  }
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
