// "Scaled Dot-Product Attention" (2025-07-30, on the self-attention mechanism): its claims. docs/documents.md is the
// table.
#include <cstdint>

#include "proofs/documents/dot_product_moments.hpp"
#include "proofs/worked_example.hpp"
#include "reference/textbook/projection.hpp"
#include "reference/textbook/softmax.hpp"
#include "reference/textbook/softmax_jacobian.hpp"

namespace attest::proofs {
namespace {

// "Query = XW_Qᵀ"
static_assert(
    [] {
      constexpr std::array<float, 3> X{2, 1, 3};
      constexpr std::array<float, 6> W{1, 0, 1, 0, 1, 0};  // a linear layer with 2 outputs of 3 inputs
      constexpr std::array<float, 2> query{5, 1};
      return reference::project_transposed<float>(X, W, 1, 3, 2).is(query);
    }(),
    "note/projection: holds: XW' of a linear layer, on an example");

// "the expected value of the dot product is still 0, but its variance increases": Var(Q·K) = Σ Var(Q_i)·Var(K_i) = d_k.

/// E = 0 and Var = d·Var(Q_i)·Var(K_i), where the variance of an entry is entry_squares/V.
template <std::size_t V>
constexpr bool variance_is_d(std::array<std::int64_t, V> const& values, int d) noexcept {
  std::int64_t entry_squares = 0;
  for (std::int64_t const x : values) entry_squares += x * x;
  return all_pairs(values, d).have_variance(d * entry_squares * entry_squares, V * V);
}
/// One pair of vectors of signs after the other, and counted by the entries in which they differ: the same.
constexpr bool signs_are_counted(int d) noexcept {
  moments const one_by_one = all_pairs(signs, d), counted = pairs_of_signs(d);
  return one_by_one.count == counted.count << d && one_by_one.squares == counted.squares << d;
}
static_assert(variance_is_d(signs, 1) && variance_is_d(signs, 2) && variance_is_d(signs, 3) &&
                  variance_is_d(signs, 4) && signs_are_counted(1) && signs_are_counted(2) && signs_are_counted(3) &&
                  signs_are_counted(4),
              "note/variance: right: Var(Q.K) = d_k, E = 0, over every pair of vectors of -1 and 1 at d_k = 1 to 4");
static_assert(variance_is_d(std::array<std::int64_t, 3>{-1, 0, 1}, 2) &&
                  variance_is_d(std::array<std::int64_t, 4>{-3, -1, 1, 3}, 2) &&
                  variance_is_d(std::array<std::int64_t, 3>{-2, 1, 1}, 3),
              "note/variance-of-entries: right: Var(Q.K) is the sum of Var(Q_i) Var(K_i), three other distributions");
static_assert(exactly(deviation_of_signs(256), 16),
              "note/standard-deviation: right: the standard deviation is sqrt(d_k) = 16 at d_k = 256, over every pair "
              "of vectors of -1 and 1");

// "hard-selected … because the derivative of Softmax for large input values is close to 0"
constexpr auto hard = reference::softmax(std::array<number, 3>{100, 0, 0});
static_assert(below(number(1) - number(1).scaled_by_power_of_two(-100), hard[0]),
              "note/hard-selection: right: softmax([100, 0, 0]) is one-hot to within 2^-100");
static_assert(
    [] {
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 3; ++j)
          if (!below(absolute(softmax_jacobian(hard, i, j)), number(1).scaled_by_power_of_two(-100))) return false;
      return true;
    }(),
    "note/derivative: right: every derivative of that softmax is below 2^-100");

// "the value vector V is introduced to separate the roles of keys and values"
static_assert(
    [] {
      worked_example<2, 3, 2, 2> example{.q = {1, 2, 0, -1}, .k = {1, 1, 2, 0, -1, 3}, .v = {1, 2, 3, 4, 5, 6}};
      auto const A = example.solve().A;
      auto const first = example.dots(0), second = example.dots(1);
      example.v = {-7, 0, 0, 0.5, 100, 3};
      auto const again = example.solve().A;
      return example.dots(0) == first && example.dots(1) == second && nearly_equal(A[0], again[0]) &&
             nearly_equal(A[1], again[1]);
    }(),
    "note/values: right: on an example another V leaves the scores, and so the weights, exactly as they are");

}  // namespace
}  // namespace attest::proofs
