// The view of a strip against visibility by definition, exhaustively: beyond what the compiler proves in proofs/.
#include "proofs/models/exact_band.hpp"
#include "tests/support/catch.hpp"

using namespace attest::proofs;

TEST_CASE("all strips of all bands with n, m up to 6 see what their pairs say", "[unit]") {
  for (std::int64_t size = 1; size <= 6; ++size) {
    CAPTURE(size);
    CHECK(bands_are_right(band_family{.diagonal = 7, .side = 7}, size));
  }
}
