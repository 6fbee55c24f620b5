// Products of few queries with rows of K and V of bf16 where the caller stores them, for the arithmetics on pairs;
// rows-inl.hpp does so for the usual arithmetic. A Sum says how a sum of products of pairs is formed, in each of 16
// lanes:
//
//   Sum::chunk       pairs that are added at once
//   Sum::registers   vectors that it needs in addition to its operands;
//   zero(), add(a, b) for each pair, end_chunk() after each chunk, value()
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <hwy/base.h>

#include "fast/algorithm/blocking.hpp"
#include "fast/simd/bf16_pairs.hpp"
#include "fast/simd/prefetch.hpp"

#if HWY_ARCH_X86_64
#pragma GCC diagnostic push
#if HWY_COMPILER_GCC_ACTUAL  // g++ 12 takes the undefined vectors in its own intrinsics for uninitialised ones (bug
                             // 105593)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

HWY_PUSH_ATTRIBUTES("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16")
namespace attest::fast {
namespace {

HWY_INLINE __m512i pairs_at(bf16_pair const* from) { return _mm512_loadu_si512(from); }
HWY_INLINE __m512i pair_at(void const* from) {
  std::int32_t pair;
  __builtin_memcpy(&pair, from, sizeof pair);
  return _mm512_set1_epi32(pair);
}

/// Four pairs of each of 16 rows, transposed: column[c] holds pair c of every row.
struct transposed_pairs {
  __m512i column[4];

  /// Pairs t, …, t + 3 of the rows of `from`.
  template <class Rows>
  HWY_INLINE transposed_pairs(Rows from, std::int64_t t) {
    // Block b of v_a is of row 4b + a.
    __m512i const v0 = pieces(from, 0, t), v1 = pieces(from, 1, t), v2 = pieces(from, 2, t), v3 = pieces(from, 3, t);
    __m512i const a = _mm512_unpacklo_epi32(v0, v1), b = _mm512_unpacklo_epi32(v2, v3);
    __m512i const e = _mm512_unpackhi_epi32(v0, v1), f = _mm512_unpackhi_epi32(v2, v3);
    column[0] = _mm512_unpacklo_epi64(a, b), column[1] = _mm512_unpackhi_epi64(a, b);
    column[2] = _mm512_unpacklo_epi64(e, f), column[3] = _mm512_unpackhi_epi64(e, f);
  }

 private:
  template <class Rows>
  static HWY_INLINE __m512i pieces(Rows from, std::int64_t first, std::int64_t t) {
    auto const piece = [&](std::int64_t i) {
      return _mm_loadu_si128(reinterpret_cast<__m128i const*>(from.row(first + i) + 2 * t));
    };
    __m512i v = _mm512_castsi128_si512(piece(0));
    v = _mm512_inserti32x4(v, piece(4), 1);
    v = _mm512_inserti32x4(v, piece(8), 2);
    return _mm512_inserti32x4(v, piece(12), 3);
  }
};

constexpr std::int64_t most_few_rows = 8;

/// Calls with(std::integral_constant<int, R>()) for the least R of 1, 2, 4 and most_few_rows that is not below `rows`.
template <class With>
HWY_INLINE void with_few_rows(std::int64_t rows, With&& with) {
  if (rows == 1) return with(std::integral_constant<int, 1>());
  if (rows == 2) return with(std::integral_constant<int, 2>());
  if (rows <= 4) return with(std::integral_constant<int, 4>());
  with(std::integral_constant<int, most_few_rows>());
}

/// The functions of bf16_pair_operations that are named few_. Rows is matrix<bf16 const> or row_list<bf16 const>, and
/// `next` the rows to prefetch.
template <class Sum>
class few_row_products {
  using bf16 = problem::bf16;
  static constexpr std::int64_t lanes = 16, panel = bf16_pair_operations::panel, row_stride = score_stride<float>;

 public:
  static void scores(bf16_pair const* Q, matrix<bf16 const> K, bf16 const* next, std::int64_t pairs, std::int64_t rows,
                     std::int64_t keys, float factor, float* S) noexcept {
    scores_in(Q, K, or_itself(next, K), pairs, rows, keys, factor, S);
  }
  static void listed_scores(bf16_pair const* Q, bf16 const* const* K, bf16 const* const* next, std::int64_t pairs,
                            std::int64_t rows, std::int64_t keys, float factor, float* S) noexcept {
    row_list<bf16 const> const listed{K};
    scores_in(Q, listed, or_itself(next, listed), pairs, rows, keys, factor, S);
  }
  static void values(float const* P, matrix<bf16 const> V, bf16 const* next, std::int64_t rows, interval pairs,
                     std::int64_t dv, float const* factor, matrix<float> O) noexcept {
    values_in(P, V, or_itself(next, V), rows, pairs, dv, factor, O);
  }
  static void listed_values(float const* P, bf16 const* const* V, bf16 const* const* next, std::int64_t rows,
                            interval pairs, std::int64_t dv, float const* factor, matrix<float> O) noexcept {
    row_list<bf16 const> const listed{V};
    values_in(P, listed, or_itself(next, listed), rows, pairs, dv, factor, O);
  }

 private:
  /// The number of sums, of so many for each of `rows` rows, that are formed at once: they take half of the registers.
  static constexpr int at_once(int rows, int sums, int most) noexcept {
    return std::clamp(16 / (rows * sums * Sum::registers), 1, most);
  }

  /// All keys.
  template <class Rows>
  static HWY_INLINE void scores_in(bf16_pair const* Q, Rows K, Rows next, std::int64_t pairs, std::int64_t rows,
                                   std::int64_t keys, float factor, float* S) {
    __m512 const f = _mm512_set1_ps(factor);
    with_few_rows(rows, [&]<int count>(std::integral_constant<int, count>) {
      std::int64_t j = 0;
      auto const some = [&]<int groups>(std::integral_constant<int, groups>) {
        for (; j + groups * lanes <= keys; j += groups * lanes)
          scores_of<count, groups>(Q, K.from(j), next.from(j), pairs, f, S + j);
      };
      if constexpr (at_once(count, 1, 2) == 2) some(std::integral_constant<int, 2>());
      some(std::integral_constant<int, 1>());
    });
  }

  /// Scores of `rows` queries with groups · lanes keys.
  template <int rows, int groups, class Rows>
  static HWY_INLINE void scores_of(bf16_pair const* HWY_RESTRICT Q, Rows K, Rows next, std::int64_t pairs,
                                   __m512 factor, float* S) {
    Sum sum[rows][groups];
    HWY_UNROLL(8) for (int i = 0; i < rows; ++i) HWY_UNROLL(2) for (int g = 0; g < groups; ++g) sum[i][g].zero();
    std::int64_t t = 0;
    for (; t + 4 <= pairs; t += 4) {
      // A quarter of the rows to prefetch for each quarter of a line of 16 pairs.
      constexpr std::int64_t quarter = groups * lanes / 4;
      for (std::int64_t a = t % 16 / 4 * quarter, last = a + quarter; a < last; ++a)
        prefetch_line(next.row(a) + 2 * (t / 16 * 16));
      HWY_UNROLL(2) for (int g = 0; g < groups; ++g) {
        transposed_pairs const piece(K.from(g * lanes), t);
        HWY_UNROLL(4)
        for (int c = 0; c < 4; ++c)
          HWY_UNROLL(8) for (int i = 0; i < rows; ++i) sum[i][g].add(pair_at(Q + i * pairs + t + c), piece.column[c]);
      }
      if ((t + 4) % Sum::chunk == 0) HWY_UNROLL(8)
      for (int i = 0; i < rows; ++i) HWY_UNROLL(2) for (int g = 0; g < groups; ++g) sum[i][g].end_chunk();
    }
    if constexpr (Sum::chunk < 4)  // else there are no others
      for (; t < pairs; ++t) HWY_UNROLL(2) for (int g = 0; g < groups; ++g) {
          bf16_pair column[lanes];
          for (std::int64_t a = 0; a < lanes; ++a)
            __builtin_memcpy(&column[a], K.row(g * lanes + a) + 2 * t, sizeof *column);
          __m512i const K_t = pairs_at(column);
          HWY_UNROLL(8) for (int i = 0; i < rows; ++i) sum[i][g].add(pair_at(Q + i * pairs + t), K_t);
        }
    HWY_UNROLL(8)
    for (int i = 0; i < rows; ++i) HWY_UNROLL(2)
    for (int g = 0; g < groups; ++g)
      _mm512_storeu_ps(S + i * row_stride + g * lanes, _mm512_mul_ps(sum[i][g].value(), factor));
  }

  /// All columns of V.
  template <class Rows>
  static HWY_INLINE void values_in(float const* P, Rows V, Rows next, std::int64_t rows, interval pairs,
                                   std::int64_t dv, float const* factor, matrix<float> O) {
    auto const* const weights = reinterpret_cast<bf16_pair const*>(P) + pairs.first;
    with_few_rows(rows, [&]<int count>(std::integral_constant<int, count>) {
      std::int64_t c = 0;
      auto const columns = [&]<int panels>(std::integral_constant<int, panels>) {
        for (; c + panels * panel <= dv; c += panels * panel)
          values_of<count, panels>(weights, V, next, c, pairs.size(), factor, O);
      };
      constexpr int most = at_once(count, 2, 4);
      if constexpr (most == 4) columns(std::integral_constant<int, 4>());
      if constexpr (most >= 2) columns(std::integral_constant<int, 2>());
      columns(std::integral_constant<int, 1>());
    });
  }

  /// P·V of `rows` rows for some panels of columns, from column c on.
  template <int rows, int panels, class Rows>
  static HWY_INLINE void values_of(bf16_pair const* HWY_RESTRICT P, Rows V, Rows next, std::int64_t c,
                                   std::int64_t pairs, float const* factor, matrix<float> O) {
    // Two rows are interleaved in blocks of 128 bits: sum[i][2k] has the columns 0…3, 8…11, 16…19, 24…27 of panel k,
    // and sum[i][2k + 1] the others.
    Sum sum[rows][2 * panels];
    HWY_UNROLL(8) for (int i = 0; i < rows; ++i) HWY_UNROLL(8) for (int v = 0; v < 2 * panels; ++v) sum[i][v].zero();
    for (std::int64_t p = 0; p < pairs; ++p) {
      bf16 const *const even = V.row(2 * p) + c, *const odd = V.row(2 * p + 1) + c;
      bf16 const *const even_ahead = next.row(2 * p) + c, *const odd_ahead = next.row(2 * p + 1) + c;
      __m512i row[2 * panels];
      HWY_UNROLL(4) for (int k = 0; k < panels; ++k) {
        __m512i const a = _mm512_loadu_si512(even + k * panel), b = _mm512_loadu_si512(odd + k * panel);
        row[2 * k] = _mm512_unpacklo_epi16(a, b), row[2 * k + 1] = _mm512_unpackhi_epi16(a, b);
        prefetch_line(even_ahead + k * panel), prefetch_line(odd_ahead + k * panel);
      }
      HWY_UNROLL(8) for (int i = 0; i < rows; ++i) {
        __m512i const weights = pair_at(P + p + i * row_stride);
        HWY_UNROLL(8) for (int v = 0; v < 2 * panels; ++v) sum[i][v].add(weights, row[v]);
      }
      if ((p + 1) % Sum::chunk == 0) HWY_UNROLL(8)
      for (int i = 0; i < rows; ++i) HWY_UNROLL(8) for (int v = 0; v < 2 * panels; ++v) sum[i][v].end_chunk();
    }
    __m512i const first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    __m512i const second = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    HWY_UNROLL(8) for (int i = 0; i < rows; ++i) {
      __m512 const f = _mm512_set1_ps(factor[i]);
      HWY_UNROLL(4) for (int k = 0; k < panels; ++k) {
        float* const o = O.row(i) + c + k * panel;
        __m512 const lower = sum[i][2 * k].value(), upper = sum[i][2 * k + 1].value();
        _mm512_storeu_ps(o, _mm512_fmadd_ps(_mm512_loadu_ps(o), f, _mm512_permutex2var_ps(lower, first, upper)));
        _mm512_storeu_ps(o + lanes,
                         _mm512_fmadd_ps(_mm512_loadu_ps(o + lanes), f, _mm512_permutex2var_ps(lower, second, upper)));
      }
    }
  }
};

}  // namespace
}  // namespace attest::fast
HWY_POP_ATTRIBUTES
#endif
