// The operations on pairs of bf16 with the instruction of AVX512-BF16, for the processors that have it.
#include "fast/simd/bf16_pairs.hpp"

#include <type_traits>

#include <hwy/base.h>

#include "fast/algorithm/blocking.hpp"
#include "fast/simd/bf16_few_rows-inl.hpp"

#if HWY_ARCH_X86_64
HWY_PUSH_ATTRIBUTES("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16")
namespace attest::fast {
namespace {

/// The register tile of both products: tile_rows × 2 vectors of sums, as in vectors-inl.hpp for AVX-512.
constexpr std::int64_t tile_rows = 12, lanes = 16, panel = bf16_pair_operations::panel;
constexpr std::int64_t row_stride = score_stride<float>;
static_assert(panel == 2 * lanes && strip_rows % tile_rows == 0 && blocking_of<float>.keys % panel == 0);

/// fl(a₀·b₀ + fl(a₁·b₁ + s)) in each lane.
HWY_INLINE __m512 add_product(__m512 s, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(s, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

/// Such a sum in 16 lanes, as bf16_few_rows-inl.hpp wants it.
struct sum_of_pairs {
  static constexpr std::int64_t chunk = 1;
  static constexpr int registers = 1;
  __m512 sum;

  HWY_INLINE void zero() { sum = _mm512_setzero_ps(); }
  HWY_INLINE void add(__m512i a, __m512i b) { sum = add_product(sum, a, b); }
  HWY_INLINE void end_chunk() {}
  HWY_INLINE __m512 value() const { return sum; }
};

/// The sums of one tile, in registers.
template <int rows, int vectors>
struct pair_tile {
  __m512 sum[rows][vectors];
};

/// sum_iv = Σ_p a_ip·b_pv, from 0, p in order. a_ip is the pair at a + 4·(p + i·a_row) bytes, b_p begins at b +
/// p·panel.
template <int rows, int vectors>
HWY_INLINE pair_tile<rows, vectors> multiplied(bf16_pair const* HWY_RESTRICT a, std::int64_t a_row,
                                               bf16_pair const* HWY_RESTRICT b, std::int64_t depth) {
  pair_tile<rows, vectors> tile;
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) HWY_UNROLL(2) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = _mm512_setzero_ps();
  for (std::int64_t p = 0; p < depth; ++p) {
    __m512i row[vectors];
    HWY_UNROLL(2) for (int v = 0; v < vectors; ++v) row[v] = pairs_at(b + v * lanes);
    HWY_UNROLL(16) for (int i = 0; i < rows; ++i) {
      __m512i const factor = pair_at(a + i * a_row);
      HWY_UNROLL(2) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = add_product(tile.sum[i][v], factor, row[v]);
    }
    a += 1, b += panel;
  }
  return tile;
}

/// Calls with(std::integral_constant<int, R>(), i) for tiles of R rows from row i on, until there are `rows`.
template <class With>
HWY_INLINE void each_tile(std::int64_t rows, With&& with) {
  std::int64_t i = 0;
  for (; i + tile_rows <= rows; i += tile_rows) with(std::integral_constant<int, tile_rows>(), i);
  if (i + 8 <= rows) with(std::integral_constant<int, 8>(), i), i += 8;
  if (i + 4 <= rows) with(std::integral_constant<int, 4>(), i), i += 4;
  if (i + 2 <= rows) with(std::integral_constant<int, 2>(), i), i += 2;
  if (i < rows) with(std::integral_constant<int, 1>(), i);
}

void scores(bf16_pair const* Q, bf16_pair const* K, std::int64_t pairs, std::int64_t rows, interval keys, float factor,
            float* S) noexcept {
  __m512 const f = _mm512_set1_ps(factor);
  for (std::int64_t j = keys.first; j < keys.last; j += panel)
    each_tile(rows, [&]<int height>(std::integral_constant<int, height>, std::int64_t i) {
      auto const tile = multiplied<height, 2>(Q + i * pairs, pairs, K + j * pairs, pairs);
      HWY_UNROLL(16)
      for (int r = 0; r < height; ++r) HWY_UNROLL(2)
      for (int v = 0; v < 2; ++v)
        _mm512_storeu_ps(S + (i + r) * row_stride + j + v * lanes, _mm512_mul_ps(tile.sum[r][v], f));
    });
}

void narrow(float* S, interval keys) noexcept {
  for (std::int64_t j = keys.first; j < keys.last; j += panel) {
    __m512bh const both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(S + j + lanes), _mm512_loadu_ps(S + j));
    _mm512_storeu_si512(S + j / 2, reinterpret_cast<__m512i>(both));
  }
}

template <int vectors>
HWY_INLINE void value_panel(bf16_pair const* P, bf16_pair const* V, std::int64_t rows, std::int64_t depth,
                            float const* factor, matrix<float> O) {
  each_tile(rows, [&]<int height>(std::integral_constant<int, height>, std::int64_t i) {
    auto const tile = multiplied<height, vectors>(P + i * row_stride, row_stride, V, depth);
    HWY_UNROLL(16) for (int r = 0; r < height; ++r) {
      __m512 const f = _mm512_set1_ps(factor[i + r]);
      HWY_UNROLL(2) for (int v = 0; v < vectors; ++v) {
        float* const o = O.row(i + r) + v * lanes;
        _mm512_storeu_ps(o, _mm512_fmadd_ps(_mm512_loadu_ps(o), f, tile.sum[r][v]));
      }
    }
  });
}

void values(float const* P, bf16_pair const* V, std::int64_t rows, interval pairs, std::int64_t dv, float const* factor,
            matrix<float> O) noexcept {
  auto const* const weights = reinterpret_cast<bf16_pair const*>(P) + pairs.first;
  for (std::int64_t c = 0; c < dv; c += panel) {
    bf16_pair const* const from = V + c * (blocking_of<float>.keys / 2) + pairs.first * panel;
    if (c + lanes < dv) value_panel<2>(weights, from, rows, pairs.size(), factor, {O.data + c, O.stride});
    else value_panel<1>(weights, from, rows, pairs.size(), factor, {O.data + c, O.stride});
  }
}

void visible_values(float const* P, bf16_pair const* V, std::uint8_t const* visible, interval pairs, std::int64_t dv,
                    float factor, float* O) noexcept {
  constexpr std::int64_t panel_pairs = blocking_of<float>.keys / 2;
  for (std::int64_t c = 0; c < dv; c += lanes) {
    bf16_pair const* const from = V + c / panel * panel * panel_pairs + c % panel;
    __m512 sum = _mm512_setzero_ps();
    for (std::int64_t p = pairs.first; p < pairs.last; ++p) {
      bf16_pair const shown = (visible[2 * p] != 0 ? 0xffffu : 0) | (visible[2 * p + 1] != 0 ? 0xffff0000u : 0);
      if (shown == 0) continue;
      __m512i const V_p = _mm512_and_si512(pairs_at(from + p * panel), _mm512_set1_epi32(static_cast<int>(shown)));
      sum = add_product(sum, pair_at(P + p), V_p);
    }
    _mm512_storeu_ps(O + c, _mm512_fmadd_ps(_mm512_loadu_ps(O + c), _mm512_set1_ps(factor), sum));
  }
}

}  // namespace
}  // namespace attest::fast
HWY_POP_ATTRIBUTES

namespace attest::fast {

bf16_pair_operations const* bf16_pairs_here() noexcept {
  static constexpr bf16_pair_operations all{.chunk = 1,
                                            .few_rows = most_few_rows,
                                            .begin = nullptr,
                                            .end = nullptr,
                                            .scores = scores,
                                            .few_scores = few_row_products<sum_of_pairs>::scores,
                                            .few_listed_scores = few_row_products<sum_of_pairs>::listed_scores,
                                            .narrow = narrow,
                                            .values = values,
                                            .few_values = few_row_products<sum_of_pairs>::values,
                                            .few_listed_values = few_row_products<sum_of_pairs>::listed_values,
                                            .visible_values = visible_values};
  static bool const here = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return here ? &all : nullptr;
}

}  // namespace attest::fast

#else

namespace attest::fast {
bf16_pair_operations const* bf16_pairs_here() noexcept { return nullptr; }
}  // namespace attest::fast

#endif
