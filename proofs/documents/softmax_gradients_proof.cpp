// What four documents say of the derivatives of softmax: "Gradient Flow", "saturation", "vanishes", "healthy". For all
// real scores where formal_attention.hpp differentiates polynomials, else for the scores that the documents print.
// docs/documents.md is the table.
#include "proofs/documents/exact_weights.hpp"
#include "proofs/models/formal_attention.hpp"
#include "proofs/worked_example.hpp"
#include "reference/real/sqrt.hpp"
#include "reference/textbook/softmax.hpp"
#include "reference/textbook/softmax_jacobian.hpp"

namespace attest::proofs {
namespace {

using three = std::array<number, 3>;

/// softmax of n scores, which are nothing but the n biases of a query without columns, and its value in one column:
/// dO·Σ_i p_i·v_i, where p_i = E_i·R.
struct formal_softmax {
  formal_attention problem;
  formal_tensors given;
  std::size_t n;

  constexpr explicit formal_softmax(std::size_t size)
      : problem({.n = 1, .m = size, .d = 0, .bias = bias_shape{}}), given(problem.tensors()), n(size) {}
  constexpr polynomial p(std::size_t i) const { return problem.probability(given.bias[i], 0); }

  /// Is ∂p_i/∂x_j = p_i·(δ_ij − p_j) for all i and j? dO·v_i is no other symbol's, so a sum over i tells them apart.
  constexpr bool has_the_jacobian() const {
    auto const derivatives = problem.derivatives().dBias;
    for (std::size_t j = 0; j < n; ++j) {
      polynomial sum;
      for (std::size_t i = 0; i < n; ++i) sum += given.dO[0] * given.v[i] * p(i) * (polynomial(i == j ? 1 : 0) - p(j));
      if (!(derivatives[j] == sum)) return false;
    }
    return true;
  }
  /// Is ∂/∂v_i = p_i·dO?
  constexpr bool values_receive_their_weights() const {
    auto const derivatives = problem.derivatives().dV;
    for (std::size_t i = 0; i < n; ++i)
      if (!(derivatives[i] == p(i) * given.dO[0])) return false;
    return true;
  }
  /// Is Σ_j ∂/∂x_j = (1 − Σ_j p_j)·Σ_i dO·v_i·p_i, which is 0?
  constexpr bool derivatives_sum_to_0() const {
    polynomial sum;
    for (polynomial const& x : problem.derivatives().dBias) sum += x;
    return sum == (polynomial(1) - problem.share(0)) * problem.loss();
  }
};

/// The largest |∂p_i/∂x_j|, times `factor`.
constexpr number largest_derivative(three const& p, number const& factor = 1) {
  number largest{};
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      if (below(largest, absolute(softmax_jacobian(p, i, j)))) largest = absolute(softmax_jacobian(p, i, j));
  return factor * largest;
}

// --- Scaled Dot-Product Attention (Definition … Summary), "Gradient Flow" ------------------------------------------

static_assert(formal_softmax(2).has_the_jacobian() && formal_softmax(3).has_the_jacobian() &&
                  formal_softmax(4).has_the_jacobian(),
              "sdpa/competition: right: for all real scores, 2 to 4 of them, the derivative of weight i by score j is "
              "-p_i p_j: what raises one score lowers all other weights");
constexpr auto dominated = reference::softmax(three{10, 0, 0});
static_assert(
    formal_softmax(3).values_receive_their_weights() && prints(dominated[0], "0.9999092083843409781811"),
    "sdpa/gradient-values: right: of a gradient dO of the output, value i receives p_i dO, for all real scores; "
    "at softmax([10, 0, 0]) the attended one receives nearly all of it");
static_assert(formal_softmax(2).derivatives_sum_to_0() && formal_softmax(3).derivatives_sum_to_0() &&
                  formal_softmax(4).derivatives_sum_to_0(),
              "sdpa/gradient-scores: holds: for all real scores, 2 to 4 of them, the gradients by the scores of a row "
              "sum to 0, so the attended score has at most half of their sizes: as much as all others together");

// --- Scaled Dot-Product Attention: The Math, "Step 2: Scaling by √d_k" ---------------------------------------------

constexpr number tenth = number(1) / number(10);
static_assert(
    prints(largest_derivative(reference::softmax(three{2, 1, tenth})), "0.2247186378329651443534") &&
        prints(largest_derivative(reference::softmax(three{16, 8, number(8) * tenth})), "0.0003354877864532970102"),
    "math/saturation: right: the largest derivative at [2.0, 1.0, 0.1], and at 8 = sqrt(64) times these scores");

// --- Day 74, "Visual Comparison of Attention Patterns", "Implementation Comparison" --------------------------------

constexpr number inverse_root_3 = reference::inverse_sqrt<width>(3);
constexpr auto printed_unscaled = reference::softmax(three{5, 10, 7});
constexpr auto printed_scaled =
    reference::softmax(three{number(5) * inverse_root_3, number(10) * inverse_root_3, number(7) * inverse_root_3});
static_assert(
    [] {
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 3; ++j)
          if (!below(absolute(softmax_jacobian(printed_unscaled, i, j)),
                     absolute(softmax_jacobian(printed_scaled, i, j)) * inverse_root_3))
            return false;
      return prints(largest_derivative(printed_unscaled), "0.0506385335594961387046") &&
             prints(largest_derivative(printed_scaled, inverse_root_3), "0.0884088430380452551259");
    }(),
    "day74/gradient-flow: right: by the scores of row 1, [5, 10, 7], all nine derivatives of the weights grow with the "
    "scaling, though each is divided by sqrt(3) by the chain rule; the largest of them");
static_assert(
    [] {
      for (std::int64_t j = 0; j < 3; ++j)
        if (!below(absolute(softmax_jacobian(printed_unscaled, 0, j)), printed_unscaled[0])) return false;
      return prints(printed_unscaled[0], "0.0063774609224422969042") &&
             prints(softmax_jacobian(printed_unscaled, 0, 0), "0.0063367889146250183517");
    }(),
    "day74/small-weights: right: no derivative of the smallest weight of row 1 exceeds that weight");

constexpr worked_example<3, 3, 3, 3> money{
    .q = {2, 1, 3, 1, 2, 1, 0, 1, 2}, .k = {1, 0, 2, 2, 1, 0, 1, 3, 1}, .v = {2, 1, 3, 1, 2, 1, 0, 1, 2}};
constexpr auto scaled = money.solve().A;
constexpr worked_example<3, 3, 3, 3> money_unscaled{.q = money.q, .k = money.k, .v = money.v, .scale = 1.0};
constexpr auto unscaled = money_unscaled.solve().A;

/// The largest p_i·(1 − p_i) over the smallest.
constexpr number imbalance(three const& p) {
  number smallest = softmax_jacobian(p, 0, 0), largest = smallest;
  for (std::int64_t i = 1; i < 3; ++i) {
    number const x = softmax_jacobian(p, i, i);
    if (below(largest, x)) largest = x;
    if (below(x, smallest)) smallest = x;
  }
  return largest / smallest;
}
static_assert(below(imbalance(scaled[0]), imbalance(unscaled[0])) &&
                  below(imbalance(scaled[1]), imbalance(unscaled[1])) &&
                  below(imbalance(scaled[2]), imbalance(unscaled[2])),
              "day74/balanced-gradients: right: in each row of the example, the largest p(1 - p) over the smallest "
              "falls");
static_assert(
    prints(softmax_jacobian(unscaled[2], 2, 2), "0.2009824012028212709306") &&
        prints(softmax_jacobian(scaled[2], 2, 2) * inverse_root_3, "0.1383126589361517338789") &&
        prints(softmax_jacobian(unscaled[0], 0, 0), "0.2498525123623815706003") &&
        prints(softmax_jacobian(scaled[0], 0, 0), "0.2483487441379318160901"),
    "day74/smaller-gradients: holds: where no weight is near 1, scaling lowers derivatives: of weight 3 in row "
    "3 by its unscaled score, and of weight 1 in row 1 even by its scaled score");

// --- Day 11, 11.4 "Why Scale by √d_k?" -----------------------------------------------------------------------------

static_assert(
    formal_softmax(1).has_the_jacobian() && formal_softmax(2).has_the_jacobian() &&
        formal_softmax(3).has_the_jacobian() && formal_softmax(4).has_the_jacobian(),
    "day11/jacobian: right: for all real scores, 1 to 4 of them, the derivative of p_i by x_i is p_i(1 - p_i)");
static_assert(
    [] {
      polynomial const p(monomial(0)), rest = polynomial(1) - p, derivative = p * rest;
      return p - derivative == p * p && rest - derivative == rest * rest &&
             polynomial(1) - polynomial(4) * derivative == (p - rest) * (p - rest);
    }(),
    "day11/vanishes: right: for all real p, p - p(1 - p) = p^2 and (1 - p) - p(1 - p) = (1 - p)^2, so p(1 - p) is "
    "below "
    "p and below 1 - p; and 1 - 4p(1 - p) = (2p - 1)^2, so it is at most 1/4, where p = 1/2");
static_assert(
    [] {
      auto const p = exact_softmax<3>({10, 0, 0});
      auto const derivative = [&](std::size_t i, std::size_t j) {
        return p[i] * (fraction(i == j ? 1 : 0, 1) + -1 * p[j]);
      };
      for (std::size_t i = 0; i < 3; ++i)
        if (!(derivative(i, 0) + derivative(i, 1) + derivative(i, 2) == fraction(0, 1)) ||
            !(derivative(0, i) + derivative(1, i) + derivative(2, i) == fraction(0, 1)))
          return false;
      return true;
    }(),
    "day11/jacobian-sums: holds: each row and each column of the Jacobian at softmax([10, 0, 0]) sums to exactly 0");
static_assert(prints(largest_derivative(reference::softmax(three{8, 0, 0})), "0.0006700258796297328264") &&
                  prints(largest_derivative(reference::softmax(three{1, 0, 0})), "0.2442062198535454923757") &&
                  prints(largest_derivative(reference::softmax(three{1, 0, 0}), number(1) / number(8)),
                         "0.0305257774816931865470"),
              "day11/healthy: right: the largest derivative at [8, 0, 0], a typical size at d_k = 64; at these scores "
              "over 8; and that by the unscaled scores, over 8 once more");

}  // namespace
}  // namespace attest::proofs
