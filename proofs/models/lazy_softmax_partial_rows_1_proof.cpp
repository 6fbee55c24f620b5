// The lazy model with partial rows: what proofs/models/lazy_softmax_proof.cpp proves, with merges in between. (τ = 2 is
// a file of its own: g++ needs a GiB for each.)
#include "proofs/models/exact_softmax.hpp"

namespace attest::proofs {

static_assert(partial_rows_are_softmax<1>(4, lazily{{1, 1}}),
              "4 keys from {masked, -inf, 0, 1, 3}, every cutting into blocks and partial rows, the reference up to 1 "
              "below the maximum, merged in the order of the keys: softmax");

}  // namespace attest::proofs
