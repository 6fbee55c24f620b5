// "The blocked algorithm is softmax", exhaustively and exactly: beyond what the compiler proves in proofs/.
#include "proofs/exact_softmax.hpp"
#include "tests/catch.hpp"

using namespace attest;
using namespace attest::proofs;

namespace {

void check(std::size_t count, tally const& found, std::int64_t ways_of_a_gap) {
  CAPTURE(count);
  CHECK(found.tried == evaluations(count, ways_of_a_gap));
  CHECK(found.wrong == 0);
}

}  // namespace

TEST_CASE("every cutting of up to 8 keys into blocks is softmax", "[slow]") {
  for (std::size_t count = 1; count <= 8; ++count) check(count, exhaustion<1>(count).blocks(), 2);
  CHECK(evaluations(8, 2) == 390'625 * 128);
}

TEST_CASE("every cutting of up to 6 keys into blocks and partial rows is softmax", "[unit]") {
  for (std::size_t count = 1; count <= 6; ++count) check(count, exhaustion<1>(count).partial_rows(), 3);
}

TEST_CASE("the same for up to 6 keys with l in 2, 3 and as many lanes as the kernel has", "[slow]") {
  for (std::size_t count = 1; count <= 6; ++count) {
    check(count, exhaustion<2>(count).blocks(), 2);
    check(count, exhaustion<3>(count).blocks(), 2);
    check(count, exhaustion<fast::sum_lanes>(count).blocks(), 2);
    check(count, exhaustion<2>(count).partial_rows(), 3);
    check(count, exhaustion<3>(count).partial_rows(), 3);
    check(count, exhaustion<fast::sum_lanes>(count).partial_rows(), 3);
  }
}
