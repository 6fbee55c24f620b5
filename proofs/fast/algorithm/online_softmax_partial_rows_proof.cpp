// fast/algorithm/online_softmax.hpp with partial rows: what proofs/fast/algorithm/online_softmax_proof.cpp proves, with
// merges in between.
#include "proofs/models/exact_softmax.hpp"

namespace attest::proofs {

static_assert(partial_rows_are_softmax<1>(4),
              "4 keys from {masked, -inf, 0, 1, 3}, every cutting into blocks and partial rows, merged in the order of "
              "the keys: the blocked algorithm is softmax");

}  // namespace attest::proofs
