// The clock of an audit goes as fast as the share of the processors that it has.
#include "audit/isolation/own_time.hpp"

#include "tests/support/catch.hpp"

namespace attest::tests::own_time_test {
using attest::audit::group_time;
using attest::audit::own_time;
using attest::audit::share_of_processors;
using attest::audit::with_ended;

TEST_CASE("a group has the share of the processors that it could use and had", "[unit]") {
  CHECK(share_of_processors({.running = 1, .queued = 0, .passed = 1}, 2) == 1);
  CHECK(share_of_processors({.running = 0.5, .queued = 0.5, .passed = 1}, 2) == 0.5);
  // Four threads have two processors to themselves. More could not be used.
  CHECK(share_of_processors({.running = 2, .queued = 2, .passed = 1}, 2) == 1);
  CHECK(share_of_processors({.running = 0.5, .queued = 3.5, .passed = 1}, 2) == 0.25);
  // A kernel that waits for its device leaves the processors idle.
  CHECK(share_of_processors({.running = 0.001, .queued = 0.001, .passed = 1}, 2) == 1);
  // One that sleeps loses no more than the time in which its judge waits for a processor.
  CHECK(share_of_processors({.running = 0.1, .queued = 0.1, .passed = 1}, 2) == 0.9);
  CHECK(share_of_processors({.running = 0, .queued = 0, .passed = 0}, 2) == 1);
}

TEST_CASE("processes that ended waited as long as others do", "[unit]") {
  // A kernel that ends its process with each refusal: the judge waits for it. Nine threads want two processors.
  group_time const judge{.running = 0.01, .queued = 0, .passed = 0.5};
  CHECK(share_of_processors(with_ended(judge, 0.11, 4.5), 2) < 0.25);
  CHECK(share_of_processors(with_ended(judge, 0.4, 0.5), 2) == 1);
  CHECK(share_of_processors(with_ended(judge, 0, 4.5), 2) == 1);
}

TEST_CASE("the own time is never ahead of the clock and never goes back", "[unit]") {
  auto last = own_time::now();
  for (int at = 0; at < 1000; ++at) {
    auto const now = own_time::now();
    CHECK(now >= last);
    CHECK(now <= own_time::clock::now());
    last = now;
  }
  CHECK(own_time::share() > 0);
  CHECK(own_time::share() <= 1);
  CHECK(attest::audit::usable_processors() >= 1);
}

}  // namespace attest::tests::own_time_test
