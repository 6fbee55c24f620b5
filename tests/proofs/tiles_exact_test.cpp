// Tile classification against visibility by definition, exhaustively: beyond what the compiler proves in proofs/.
#include "proofs/exact_tiles.hpp"
#include "tests/support/catch.hpp"

using namespace attest::proofs;

TEST_CASE("all tiles of all bands with n, m up to 6 are classified as their pairs are", "[unit]") {
  for (std::int64_t size = 1; size <= 6; ++size) {
    CAPTURE(size);
    CHECK(tiles_are_right(band_family{.diagonal = 7, .side = 7}, size));
  }
}
