// "Day 11: Scaled Dot-Product Attention", Phase II, Week 2: every number of it. docs/documents.md is the table.
#include <limits>

#include "proofs/documents/dot_product_moments.hpp"
#include "proofs/documents/exact_weights.hpp"
#include "proofs/worked_example.hpp"
#include "reference/real/sqrt.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "reference/textbook/softmax.hpp"
#include "reference/textbook/softmax_jacobian.hpp"

namespace attest::proofs {
namespace {

// --- 11.4 "Why Scale by √d_k?" -------------------------------------------------------------------------------------

static_assert(exactly(deviation_of_signs(64), 8),
              "day11/typical-size: right: over every pair of vectors of -1 and 1 at d_k = 64, E[q.k] = 0 and the "
              "standard deviation is sqrt(64) = 8, exactly");
static_assert(exactly(variance_of_scaled_signs(64), 1),
              "day11/variance-restored: right: over every pair of vectors of -1 and 1 at d_k = 64, "
              "Var[q.k/sqrt(d_k)] = 1, exactly");

constexpr auto saturated = reference::softmax(std::array<number, 3>{10, 0, 0});
static_assert(agrees(saturated, {"0.9999", "0.00005", "0.00005"},
                     {"0.9999092083843409781811", "0.0000453958078295109094", "0.0000453958078295109094"}),
              "day11/saturation: right: softmax([10, 0, 0])");
static_assert(prints(softmax_jacobian(saturated, 0, 0), "0.000090783372541547843314") &&
                  prints(softmax_jacobian(saturated, 1, 1), "0.000045393747050142415541"),
              "day11/vanishing-gradient: holds: p(1 - p) at those weights");

// --- 11.7 "Testing Dimensions and Properties" ----------------------------------------------------------------------

static_assert(
    [] {
      std::array<float, 2 * 7 * 64> const data{};
      problem::arguments<float> arguments;
      arguments.q = {data.data(), problem::layout::compact({2, 5, 64})};
      arguments.k = {data.data(), problem::layout::compact({2, 7, 64})};
      arguments.v = {data.data(), problem::layout::compact({2, 7, 32})};
      auto const instance = problem::instance<float>::make(arguments).value();
      std::array<float, 2 * 5 * 32> o{};
      std::array<float, 2 * 5 * 7> weights{};
      problem::output_tensors<float> tensors;
      tensors.o = {o.data(), problem::layout::compact({2, 5, 32})};
      tensors.weights = problem::tensor<float>{weights.data(), problem::layout::compact({2, 5, 7})};
      return static_cast<bool>(problem::outputs<float>::make(instance, tensors));
    }(),
    "day11/shapes: right: (batch, n_q, n_k, d_k, d_v) = (2, 5, 7, 64, 32) gives (2, 5, 32) and (2, 5, 7)");
static_assert(exactly_sums_to_1<3>({10, 0, 0}) && nearly_sums_to(saturated, 1),
              "day11/weights-sum: right: softmax([10, 0, 0]) sums to exactly 1");
static_assert(agrees(deviation_of_signs(512), "22.63", "22.62741699796952"),
              "day11/score-std: answer: sqrt(512), the standard deviation of the unscaled scores at d_k = 512, over "
              "every pair of vectors of -1 and 1");

/// The class of x·y by the rules of IEEE arithmetic (reference/attention/score.hpp).
constexpr reference::number_class class_of_product(float x, float y) { return reference::exact_dot(&x, &y, 1).kind; }
static_assert(class_of_product(0, -std::numeric_limits<float>::infinity()) == reference::number_class::not_a_number &&
                  exactly(reference::entropy(std::array<number, 3>{1, 0, 0}), 0),
              "day11/zero-log-zero: holds: 0 times -infinity, which log 0 is in floats, is NaN; the entropy takes "
              "0 log 0 as 0, so that of [1, 0, 0] is 0");

// --- 11.8 "Causal (Autoregressive) Masking" ------------------------------------------------------------------------

constexpr std::array<std::uint8_t, 16> printed_mask{1, 0, 0, 0,  //
                                                    1, 1, 0, 0,  //
                                                    1, 1, 1, 0,  //
                                                    1, 1, 1, 1};
constexpr std::array<float, 8> tokens{1, -2, 0.5, 3, -1, 1, 2, 0.25};  // Q = K = V, 4 tokens; the document draws them

constexpr problem::instance<float> causal(bool by_mask) {
  problem::arguments<float> arguments;
  arguments.q = arguments.k = arguments.v = {tokens.data(), problem::layout::compact({4, 2})};
  if (by_mask)
    arguments.mask = problem::tensor<std::uint8_t const>{printed_mask.data(), problem::layout::compact({4, 4})};
  else arguments.band.right = 0;
  return problem::instance<float>::make(arguments).value();
}

static_assert(
    [] {
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 4; ++j)
          if (reference::visible(causal(true), 0, 0, i, j) != (j <= i) ||
              reference::visible(causal(false), 0, 0, i, j) != (j <= i))
            return false;
      return true;
    }(),
    "day11/causal-mask: right: tril of ones is [1 0 0 0; 1 1 0 0; 1 1 1 0; 1 1 1 1], position i attends to j <= i");

static_assert(
    [] {
      for (std::int64_t i = 0; i < 4; ++i) {
        reference::enclosed_row<width, float> row;
        enclose_row(causal(true), 0, 0, i, row);
        if (static_cast<std::int64_t>(row.keys.size()) != i + 1) return false;  // the others have weight 0
        if (i == 0 && !exactly(weight(row, 0), 1)) return false;
      }
      return true;
    }(),
    "day11/causal-weights: right: row 0 is exactly [1, 0, 0, 0] and the upper triangle is 0");

// --- "E11.1 Hand Computation" --------------------------------------------------------------------------------------
// Q = [1 0; 0 1; 1 1], K = V = [1 0; 0 1; 0.5 0.5], d_k = 2. The document asks, the compiler answers.

constexpr worked_example<3, 3, 2, 2> e11_1{
    .q = {1, 0, 0, 1, 1, 1}, .k = {1, 0, 0, 1, 0.5, 0.5}, .v = {1, 0, 0, 1, 0.5, 0.5}};
constexpr auto solved = e11_1.solve();

// 1. "Compute QKᵀ (the raw scores matrix)"
static_assert(e11_1.dot_is(0, 0, 1) && e11_1.dot_is(0, 1, 0) && e11_1.dot_is(0, 2, 0.5),
              "day11/e11.1-qk-1: answer: QK' row 1 is [1 0 0.5]");
static_assert(e11_1.dot_is(1, 0, 0) && e11_1.dot_is(1, 1, 1) && e11_1.dot_is(1, 2, 0.5),
              "day11/e11.1-qk-2: answer: QK' row 2 is [0 1 0.5]");
static_assert(e11_1.dot_is(2, 0, 1) && e11_1.dot_is(2, 1, 1) && e11_1.dot_is(2, 2, 1),
              "day11/e11.1-qk-3: answer: QK' row 3 is [1 1 1]");

// 2. "Scale by √d_k = √2 ≈ 1.414"
static_assert(agrees(number(2) * reference::inverse_sqrt<width>(2), "1.414", "1.414213562373095"),
              "day11/e11.1-sqrt-2: right: the square root of 2 is about 1.414");
static_assert(prints(solved.S[0],
                     {"0.707106781186547524400844", "0.000000000000000000000000", "0.353553390593273762200422"}) &&
                  prints(solved.S[1],
                         {"0.000000000000000000000000", "0.707106781186547524400844", "0.353553390593273762200422"}) &&
                  prints(solved.S[2],
                         {"0.707106781186547524400844", "0.707106781186547524400844", "0.707106781186547524400844"}),
              "day11/e11.1-scaled: answer: row 1 of QK'/sqrt(2); rows 2 and 3 hold the same numbers");

// 3. "Apply softmax row-wise to get the attention weight matrix A"
static_assert(prints(solved.A[0],
                     {"0.455527490498799166637496", "0.224606343634800430868588", "0.319866165866400402493916"}),
              "day11/e11.1-weights-1: answer: A row 1");
static_assert(prints(solved.A[1],
                     {"0.224606343634800430868588", "0.455527490498799166637496", "0.319866165866400402493916"}),
              "day11/e11.1-weights-2: answer: A row 2");
static_assert(e11_1.uniform(2), "day11/e11.1-weights-3: answer: A row 3 is exactly [1/3 1/3 1/3]");

// 4. "Compute the output AV"
static_assert(prints(solved.O[0], {"0.615460573431999367884454", "0.384539426568000632115546"}),
              "day11/e11.1-output-1: answer: AV row 1");
static_assert(prints(solved.O[1], {"0.384539426568000632115546", "0.615460573431999367884454"}),
              "day11/e11.1-output-2: answer: AV row 2");
static_assert(e11_1.output_is(2, 0, 0.5) && e11_1.output_is(2, 1, 0.5),
              "day11/e11.1-output-3: answer: AV row 3 is exactly [0.5 0.5]");

// 5. "Interpret: which query attends most uniformly? Which is most focused?"
static_assert(prints(solved.entropy[0], "1.058209647905666362243649") &&
                  prints(solved.entropy[1], "1.058209647905666362243649"),
              "day11/e11.1-entropy-1-2: answer: entropy of queries 1 and 2 in nats");
static_assert(e11_1.uniform(2) && nearly_equal(solved.entropy[2], log(number(3))) &&
                  prints(log(number(3)), "1.098612288668109691395245"),
              "day11/e11.1-entropy-3: answer: entropy of query 3 is exactly ln 3, as its 3 weights are exactly 1/3");
static_assert(below(solved.entropy[0], solved.entropy[2]) && below(solved.entropy[1], solved.entropy[2]),
              "day11/e11.1-uniform: answer: query 3 attends most uniformly");
static_assert(e11_1.equally_focused(0, 1),
              "day11/e11.1-focused: answer: queries 1 and 2 are the most focused: an exact tie");

}  // namespace
}  // namespace attest::proofs
