// "Scaled Dot-Product Attention" (2025-07-30, on the self-attention mechanism): its claims. docs/documents.md is the
// table.
#include <cstdint>

#include "proofs/worked_example.hpp"
#include "reference/textbook/projection.hpp"
#include "reference/textbook/softmax.hpp"
#include "reference/textbook/softmax_jacobian.hpp"
#include "reference/real/sqrt.hpp"

namespace attest::proofs {
namespace {

// "Query = XW_Qᵀ"
static_assert([] {
  constexpr std::array<float, 3> X{2, 1, 3};
  constexpr std::array<float, 6> W{1, 0, 1, 0, 1, 0};  // a linear layer with 2 outputs of 3 inputs
  constexpr std::array<float, 2> query{5, 1};
  return reference::project_transposed<float>(X, W, 1, 3, 2).is(query);
}(), "note/projection: holds: XW' of a linear layer, on an example");

// "the expected value of the dot product is still 0, but its variance increases": Var(Q·K) = Σ Var(Q_i)·Var(K_i) = d_k.

/// Sums of q·k and (q·k)² over all pairs of vectors of d entries, each any of `values` (a distribution with mean 0).
struct moments {
  std::int64_t count = 0, sum = 0, squares = 0;
};
template <std::size_t V>
constexpr moments all_pairs(std::array<std::int64_t, V> const& values, int d) noexcept {
  moments found;
  std::int64_t choices = 1;
  for (int t = 0; t < 2 * d; ++t) choices *= static_cast<std::int64_t>(V);
  for (std::int64_t choice = 0; choice < choices; ++choice) {
    std::int64_t rest = choice, dot = 0;
    for (int t = 0; t < d; ++t) {
      std::int64_t const q = values[static_cast<std::size_t>(rest % static_cast<std::int64_t>(V))];
      rest /= static_cast<std::int64_t>(V);
      std::int64_t const k = values[static_cast<std::size_t>(rest % static_cast<std::int64_t>(V))];
      rest /= static_cast<std::int64_t>(V);
      dot += q * k;
    }
    found.count += 1, found.sum += dot, found.squares += dot * dot;
  }
  return found;
}
/// E = 0 and Var = d·Var(Q_i)·Var(K_i), where variance of an entry is entry_squares/V.
template <std::size_t V>
constexpr bool variance_is_d(std::array<std::int64_t, V> const& values, int d) noexcept {
  std::int64_t entry_squares = 0;
  for (std::int64_t const x : values) entry_squares += x * x;
  moments const m = all_pairs(values, d);
  return m.sum == 0 && m.squares * static_cast<std::int64_t>(V * V) == m.count * d * entry_squares * entry_squares;
}
constexpr std::array<std::int64_t, 2> signs{-1, 1};
static_assert(variance_is_d(signs, 1) && variance_is_d(signs, 2) && variance_is_d(signs, 3) && variance_is_d(signs, 4),
              "note/variance: right: Var(Q.K) = d_k, E = 0, over every pair of vectors of -1 and 1 at d_k = 1 to 4");
static_assert(variance_is_d(std::array<std::int64_t, 3>{-1, 0, 1}, 2) &&
                  variance_is_d(std::array<std::int64_t, 4>{-3, -1, 1, 3}, 2) &&
                  variance_is_d(std::array<std::int64_t, 3>{-2, 1, 1}, 3),
              "note/variance-of-entries: right: Var(Q.K) is the sum of Var(Q_i) Var(K_i), three other distributions");
static_assert(exactly(reference::square_root(number(256)), 16),
              "note/standard-deviation: right: the standard deviation is sqrt(d_k), 16 at d_k = 256");

// "hard-selected … because the derivative of Softmax for large input values is close to 0"
constexpr auto hard = reference::softmax(std::array<number, 3>{100, 0, 0});
static_assert(below(number(1) - number(1).scaled_by_power_of_two(-100), hard[0]),
              "note/hard-selection: right: softmax([100, 0, 0]) is one-hot to within 2^-100");
static_assert([] {
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      if (!below(absolute(softmax_jacobian(hard, i, j)), number(1).scaled_by_power_of_two(-100))) return false;
  return true;
}(), "note/derivative: right: every derivative of that softmax is below 2^-100");

// "the value vector V is introduced to separate the roles of keys and values"
static_assert([] {
  worked_example<2, 3, 2, 2> example{.q = {1, 2, 0, -1}, .k = {1, 1, 2, 0, -1, 3}, .v = {1, 2, 3, 4, 5, 6}};
  auto const A = example.solve().A;
  example.v = {-7, 0, 0, 0.5, 100, 3};
  auto const again = example.solve().A;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      if (A[i][j].mid != again[i][j].mid || A[i][j].exponent != again[i][j].exponent) return false;
  return true;
}(), "note/values: right: another V leaves the attention weights as they are");

}  // namespace
}  // namespace attest::proofs
