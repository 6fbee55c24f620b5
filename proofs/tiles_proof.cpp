// fast/algorithm/tiles.hpp says of a tile what the definition of visibility says of its pairs: by the compiler for n, m ≤ 4,
// here; for n, m ≤ 6 by tests/proofs/tiles_exact_test.cpp, with the same code.
#include "proofs/exact_tiles.hpp"

namespace attest::proofs {

static_assert(tiles_are_right(band_family{.diagonal = 5, .side = 5}, 4),
              "tiles of 1 to 3 queries and keys, n, m <= 4, diagonals -5 to 5, lefts and rights -1 to 5: empty, full "
              "and partial, the keys of a query and the keys of any query are those of the definition");

}  // namespace attest::proofs
