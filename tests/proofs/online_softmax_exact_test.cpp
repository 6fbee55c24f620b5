// "The blocked algorithm is softmax", exhaustively and exactly: beyond what the compiler proves in proofs/.
#include "proofs/models/exact_softmax.hpp"
#include "tests/support/catch.hpp"

using namespace attest;
using namespace attest::proofs;

namespace {

void check(std::size_t count, tally const& found, std::int64_t ways_of_a_gap) {
  CAPTURE(count);
  CHECK(found.tried == evaluations(count, ways_of_a_gap));
  CHECK(found.wrong == 0);
}

template <class Rescaling>
void check_blocks(std::size_t most, Rescaling const& how) {
  for (std::size_t count = 1; count <= most; ++count) check(count, exhaustion<1, Rescaling>(count, how).blocks(), 2);
}

template <class Rescaling>
void check_partial_rows(std::size_t most, Rescaling const& how) {
  for (std::size_t count = 1; count <= most; ++count)
    check(count, exhaustion<1, Rescaling>(count, how).partial_rows(), 3);
}

template <std::int64_t lanes, class Rescaling>
void check_lanes(Rescaling const& how) {
  for (std::size_t count = 1; count <= 6; ++count) {
    check(count, exhaustion<lanes, Rescaling>(count, how).blocks(), 2);
    check(count, exhaustion<lanes, Rescaling>(count, how).partial_rows(), 3);
  }
}

constexpr lazily tau_1{{1, 1}}, tau_2{{2, 1}};

}  // namespace

TEST_CASE("every cutting of up to 8 keys into blocks is softmax", "[slow]") {
  check_blocks(8, eagerly{});
  CHECK(evaluations(8, 2) == 390'625 * 128);
}

TEST_CASE("every cutting of up to 8 keys into blocks is softmax, lazily rescaled", "[slow]") {
  check_blocks(8, tau_1);
  check_blocks(8, tau_2);
}

TEST_CASE("every cutting of up to 6 keys into blocks and partial rows is softmax", "[unit]") {
  check_partial_rows(6, eagerly{});
  CHECK(evaluations(6, 3) == 15'625 * 243);
}

TEST_CASE("every cutting of up to 6 keys into blocks and partial rows is softmax, lazily rescaled", "[unit]") {
  check_partial_rows(6, tau_1);
  check_partial_rows(6, tau_2);
}

TEST_CASE("the same for up to 6 keys with l in 2, 3 and as many lanes as the kernel has", "[slow]") {
  check_lanes<2>(eagerly{});
  check_lanes<3>(eagerly{});
  check_lanes<fast::sum_lanes>(eagerly{});
  check_lanes<2>(tau_1);
  check_lanes<fast::sum_lanes>(tau_2);
}
