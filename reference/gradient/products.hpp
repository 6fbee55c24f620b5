// Products of a block of query rows with the keys of a group, in doubles: the only loops over three indices.
//
// Each sum is one chain of rounded products and rounded (or fused) additions, in the order of its index. So it is off
// by at most γ_k(2⁻⁵³) of the sum of sizes, k terms, and of what underflows: k·2⁻¹⁰⁷⁴.
#pragma once

#include <cstddef>

namespace attest::reference::gradient_detail {

inline constexpr std::size_t block_of_rows = 16;  ///< query rows of a block
inline constexpr std::size_t row_pad = 8;         ///< rows of matrices are padded with zeros to a multiple of this

inline constexpr std::size_t chunk_of_columns = 8, chunk_of_keys = 32;

/// A product, the other terms of its chunk, and the chunks behind the first: adding to 0 rounds nothing.
constexpr double roundings_of(std::size_t terms, std::size_t chunk) noexcept {
  return static_cast<double>((terms < chunk ? terms : chunk) + (terms + chunk - 1) / chunk);
}

constexpr std::size_t padded(std::size_t columns) noexcept { return (columns + row_pad - 1) / row_pad * row_pad; }

/// sum[r][j] = Σ_c left[r][c]·right[c][j] and size[r][j] = Σ_c |left[r][c]·right[c][j]|.
/// Shapes    left [block_of_rows, count]; right [count, columns], sum and size [block_of_rows, columns], padded.
/// Ensures   rows r < `rows`; the three behind them may be written too
void multiply_both(double const* left, double const* right, std::size_t rows, std::size_t count, std::size_t columns,
                   double* sum, double* size);

/// What one row sums over keys, and where the sums go.
struct key_sums {
  double const *dX, *slope, *bound, *bound_common;        ///< [keys]
  double *of_dX, *of_slope, *of_bound, *of_bound_common;  ///< [columns]
};
/// of_dX[t] = Σ_j dX[j]·k[j][t] and of_slope alike; of_bound[t] = Σ_j bound[j]·|k[j][t]| and of_bound_common alike,
/// over first ≤ j < last. Shapes    k [keys, columns], padded
void multiply_keys(key_sums const& sums, double const* k, std::size_t first, std::size_t last, std::size_t columns);

/// sum[j][t] += Σ_r weight[j][r]·x[r][t], bound[j][t] += Σ_r error[j][r]·|x[r][t]|, over first ≤ j < last.
/// Shapes    weight, error [keys, block_of_rows]; x [block_of_rows, columns], sum and bound [keys, columns], padded
void add_rows(double const* weight, double const* error, double const* x, std::size_t first, std::size_t last,
              std::size_t columns, double* sum, double* bound);

}  // namespace attest::reference::gradient_detail
