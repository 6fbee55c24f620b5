// The memory that threads keep between calls is given back when it is asked for, and not under a call that uses it.
#include <atomic>
#include <thread>

#include "tests/fast/entry_case.hpp"

using namespace attest;
using tests::entry_case;

namespace {

template <class E>
entry_case<E> problem_of(std::int64_t n) {
  entry_case<E> made;
  made.hq = made.hk = 4, made.d = made.dv = 24;
  made.add(n, 70, 5);
  return made;
}

}  // namespace

TEMPLATE_TEST_CASE("what threads keep is freed once, and later calls answer the same", "[unit]", float, double,
                   problem::bf16, problem::f16) {
  int const threads = GENERATE(1, 3);
  auto const asked = problem_of<TestType>(300);
  auto const before = asked.alone(0, threads);
  // Half of a second-level cache, or what so few rows need; at least the queries of one strip.
  CHECK(fast::release_memory() > 24 * 8 * static_cast<std::int64_t>(sizeof(TestType)));
  CHECK(fast::release_memory() == 0);
  CHECK(asked.alone(0, threads) == before);
  CHECK(fast::release_memory() > 0);
}

TEST_CASE("threads that ended keep nothing", "[unit]") {
  std::thread([] { problem_of<float>(40).alone(0); }).join();
  fast::release_memory();
  std::thread([] { problem_of<float>(40).alone(0); }).join();
  CHECK(fast::release_memory() == 0);
}

TEST_CASE("memory that is asked for while calls use it does not change their answers", "[unit]") {
  auto const asked = problem_of<float>(200);
  auto const expected = asked.alone(0);
  std::atomic<bool> ended = false;
  std::thread releases([&] {
    while (!ended) fast::release_memory();
  });
  std::atomic<int> different = 0;
  std::vector<std::thread> calls;
  for (int caller = 0; caller < 3; ++caller)
    calls.emplace_back([&] {
      for (int call = 0; call < 300; ++call) different += asked.alone(0) != expected;
    });
  for (std::thread& caller : calls) caller.join();
  ended = true;
  releases.join();
  CHECK(different == 0);
}
