// proofs/models/lazy_softmax_partial_rows_1_proof.cpp with τ = 2.
#include "proofs/models/exact_softmax.hpp"

namespace attest::proofs {

static_assert(partial_rows_are_softmax<1>(4, lazily{{2, 1}}),
              "4 keys from {masked, -inf, 0, 1, 3}, every cutting into blocks and partial rows, the reference up to 2 "
              "below the maximum, merged in the order of the keys: softmax");

}  // namespace attest::proofs
