// "Scaled Dot-Product Attention: The Math": every number of it. docs/documents.md is the table.
#include "proofs/documents/dot_product_moments.hpp"
#include "proofs/documents/exact_weights.hpp"
#include "proofs/worked_example.hpp"
#include "reference/textbook/softmax.hpp"

namespace attest::proofs {
namespace {

// "Step 1: The Dot Product", Example: Q = K = I.
constexpr worked_example<2, 2, 2, 2> identity{.q = {1, 0, 0, 1}, .k = {1, 0, 0, 1}, .v = {1, 0, 0, 1}};
constexpr auto solved = identity.solve();
static_assert(identity.dot_is(0, 0, 1) && identity.dot_is(0, 1, 0) && identity.dot_is(1, 0, 0) &&
                  identity.dot_is(1, 1, 1),
              "math/qk: right: Q = K = I gives QK' = [1 0; 0 1]");
static_assert(prints(solved.A[0], {"0.6697615493266569256168", "0.3302384506733430743832"}) &&
                  prints(solved.A[1], {"0.3302384506733430743832", "0.6697615493266569256168"}),
              "math/identity-weights: answer: the weights of that example");

// "Step 2: Scaling by √d_k"
static_assert(exactly(variance_of_scaled_signs(64), 1),
              "math/variance: right: over every pair of vectors of -1 and 1 at d_k = 64, Var(q.k/sqrt(d_k)) is 1");

// "Step 3: Softmax"
constexpr number tenth = number(1) / number(10);
constexpr auto weights = reference::softmax(std::array<number, 3>{2, 1, tenth});
static_assert(agrees(weights, {"0.659", "0.242", "0.099"},
                     {"0.6590011388859679069140", "0.2424329707047139215242", "0.0985658904093181715618"}),
              "math/softmax: right: softmax([2.0, 1.0, 0.1])");
static_assert(reference::certain_sign(weights[0]) > 0 && reference::certain_sign(weights[1]) > 0 &&
                  reference::certain_sign(weights[2]) > 0,
              "math/positive: right: all outputs are positive, on the example");
static_assert(exactly_sums_to_1<3>({20, 10, 1}) && nearly_sums_to(weights, 1),  // 2, 1 and 0.1, in tenths
              "math/sum: right: the outputs of the example sum to exactly 1");
static_assert(below(weights[1], weights[0]) && below(weights[2], weights[1]),
              "math/order: right: the weights of the example are in the order of its scores");

// "attention_weights = softmax(scores, axis=-1)", but Step 3 defines softmax(x) over all of x: called on a matrix it
// divides by the sum of all rows.
static_assert(
    [] {
      number const diagonal = reference::inverse_sqrt<width>(2);
      auto const global = reference::softmax(std::array<number, 4>{diagonal, 0, 0, diagonal});
      auto const exact = exact_softmax<4>({1, 0, 0, 1});  // in units of 1/√2
      return prints(global[0], "0.33488077466333") && !overlap(global[0], solved.A[0][0]) &&
             exact[0] + exact[1] == fraction(1, 2) && exact[2] + exact[3] == fraction(1, 2);
    }(),
    "math/axis: wrong: softmax as defined takes no axis; on the scores of the example its rows sum to 1/2, not 1");

// "Computational Complexity"
static_assert(4096 * 4096 == 16'777'216 && 4096 * 4096 == 16 << 20,
              "math/weights-of-4096: right: 4096 tokens have 16,777,216 = 16 x 2^20 attention weights");

}  // namespace
}  // namespace attest::proofs
