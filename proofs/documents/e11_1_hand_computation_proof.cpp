// "E11.1 Hand Computation", Day 11: Scaled Dot-Product Attention, Exercise.
//
// Q = [1 0; 0 1; 1 1], K = V = [1 0; 0 1; 0.5 0.5], d_k = 2. The document asks, the compiler answers: QKᵀ, the weights
// A = softmax(QKᵀ/√2), AV, and which query attends most uniformly, which is most focused.
#include "proofs/worked_example.hpp"

namespace attest::proofs {
namespace {

constexpr worked_example<3, 3, 2, 2> e11_1{
    .q = {1, 0, 0, 1, 1, 1}, .k = {1, 0, 0, 1, 0.5, 0.5}, .v = {1, 0, 0, 1, 0.5, 0.5}};
constexpr auto solved = e11_1.solve();

// 1. "Compute QKᵀ (the raw scores matrix)"
static_assert(e11_1.dot_is(0, 0, 1) && e11_1.dot_is(0, 1, 0) && e11_1.dot_is(0, 2, 0.5), "QK' row 1 is [1 0 0.5]");
static_assert(e11_1.dot_is(1, 0, 0) && e11_1.dot_is(1, 1, 1) && e11_1.dot_is(1, 2, 0.5), "QK' row 2 is [0 1 0.5]");
static_assert(e11_1.dot_is(2, 0, 1) && e11_1.dot_is(2, 1, 1) && e11_1.dot_is(2, 2, 1), "QK' row 3 is [1 1 1]");

// 2. "Scale by √d_k = √2 ≈ 1.414"
static_assert(prints(number(2) * reference::inverse_sqrt<width>(2), "1.414"), "the square root of 2 prints 1.414");
static_assert(prints(solved.S[0], {"0.707106781187", "0.000000000000", "0.353553390593"}), "row 1 of QK'/sqrt(2)");

// 3. "Apply softmax row-wise to get the attention weight matrix A"
static_assert(prints(solved.A[0], {"0.455527490499", "0.224606343635", "0.319866165866"}), "A row 1");
static_assert(prints(solved.A[1], {"0.224606343635", "0.455527490499", "0.319866165866"}), "A row 2");
static_assert(e11_1.uniform(2), "A row 3 is exactly [1/3 1/3 1/3]");

// 4. "Compute the output AV"
static_assert(prints(solved.O[0], {"0.615460573432", "0.384539426568"}), "AV row 1");
static_assert(prints(solved.O[1], {"0.384539426568", "0.615460573432"}), "AV row 2");
static_assert(e11_1.output_is(2, 0, 0.5) && e11_1.output_is(2, 1, 0.5), "AV row 3 is exactly [0.5 0.5]");

// 5. "Interpret: which query attends most uniformly? Which is most focused?"
static_assert(prints(solved.entropy[0], "1.058209647906"), "entropy of query 1 in nats");
static_assert(prints(solved.entropy[1], "1.058209647906"), "entropy of query 2 in nats");
static_assert(overlap(solved.entropy[2], log(number(3))), "entropy of query 3 is ln 3, as its weights are exactly 1/3");
static_assert(below(solved.entropy[0], solved.entropy[2]) && below(solved.entropy[1], solved.entropy[2]),
              "query 3 attends most uniformly");
static_assert(e11_1.equally_focused(0, 1), "queries 1 and 2 are the most focused: an exact tie");

}  // namespace
}  // namespace attest::proofs
