// Products of few queries with rows of K and V where the caller stores them: row_products of operations.hpp. A packed copy
// would be used only once, and what they cost beside reading memory is the conversion of stored numbers, and for K a
// transposition in registers.
#if defined(ATTEST_FAST_SIMD_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_ROWS_INL_HPP
#undef ATTEST_FAST_SIMD_ROWS_INL_HPP
#else
#define ATTEST_FAST_SIMD_ROWS_INL_HPP
#endif

#include "fast/simd/pack-inl.hpp"
#include "fast/simd/product-inl.hpp"
#include "fast/simd/storage-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

/// Calls with(std::integral_constant<int, R>()) for the least R of 1, 2, 4 and few_rows that is not below `rows`: each of them
/// is compiled, and the others are not worth their code.
template <class With>
HWY_INLINE void with_rows(std::int64_t rows, With&& with) {
  if (rows == 1) return with(std::integral_constant<int, 1>());
  if (rows == 2) return with(std::integral_constant<int, 2>());
  if constexpr (few_rows > 4)
    if (rows > 4) return with(std::integral_constant<int, few_rows>());
  with(std::integral_constant<int, 4>());
}

/// Vectors of O that one pass over V sums for so many rows: as many as fit in registers beside those of V and one weight.
inline constexpr int vectors_of_pass(int rows) {
  constexpr int registers = HWY_TARGET == HWY_AVX3 ? 32 : 16;
  if (rows == 1) return 8;  // a vector of V is then an operand in memory
  int vectors = 4;
  while (vectors > 1 && rows * vectors + vectors + 1 > registers) vectors /= 2;
  return vectors;
}

/// The cache line from `at` on, into the second-level cache: the first-level cache has too few places for what is on its way
/// from memory.
template <class E>
HWY_INLINE void prefetch_line(E const* at) {
  __builtin_prefetch(at, 0, 2);
}

/// Calls take(column) for the numbers t, …, t + piece_numbers<E> − 1 of lanes<T> rows of `from`, in this order: each a vector
/// with a number of every row. Numbers of 16 bits are transposed two by two.
template <class E, class Rows, class Take>
HWY_INLINE void each_column(Rows from, std::int64_t t, Take&& take) {
  using T = working<E>;
  transposed_piece<T> const piece([&](std::int64_t i) { return from.row(i) + t; });
  HWY_UNROLL(4) for (std::int64_t c = 0; c < piece_numbers<T>; ++c) {
    if constexpr (is_narrow<E>) {
      halves_of_words<E> const both(hn::BitCast(hn::RebindToUnsigned<tag<T>>(), piece.column[c]));
      take(both.lower), take(both.upper);
    } else {
      take(piece.column[c]);
    }
  }
}

// Below, Rows is matrix<E const> or row_list<E const>, and `next` the rows to prefetch.

/// Scores of `rows` queries with groups · lanes<T> keys.
template <int rows, int groups, class E, class Rows, class T = working<E>>
HWY_INLINE void score_rows(T const* HWY_RESTRICT Q, Rows K, Rows next, std::int64_t depth, T* S) {
  tag<T> const d;
  register_tile<T, rows, groups> tile;
  HWY_UNROLL(8) for (int i = 0; i < rows; ++i)
    HWY_UNROLL(2) for (int g = 0; g < groups; ++g) tile.sum[i][g] = hn::Zero(d);
  constexpr std::int64_t piece = piece_numbers<E>, line = 4 * piece;
  constexpr std::int64_t keys = groups * lanes<T>;
  auto const add = [&](int g, T const* q, auto const& column) {
    HWY_UNROLL(8) for (int i = 0; i < rows; ++i)
      tile.sum[i][g] = hn::MulAdd(hn::Set(d, q[i * depth]), column, tile.sum[i][g]);
  };
  std::int64_t t = 0;
  for (; t + piece <= depth; t += piece) {
    // A part of the lines of the next rows: those of a quarter of the rows for each quarter of a line.
    for (std::int64_t a = t % line / piece * (keys / 4), last = a + keys / 4; a < last; ++a)
      prefetch_line(next.row(a) + t / line * line);
    HWY_UNROLL(2) for (int g = 0; g < groups; ++g) {
      T const* q = Q + t;
      each_column<E>(K.from(g * lanes<T>), t, [&](auto const& column) { add(g, q, column), ++q; });
    }
  }
  for (; t < depth; ++t)
    HWY_UNROLL(2) for (int g = 0; g < groups; ++g) {
      HWY_ALIGN T column[lanes<T>];
      for (std::int64_t a = 0; a < lanes<T>; ++a) {
        E const x = K.row(g * lanes<T> + a)[t];
        if constexpr (is_narrow<E>) column[a] = widened(x);
        else column[a] = x;
      }
      add(g, Q + t, hn::Load(d, column));
    }
  HWY_UNROLL(8) for (int i = 0; i < rows; ++i)
    HWY_UNROLL(2) for (int g = 0; g < groups; ++g) hn::StoreU(tile.sum[i][g], d, S + i * score_stride<T> + g * lanes<T>);
}

/// All keys.
template <class E, class Rows, class T = working<E>>
HWY_INLINE void scores_of_rows(T const* Q, Rows K, Rows next, std::int64_t depth, std::int64_t rows, std::int64_t keys, T* S) {
  with_rows(rows, [&]<int count>(std::integral_constant<int, count>) {
    std::int64_t j = 0;
    auto const some = [&]<int groups>(std::integral_constant<int, groups>) {
      for (; j + groups * lanes<T> <= keys; j += groups * lanes<T>)
        score_rows<count, groups, E>(Q, K.from(j), next.from(j), depth, S + j);
    };
    // A sum waits for the one before it. Two groups keep both units busy where a row has one sum.
    if constexpr (count <= 2) some(std::integral_constant<int, 2>());
    some(std::integral_constant<int, 1>());
  });
}

/// row_products::scores
template <class E, class T = working<E>>
void row_scores(T const* Q, matrix<E const> K, E const* next, std::int64_t depth, std::int64_t rows, std::int64_t keys,
                T* S) noexcept {
  scores_of_rows<E>(Q, K, or_itself(next, K), depth, rows, keys, S);
}

/// row_products::listed_scores
template <class E, class T = working<E>>
void listed_row_scores(T const* Q, E const* const* K, E const* const* next, std::int64_t depth, std::int64_t rows,
                       std::int64_t keys, T* S) noexcept {
  row_list<E const> const listed{K};
  scores_of_rows<E>(Q, listed, or_itself(next, listed), depth, rows, keys, S);
}

/// P·V of `rows` rows for some vectors of columns, from column c on.
template <int rows, int vectors, class E, class Rows, class T = working<E>>
HWY_INLINE void value_rows(T const* HWY_RESTRICT P, Rows V, Rows next, std::int64_t c, std::int64_t depth, T const* factor,
                           matrix<T> O) {
  tag<T> const d;
  constexpr std::int64_t width = vectors * lanes<T>, line = 64 / static_cast<std::int64_t>(sizeof(E));
  register_tile<T, rows, vectors> tile;
  HWY_UNROLL(8) for (int i = 0; i < rows; ++i)
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::Zero(d);
  for (std::int64_t t = 0; t < depth; ++t) {
    E const *HWY_RESTRICT const from = V.row(t) + c, *const ahead = next.row(t) + c;
    vector<T> row[vectors];
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) row[v] = numbers_at(from + v * lanes<T>);
    HWY_UNROLL(8) for (std::int64_t a = 0; a < width; a += line) prefetch_line(ahead + a);
    HWY_UNROLL(8) for (int i = 0; i < rows; ++i) {
      auto const weight = hn::Set(d, P[t + i * score_stride<T>]);
      HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::MulAdd(weight, row[v], tile.sum[i][v]);
    }
  }
  HWY_UNROLL(8) for (int i = 0; i < rows; ++i) {
    auto const f = hn::Set(d, factor[i]);
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) {
      T* const o = O.row(i) + c + v * lanes<T>;
      hn::StoreU(hn::MulAdd(hn::LoadU(d, o), f, tile.sum[i][v]), d, o);
    }
  }
}

/// All columns of V.
template <class E, class Rows, class T = working<E>>
HWY_INLINE void values_of_rows(T const* P, Rows V, Rows next, std::int64_t rows, std::int64_t depth, std::int64_t dv,
                               T const* factor, matrix<T> O) {
  with_rows(rows, [&]<int count>(std::integral_constant<int, count>) {
    std::int64_t c = 0;
    auto const columns = [&]<int vectors>(std::integral_constant<int, vectors>) {
      for (; c + vectors * lanes<T> <= dv; c += vectors * lanes<T>)
        value_rows<count, vectors, E>(P, V, next, c, depth, factor, O);
    };
    constexpr int most = vectors_of_pass(count);
    columns(std::integral_constant<int, most>());
    if constexpr (most > 4) columns(std::integral_constant<int, 4>());
    if constexpr (most > 1) columns(std::integral_constant<int, 1>());
  });
}

/// row_products::values
template <class E, class T = working<E>>
void row_values(T const* P, matrix<E const> V, E const* next, std::int64_t rows, std::int64_t keys, std::int64_t dv,
                T const* factor, matrix<T> O) noexcept {
  values_of_rows<E>(P, V, or_itself(next, V), rows, keys, dv, factor, O);
}

/// row_products::listed_values
template <class E, class T = working<E>>
void listed_row_values(T const* P, E const* const* V, E const* const* next, std::int64_t rows, std::int64_t keys,
                       std::int64_t dv, T const* factor, matrix<T> O) noexcept {
  row_list<E const> const listed{V};
  values_of_rows<E>(P, listed, or_itself(next, listed), rows, keys, dv, factor, O);
}

/// operations::few
template <class... E>
constexpr auto all_row_products(problem::type_list<E...>) noexcept {
  return std::tuple(row_products<E>{row_scores<E>, listed_row_scores<E>, row_values<E>, listed_row_values<E>}...);
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
