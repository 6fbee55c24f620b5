// Work that can be cancelled, and work that fails.
#include "audit/support/interruptible.hpp"

#include <atomic>
#include <new>
#include <stdexcept>

#include <tbb/parallel_for.h>

#include "tests/support/catch.hpp"

namespace attest::audit::interruptible_test {
namespace {

bool never() { return false; }

TEST_CASE("what leaves the work leaves the call", "[unit]") {
  CHECK_THROWS_AS(interruptible(never, [] { throw std::bad_alloc(); }), std::bad_alloc);
  auto const in_a_loop = [] {
    tbb::parallel_for(0, 100, [](int at) {
      if (at == 70) throw std::runtime_error("70");
    });
  };
  CHECK_THROWS_AS(interruptible(never, in_a_loop), std::runtime_error);
}

TEST_CASE("work is cancelled where it is asked for, and whole where not", "[unit]") {
  std::atomic<int> done = 0;
  CHECK_FALSE(interruptible(never, [&] { tbb::parallel_for(0, 100, [&](int) { ++done; }); }));
  CHECK(done == 100);
  CHECK(interruptible([] { return true; }, [&] { ++done; }));
  CHECK(done == 100);
  std::atomic<bool> enough = false;
  auto const endless = [&] {
    enough = true;
    tbb::parallel_for(0, 1 << 20, [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  };
  CHECK(interruptible([&] { return enough.load(); }, endless));
}

}  // namespace
}  // namespace attest::audit::interruptible_test
