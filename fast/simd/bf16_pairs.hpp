// Products of pairs of bf16: the parts that the two arithmetics on them share, and the arithmetic whose pairs are
// multiplied one by one. Its dot products are one instruction of some processors (AVX512-BF16: Zen 4, Cooper Lake and
// Sapphire Rapids, and later ones). bf16_tiles.hpp has the other arithmetic.
//
// Highway's own dot products (ReorderWidenMulAccumulate) use that instruction in later versions than the 1.0.3 of
// Debian 12, and leave open in which order the products are added; so this is written in intrinsics.
#pragma once

#include <cstdint>

#include "fast/algorithm/band.hpp"
#include "fast/simd/matrix.hpp"
#include "problem/element_type.hpp"

namespace attest::fast {

/// Two neighbours of a row of bf16: the first is the lower half.
using bf16_pair = std::uint32_t;

/// The operations on pairs. The rounding of a sum of products Σ_p a_p·b_p over pairs depends on the table:
/// bf16_pairs_here(), or a function of bf16_tiles.hpp.
struct bf16_pair_operations {
  static constexpr std::int64_t panel = 32;  ///< keys (columns of V) that lie side by side in packed K (V)

  std::int64_t
      chunk;  ///< pairs that are added at once: numbers of pairs, and where sums begin and end, are its multiples
  std::int64_t few_rows;     ///< most queries of the functions named few_; 0: there are none
  void (*begin)() noexcept;  ///< called by a thread before the others, and `end` after them; null: nothing
  void (*end)() noexcept;

  /// S_ij ← factor·Σ_p Q_ip·K_pj, from 0, p in order, for the panels that `keys` touches. S is a strip's, column 0 is
  /// key 0. Q and S have memory for strip_rows rows: what lies behind `rows` is lost.
  /// Shapes  Q [rows, pairs], K [keys/panel, pairs, panel]
  void (*scores)(bf16_pair const* Q, bf16_pair const* K, std::int64_t pairs, std::int64_t rows, interval keys,
                 float factor, float* S) noexcept;
  /// The same with `keys` rows of K where they lie, from K's first row and S's first column on: a multiple of
  /// sum_lanes. next: where as many rows begin that a later call reads, at K's stride, or null. Q and S have memory for
  /// few_rows rows: what lies behind `rows` is lost.
  void (*few_scores)(bf16_pair const* Q, matrix<problem::bf16 const> K, problem::bf16 const* next, std::int64_t pairs,
                     std::int64_t rows, std::int64_t keys, float factor, float* S) noexcept;
  /// The same with a list of rows: K_j begins at K[j]. next: as many.
  void (*few_listed_scores)(bf16_pair const* Q, problem::bf16 const* const* K, problem::bf16 const* const* next,
                            std::int64_t pairs, std::int64_t rows, std::int64_t keys, float factor, float* S) noexcept;
  /// The first keys/2 pairs of a row of S ← its weights in the columns `keys`, rounded to bf16; the pair p holds
  /// columns 2p and 2p + 1 of S. Weights below 2^−126 become 0. Columns that are multiples of 32.
  void (*narrow)(float* S, interval keys) noexcept;
  /// O_i ← O_i·factor + Σ_p P_ip·V_p: the sum is formed first, from 0, p in order, of the pairs of keys that `pairs`
  /// says.
  /// Shapes  P a strip's S after narrow(), V [dv/panel, pairs of a key block, panel]
  void (*values)(float const* P, bf16_pair const* V, std::int64_t rows, interval pairs, std::int64_t dv,
                 float const* factor, matrix<float> O) noexcept;
  /// The same with rows of V where they lie: row j of them meets the column 2·pairs.first + j of S. dv is a multiple of
  /// panel. P, factor and O have memory for few_rows rows: what lies behind `rows` is lost.
  void (*few_values)(float const* P, matrix<problem::bf16 const> V, problem::bf16 const* next, std::int64_t rows,
                     interval pairs, std::int64_t dv, float const* factor, matrix<float> O) noexcept;
  /// The same with a list of rows: V_j begins at V[j]. next: as many.
  void (*few_listed_values)(float const* P, problem::bf16 const* const* V, problem::bf16 const* const* next,
                            std::int64_t rows, interval pairs, std::int64_t dv, float const* factor,
                            matrix<float> O) noexcept;
  /// values() for one row and only the keys j with visible_j ≠ 0: the values of other keys count as 0.
  void (*visible_values)(float const* P, bf16_pair const* V, std::uint8_t const* visible, interval pairs,
                         std::int64_t dv, float factor, float* O) noexcept;
};

/// The operations of AVX512-BF16; null if the processor has no such instruction. One pair is a chunk, and s ← s + a·b,
/// for pairs a = (a₀, a₁) and b = (b₀, b₁), is
///
///   fl(a₀·b₀ + fl(a₁·b₁ + s))
///
/// where fl rounds once, to nearest, ties to even: a chain of fused multiply-adds in f32, the second number of the pair
/// first. Subnormal a, b and s count as 0, and a subnormal result is 0, whatever MXCSR says.
bf16_pair_operations const* bf16_pairs_here() noexcept;

}  // namespace attest::fast
