// Attention of a small problem with certified digits, and the fast kernel's answer to the same problem.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "problem/instance.hpp"
#include "reference/attention/attention.hpp"

namespace attest::examples {

/// Enclosures of 128 bits: 30 decimal digits and more.
using number = reference::ball<128>;

/// A matrix of numbers, row-major.
struct number_matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<number> entries{};

  number const& operator()(std::int64_t i, std::int64_t j) const {
    return entries[static_cast<std::size_t>(i * columns + j)];
  }
  std::vector<number> row(std::int64_t i) const {
    return {entries.begin() + i * columns, entries.begin() + (i + 1) * columns};
  }
};

/// One head of one batch entry, exactly: S = σ·QKᵀ, A = softmax(S), O = A·V, and the entropy of each row of A in nats.
struct certified_attention {
  number_matrix S{}, A{}, O{};
  std::vector<number> entropy{};
  std::vector<reference::enclosed_row<128, float>> rows{};
};

/// Requires  every output finite
/// Ensures   an invisible key has the weight 0 and the score 0
certified_attention certify(problem::instance<float> const& p, std::int64_t b = 0, std::int64_t h = 0);

/// The answer of the fast kernel, row-major: O [b, hq, n, dv], A [b, hq, n, m].
struct kernel_answer {
  std::vector<float> O{}, A{};
};
kernel_answer ask_kernel(problem::instance<float> const& p);

/// The largest |ô − o| of the kernel's outputs, as a share of the bound of docs/bound.md for that output. At most 1 is
/// proven for a kernel that rounds as it says. Requires one head and one batch entry.
double share_of_bound(problem::instance<float> const& p, certified_attention const& exact, kernel_answer const& answer);

/// softmax(σ·QKᵀ)·V of one head. Shapes Q [n, d], K [m, d], V [m, dv], row-major; without `scale` σ = 1/√d.
problem::instance<float> attention_problem(std::span<float const> Q, std::span<float const> K, std::span<float const> V,
                                           std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t dv,
                                           problem::parameters const& chosen = {});

/// The midpoint as a double.
double nearly(number const& x);
std::vector<double> nearly(std::vector<number> const& x);

/// x with so many places after the point, every digit certain. Requires a small enough enclosure, places ≤ 12.
std::string fixed(number const& x, int places);

/// Prints the matrix with a name for each row.
void print(number_matrix const& matrix, std::vector<std::string> const& names, int places = 10);

}  // namespace attest::examples
