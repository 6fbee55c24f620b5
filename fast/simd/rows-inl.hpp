// Products of few queries with rows of K and V where the caller stores them: row_products of operations.hpp. A packed
// copy would be used only once. In addition to reading memory, they cost the conversion of stored numbers, and for K a
// transposition in registers.
#if defined(ATTEST_FAST_SIMD_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_ROWS_INL_HPP
#undef ATTEST_FAST_SIMD_ROWS_INL_HPP
#else
#define ATTEST_FAST_SIMD_ROWS_INL_HPP
#endif

#include "fast/simd/pack-inl.hpp"
#include "fast/simd/prefetch.hpp"
#include "fast/simd/product-inl.hpp"
#include "fast/simd/storage-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

/// Calls with(std::integral_constant<int, R>()) for the least R of 1, 2, 4 and few_rows that is not below `rows`: each
/// of them is compiled, and the others are not worth their code.
template <class With>
HWY_INLINE void with_rows(std::int64_t rows, With&& with) {
  if (rows == 1) return with(std::integral_constant<int, 1>());
  if (rows == 2) return with(std::integral_constant<int, 2>());
  if constexpr (few_rows > 4)
    if (rows > 4) return with(std::integral_constant<int, few_rows>());
  with(std::integral_constant<int, 4>());
}

/// Vectors of O that one pass over V sums for so many rows: as many as fit in registers together with V's vectors and
/// one weight.
inline constexpr int vectors_of_pass(int rows) {
  constexpr int registers = HWY_TARGET == HWY_AVX3 ? 32 : 16;
  if (rows == 1) return 8;  // a vector of V is then an operand in memory
  int vectors = registers / 4;
  while (vectors > 1 && rows * vectors + vectors + 1 > registers) vectors /= 2;
  return vectors;
}

// Below, Rows is matrix<E const> or row_list<E const>, and `next` the rows to prefetch.

/// lanes<T> rows from number t on. (With vectors of AVX2 the addresses that the compiler keeps in memory cost nothing:
/// reading 67 MB was a tenth slower without them.)
template <class Rows>
HWY_INLINE auto lane_rows(Rows from, std::int64_t t) {
  return [from, t](std::int64_t i) { return from.row(i) + t; };
}
#if HWY_TARGET == HWY_AVX3
/// The addresses of every fourth row, and up to three strides: a processor has too few registers for sixteen addresses.
/// A compiler that knows the origin of `first` keeps sixteen, most of them in memory. (It cannot see through the empty
/// statement.)
template <class E>
struct neighbour_rows {
  E const* every_fourth[lanes<working<E>> / 4];
  std::int64_t stride, three;

  HWY_INLINE neighbour_rows(E const* first, std::int64_t row_stride) : stride(row_stride), three(3 * row_stride) {
    asm("" : "+r"(first));
    for (std::int64_t i = 0; i < lanes<working<E>> / 4; ++i) every_fourth[i] = first + 4 * i * stride;
  }
  HWY_INLINE E const* operator()(std::int64_t i) const {
    E const* const fourth = every_fourth[i / 4];
    return i % 4 == 3 ? fourth + three : fourth + i % 4 * stride;
  }
};
template <class E>
HWY_INLINE neighbour_rows<E> lane_rows(matrix<E const> from, std::int64_t t) {
  return {from.data + t, from.stride};
}
#endif

/// Numbers of E in a word of a transposed piece: numbers of 16 bits are transposed two by two.
template <class E>
inline constexpr int numbers_in_word = is_narrow<E> ? 2 : 1;

/// column[h][g] ← number h of every word.
template <class E, int groups, class T = working<E>>
HWY_INLINE void numbers_of(vector<T> words, int g, vector<T> (&column)[numbers_in_word<E>][groups]) {
  if constexpr (is_narrow<E>) {
    halves_of_words<E> const both(hn::BitCast(hn::RebindToUnsigned<tag<T>>(), words));
    column[0][g] = both.lower, column[1][g] = both.upper;
  } else {
    column[0][g] = words;
  }
}

/// Scores of `rows` queries with groups · lanes<T> keys. soon: the rows of K that are read after these, where
/// from_memory.
template <int rows, int groups, bool from_memory, class E, class Rows, class T = working<E>>
HWY_INLINE void score_rows(T const* HWY_RESTRICT Q, Rows K, Rows next, Rows soon, std::int64_t depth, T* S) {
  tag<T> const d;
  register_tile<T, rows, groups> tile;
  HWY_UNROLL(8)
  for (int i = 0; i < rows; ++i) HWY_UNROLL(4) for (int g = 0; g < groups; ++g) tile.sum[i][g] = hn::Zero(d);
  // A number of a query is loaded once for so many groups, whose columns are all in registers.
  constexpr int together = HWY_TARGET == HWY_AVX3 ? groups : 1;
  auto const add = [&](std::int64_t t, int first, vector<T> const* column) {
    HWY_UNROLL(8) for (int i = 0; i < rows; ++i) {
      auto const q = hn::Set(d, Q[i * depth + t]);
      HWY_UNROLL(4)
      for (int g = 0; g < together; ++g) tile.sum[i][first + g] = hn::MulAdd(q, column[g], tile.sum[i][first + g]);
    }
  };
  constexpr std::int64_t piece = piece_numbers<E>, line = 4 * piece, words = piece_numbers<T>;
  // If products take little time, prefetches come between them: all at once they would wait for places on the way.
  constexpr bool between = HWY_TARGET == HWY_AVX3 && !is_narrow<E> && rows <= 2;
  std::int64_t t = 0;
  for (; t + piece <= depth; t += piece) {
    // A part of the lines of the next rows: the lines of a quarter of the rows for each quarter of a line.
    constexpr std::int64_t lines = groups * lanes<T> / 4;
    std::int64_t const part = t % line / piece * lines, at = t / line * line;
    Rows const ahead = next.from(part), near = soon.from(part);
    if constexpr (!between) HWY_UNROLL(16) for (std::int64_t a = 0; a < lines; ++a) prefetch_line(ahead.row(a) + at);
    if constexpr (from_memory && (is_narrow<E> || rows <= 2))  // with more rows it gained nothing
      HWY_UNROLL(16) for (std::int64_t a = 0; a < lines; ++a) prefetch_near(near.row(a) + at);
    HWY_UNROLL(4) for (int first = 0; first < groups; first += together) {
      transposed_piece<T> keys[together];
      HWY_UNROLL(4) for (int g = 0; g < together; ++g) keys[g].read(lane_rows(K.from((first + g) * lanes<T>), t));
      HWY_UNROLL(4) for (std::int64_t c = 0; c < words; ++c) {
        if constexpr (between)
          for (std::int64_t a = c * lines / words; a < (c + 1) * lines / words; ++a) prefetch_line(ahead.row(a) + at);
        vector<T> column[numbers_in_word<E>][together];
        HWY_UNROLL(4) for (int g = 0; g < together; ++g) numbers_of<E>(keys[g].column[c], g, column);
        HWY_UNROLL(2)
        for (int h = 0; h < numbers_in_word<E>; ++h) add(t + c * numbers_in_word<E> + h, first, column[h]);
      }
    }
  }
  for (; t < depth; ++t)
    for (int first = 0; first < groups; first += together) {
      vector<T> column[together];
      for (int g = 0; g < together; ++g) {
        HWY_ALIGN T number[lanes<T>];
        for (std::int64_t a = 0; a < lanes<T>; ++a) {
          E const x = K.row((first + g) * lanes<T> + a)[t];
          if constexpr (is_narrow<E>) number[a] = widened(x);
          else number[a] = x;
        }
        column[g] = hn::Load(d, number);
      }
      add(t, first, column);
    }
  HWY_UNROLL(8)
  for (int i = 0; i < rows; ++i) HWY_UNROLL(4)
  for (int g = 0; g < groups; ++g) hn::StoreU(tile.sum[i][g], d, S + i * score_stride<T> + g * lanes<T>);
}

/// All keys. (A function of its own for each from_memory: two of them in one took a fifth longer.)
template <class E, bool from_memory, class Rows, class T = working<E>>
HWY_NOINLINE void all_scores(T const* Q, Rows K, Rows next, std::int64_t depth, std::int64_t rows, std::int64_t keys,
                             T* S) {
  with_rows(rows, [&]<int count>(std::integral_constant<int, count>) {
    std::int64_t j = 0;
    auto const some = [&]<int groups>(std::integral_constant<int, groups>) {
      constexpr std::int64_t width = groups * lanes<T>;
      for (; j + width <= keys; j += width) {
        Rows const soon = K.from(j + 2 * width <= keys ? j + width : j);
        score_rows<count, groups, from_memory, E>(Q, K.from(j), next.from(j), soon, depth, S + j);
      }
    };
    // A sum waits for the one before it: groups keep both units busy if there are few rows. A line of 16-bit numbers
    // makes twice as many terms of a sum.
    if constexpr (HWY_TARGET == HWY_AVX3 && is_narrow<E> && count <= 2) some(std::integral_constant<int, 4>());
    if constexpr (count <= 2) some(std::integral_constant<int, 2>());
    some(std::integral_constant<int, 1>());
  });
}

template <class E, class Rows, class T = working<E>>
HWY_INLINE void scores_of_rows(T const* Q, Rows K, Rows next, std::int64_t depth, std::int64_t rows, std::int64_t keys,
                               bool from_memory, T* S) {
  if constexpr (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)  // plain code is not worth a second function
    if (from_memory) return all_scores<E, true>(Q, K, next, depth, rows, keys, S);
  all_scores<E, false>(Q, K, next, depth, rows, keys, S);
}

/// row_products::scores
template <class E, class T = working<E>>
void row_scores(T const* Q, matrix<E const> K, E const* next, std::int64_t depth, std::int64_t rows, std::int64_t keys,
                bool from_memory, T* S) noexcept {
  scores_of_rows<E>(Q, K, or_itself(next, K), depth, rows, keys, from_memory, S);
}

/// row_products::listed_scores
template <class E, class T = working<E>>
void listed_row_scores(T const* Q, E const* const* K, E const* const* next, std::int64_t depth, std::int64_t rows,
                       std::int64_t keys, bool from_memory, T* S) noexcept {
  row_list<E const> const listed{K};
  scores_of_rows<E>(Q, listed, or_itself(next, listed), depth, rows, keys, from_memory, S);
}

/// P·V of `rows` rows for some vectors of columns, from column c on.
template <int rows, int vectors, class E, class Rows, class T = working<E>>
HWY_INLINE void value_rows(T const* HWY_RESTRICT P, Rows V, Rows next, std::int64_t c, std::int64_t depth,
                           T const* factor, matrix<T> O) {
  tag<T> const d;
  constexpr std::int64_t width = vectors * lanes<T>, line = 64 / static_cast<std::int64_t>(sizeof(E));
  register_tile<T, rows, vectors> tile;
  HWY_UNROLL(8)
  for (int i = 0; i < rows; ++i) HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::Zero(d);
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
                               T const* factor, matrix<T> O, bool from_memory) {
  with_rows(rows, [&]<int count>(std::integral_constant<int, count>) {
    std::int64_t c = 0;
    auto const columns = [&]<int vectors>(std::integral_constant<int, vectors>) {
      for (; c + vectors * lanes<T> <= dv; c += vectors * lanes<T>)
        value_rows<count, vectors, E>(P, V, next, c, depth, factor, O);
    };
    // Half of each row in each of two passes comes slower from memory than nearly whole rows. There are registers for
    // whole rows if a weight is an operand in memory.
    if constexpr (HWY_TARGET == HWY_AVX3 && count == 4 && !is_narrow<E>)
      if (from_memory && dv <= 8 * lanes<T>) columns(std::integral_constant<int, 7>());
    constexpr int most = vectors_of_pass(count);
    columns(std::integral_constant<int, most>());
    if constexpr (most > 4) columns(std::integral_constant<int, 4>());
    if constexpr (most > 1) columns(std::integral_constant<int, 1>());
  });
}

/// row_products::values
template <class E, class T = working<E>>
void row_values(T const* P, matrix<E const> V, E const* next, std::int64_t rows, std::int64_t keys, std::int64_t dv,
                T const* factor, matrix<T> O, bool from_memory) noexcept {
  values_of_rows<E>(P, V, or_itself(next, V), rows, keys, dv, factor, O, from_memory);
}

/// row_products::listed_values
template <class E, class T = working<E>>
void listed_row_values(T const* P, E const* const* V, E const* const* next, std::int64_t rows, std::int64_t keys,
                       std::int64_t dv, T const* factor, matrix<T> O, bool from_memory) noexcept {
  row_list<E const> const listed{V};
  values_of_rows<E>(P, listed, or_itself(next, listed), rows, keys, dv, factor, O, from_memory);
}

/// operations::few
template <class... E>
constexpr auto all_row_products(problem::type_list<E...>) noexcept {
  return std::tuple(row_products<E>{row_scores<E>, listed_row_scores<E>, row_values<E>, listed_row_values<E>}...);
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
