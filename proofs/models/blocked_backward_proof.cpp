// The blocked backward is the derivative of attention, for all real inputs of these sizes: as polynomials in q, k, v,
// dO, σ, biases, the weights e^s and 1/Σ e^s, which proofs/models/formal_attention.hpp differentiates by the chain rule
// alone. tests/proofs/blocked_backward_exact_test.cpp tries larger sizes.
#include "proofs/models/every_cutting.hpp"

namespace attest::proofs {
namespace {

static_assert(always_the_derivative({.n = 2, .m = 2, .bias = bias_shape{}}),
              "2 queries, 2 keys, a bias, every mask (empty rows and unseen keys too), every cutting of queries and "
              "keys into blocks, in one pass, in parts and in two passes: dQ, dK, dV, dBias");
static_assert(always_the_derivative({.n = 2, .m = 3}, {0b111111, 0b111011, 0b111000, 0b101101}),
              "2 queries, 3 keys, every cutting and schedule: no mask, causal, an empty row, an unseen key");
static_assert(
    always_the_derivative({.n = 3, .m = 2}, {0b111111, 0b111101, 0b110011, 0b010101}),
    "3 queries, 2 keys, every cutting and schedule: no mask, causal, an empty row in the middle, an unseen key");
static_assert(always_the_derivative({.n = 2, .m = 2, .d = 2, .dv = 2}, {0b1111, 0b1101}),
              "2 queries, 2 keys, 2 columns each, every cutting and schedule: no mask, causal");

static_assert(deltas_agree({.n = 2, .m = 3, .dv = 2}),
              "2 queries, 3 keys, 2 columns, every mask: the sum of dO O is the sum of P W");
static_assert(rows_of_dS_sum_to_0({.n = 2, .m = 3, .dv = 2}), "the same: every row of dS sums to 0");
static_assert(garbage_reaches_only_what_sees_it({.n = 2, .m = 2}),
              "2 queries, 2 keys, every mask: a NaN in a key or a query changes gradients of the rows that see it, and "
              "of the keys "
              "that such a row sees, and no others");

}  // namespace
}  // namespace attest::proofs
