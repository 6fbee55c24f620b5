// fast/algorithm/band.hpp says of a strip of queries what the definition of visibility says of its pairs: by the
// compiler for n, m ≤ 4, here; for n, m ≤ 6 by tests/proofs/band_exact_test.cpp, with the same code.
#include "proofs/models/exact_band.hpp"

namespace attest::proofs {

static_assert(intervals_are_right(6),
              "intervals in [0, 6), empty ones too: hull, intersection and contains are those of sets of indices");
static_assert(
    bands_are_right(band_family{.diagonal = 4, .side = 3}, 4),
    "strips of 1 to 3 queries, n, m <= 4, diagonals -4 to 4, lefts and rights -1 to 3, with a mask and without: "
    "the keys of a query, the keys that any and that all queries of a strip see, and what a block of keys has "
    "of them, are those of the definition");

}  // namespace attest::proofs
