// The operations of the backward pass that are compiled for each SIMD target, beside the operations of the forward pass
// (fast/simd/operations.hpp), which it uses too.
#pragma once

#include <concepts>
#include <cstdint>

#include "fast/simd/operations.hpp"

namespace attest::fast {

/// Each is a function of its operands alone, and the same function on AVX-512 and AVX2, bit for bit. S and dP are
/// strips of scores: row i begins at i·score_stride.
template <std::floating_point T>
struct gradient_operations {
  /// s_ij ← p_ij = 2^(s_ij − lse_i), and dp_ij ← p_ij·(dp_ij − delta_i), for scores and lse in units of log₂.
  /// Requires  `keys` is whole vectors
  void (*weights)(T* S, T* dP, std::int64_t rows, interval keys, T const* lse, T const* delta) noexcept;

  /// operations::softcap, and slope_j ← 1 − t_j², t_j the tanh.
  /// Requires  memory for one vector beyond s + count and slope + count
  void (*softcap)(T* s, score_cap<T> const& cap, std::int64_t count, T* slope) noexcept;

  /// x_j ← x_j·f_j, rounded.
  void (*multiply_by)(T* x, T const* factors, std::int64_t count) noexcept;
  /// x_j ← x_j·factor, rounded; 0 where keep_j = 0, whatever x_j is.
  void (*drop)(T* x, std::uint8_t const* keep, T factor, std::int64_t count) noexcept;
  /// x_j ← 0 where mask_j = 0, whatever x_j is.
  void (*clear_masked)(T* x, std::uint8_t const* mask, std::int64_t count) noexcept;

  /// Σ_c a_c·b_c: number c in lane c mod sum_lanes, then the lanes pairwise.
  T (*dot)(T const* a, T const* b, std::int64_t count) noexcept;

  /// C_j ← C_j + Σ_i A_ij·B_i for the rows i and the columns j of A: the sum is formed first, from 0, i in order.
  /// Shapes  A a strip, B [width/panel, block of rows, panel] by operations::pack_values, C [columns, width]
  void (*transposed_values)(T const* A, T const* B, interval rows, interval columns, std::int64_t width,
                            matrix<T> C) noexcept;

  /// to_c ← from_c·factor. Every NaN becomes the same NaN.
  void (*finish)(T const* from, T factor, std::int64_t count, T* to) noexcept;
};

/// The operations of the target that best_operations() has.
template <std::floating_point T>
gradient_operations<T> const& best_gradient_operations() noexcept;
template <>
gradient_operations<float> const& best_gradient_operations<float>() noexcept;
template <>
gradient_operations<double> const& best_gradient_operations<double>() noexcept;

}  // namespace attest::fast
