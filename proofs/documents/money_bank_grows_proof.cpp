// "Money Bank Grows", Day 74: Scaled Dot Product Attention - Why Do We Scale Self Attention?, Step-by-Step Matrix
// Calculation Example. From the printed Q and K; W_V = I, so V = E, which is the printed Q.
//
// Q = V = [2 1 3; 1 2 1; 0 1 2], K = [1 0 2; 2 1 0; 1 3 1], d_k = 3.
#include "proofs/worked_example.hpp"

namespace attest::proofs {
namespace {

constexpr worked_example<3, 3, 3, 3> scaled{
    .q = {2, 1, 3, 1, 2, 1, 0, 1, 2}, .k = {1, 0, 2, 2, 1, 0, 1, 3, 1}, .v = {2, 1, 3, 1, 2, 1, 0, 1, 2}};
constexpr worked_example<3, 3, 3, 3> unscaled{.q = scaled.q, .k = scaled.k, .v = scaled.v, .scale = 1.0};
constexpr auto solved = scaled.solve();
constexpr auto without_scale = unscaled.solve();

// Step 3: "Result: [[8, 5, 8], [3, 4, 8], [4, 1, 5]]"
static_assert(scaled.dot_is(0, 0, 8) && scaled.dot_is(0, 1, 5) && scaled.dot_is(0, 2, 8), "QK' row 1 is [8 5 8]");
static_assert(scaled.dot_is(1, 0, 3) && scaled.dot_is(1, 1, 4) && scaled.dot_is(1, 2, 8), "QK' row 2 is [3 4 8]");
static_assert(scaled.dot_is(2, 0, 4) && scaled.dot_is(2, 1, 1) && scaled.dot_is(2, 2, 5), "QK' row 3 is [4 1 5]");

// Step 4: "Divide each element by √3 = 1.73"; the printed scaled matrix, and ten digits of it.
static_assert(prints(number(3) * reference::inverse_sqrt<width>(3), "1.73"), "the square root of 3 prints 1.73");
static_assert(prints(solved.S[0], {"4.62", "2.89", "4.62"}), "scaled matrix, row 1");
static_assert(prints(solved.S[1], {"1.73", "2.31", "4.62"}), "scaled matrix, row 2");
static_assert(prints(solved.S[2], {"2.31", "0.58", "2.89"}), "scaled matrix, row 3");
static_assert(prints(solved.S[0], {"4.6188021535", "2.8867513459", "4.6188021535"}), "8 and 5 over the root of 3");
static_assert(prints(solved.S[1], {"1.7320508076", "2.3094010768", "4.6188021535"}), "3, 4 and 8 over the root of 3");
static_assert(prints(solved.S[2], {"2.3094010768", "0.5773502692", "2.8867513459"}), "4, 1 and 5 over the root of 3");

// Weights and outputs with scaling.
static_assert(prints(solved.A[0], {"0.4593643523", "0.0812712954", "0.4593643523"}), "A row 1 (money)");
static_assert(prints(solved.A[1], {"0.0482712553", "0.0859861747", "0.8657425700"}), "A row 2 (bank)");
static_assert(prints(solved.A[2], {"0.3380395903", "0.0598063721", "0.6021540376"}), "A row 3 (grows)");
static_assert(scaled.output_is(0, 0, 1), "O[1][1] is exactly 1: the two keys with score 8 average 2 and 0");
static_assert(prints(solved.O[0], {"1.0000000000", "1.0812712954", "2.3780930570"}), "O row 1");
static_assert(prints(solved.O[1], {"0.1825286853", "1.0859861747", "1.9622850806"}), "O row 2");
static_assert(prints(solved.O[2], {"0.7358855527", "1.0598063721", "2.2782332182"}), "O row 3");
static_assert(prints(solved.entropy, {"0.9186776006", "0.4820913536", "0.8405261386"}), "entropies with scaling");

// Weights without scaling.
static_assert(prints(without_scale.A[0], {"0.4878555512", "0.0242888977", "0.4878555512"}), "unscaled A row 1");
static_assert(prints(without_scale.A[1], {"0.0065732632", "0.0178679819", "0.9755587549"}), "unscaled A row 2");
static_assert(prints(without_scale.A[2], {"0.2653879288", "0.0132128870", "0.7213991843"}), "unscaled A row 3");
static_assert(prints(without_scale.entropy, {"0.7906026117", "0.1290831335", "0.6448021179"}),
              "entropies without scaling");

// "Reduced variance": scaling spreads every row's attention.
static_assert(below(without_scale.entropy[0], solved.entropy[0]) && below(without_scale.entropy[1], solved.entropy[1]) &&
                  below(without_scale.entropy[2], solved.entropy[2]),
              "scaling raises the entropy of every row");

}  // namespace
}  // namespace attest::proofs
