// What proofs/models/blocked_backward_proof.cpp proves, with all that a call may have: grouped heads, a softcap, sinks,
// dropout, biases that are broadcast.
#include "proofs/models/every_cutting.hpp"

namespace attest::proofs {
namespace {

constexpr attention_form grouped(bias_shape const& bias, bool features) {
  return {.heads = 2, .n = 2, .m = 2, .bias = bias, .softcap = features, .sink = features, .dropout = features};
}

static_assert(
    always_the_derivative(grouped({}, true), {0b11001101, 0b01010101}),
    "2 heads of 2 queries share 2 keys, a bias, a softcap, sinks, dropout, every cutting of the 4 rows and of "
    "the keys, every schedule: causal with an empty row in one head, an unseen key");
static_assert(always_the_derivative(grouped({.heads = false}, false), {0b11011101}) &&
                  always_the_derivative(grouped({.rows = false, .keys = false}, false), {0b11011101}),
              "the same heads, causal, a bias that is broadcast along heads, and one that is along queries and keys");

static_assert(deltas_agree({.n = 2, .m = 2, .softcap = true, .sink = true, .dropout = true}),
              "a softcap, a sink and dropout, every mask: the sum of dO O is the sum of P W");
static_assert(rows_of_dS_sum_to_0({.n = 2, .m = 2, .softcap = true, .sink = true, .dropout = true}),
              "the same: every row of dS, the sink's among them, sums to 0");

}  // namespace
}  // namespace attest::proofs
