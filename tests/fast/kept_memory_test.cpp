// The memory that threads keep between calls is given back when it is asked for, and not under a call that uses it.
#include <atomic>
#include <thread>

#include "tests/fast/entries.hpp"

namespace attest::tests::kept_memory_test {
using tests::entry_set;

namespace {

entry_set problem_of(std::int64_t n, problem::element_type type = problem::element_type::f32) {
  entry_set made;
  made.type = type, made.hq = made.hk = 4, made.d = made.dv = 24;
  made.add(n, 70, 5);
  return made;
}

}  // namespace

TEMPLATE_TEST_CASE("what threads keep is freed once, and later calls answer the same", "[unit]", float, double,
                   problem::bf16, problem::f16) {
  int const threads = GENERATE(1, 3);
  auto const asked = problem_of(300, problem::type_of<TestType>);
  auto const before = asked.answer(0, threads);
  // Half of a second-level cache, or what so few rows need; at least the queries of one strip.
  CHECK(fast::release_memory() > 24 * 8 * static_cast<std::int64_t>(sizeof(TestType)));
  CHECK(fast::release_memory() == 0);
  CHECK(asked.answer(0, threads) == before);
  CHECK(fast::release_memory() > 0);
}

TEST_CASE("threads that ended keep nothing", "[unit]") {
  std::thread([] { problem_of(40).answer(0); }).join();
  fast::release_memory();
  std::thread([] { problem_of(40).answer(0); }).join();
  CHECK(fast::release_memory() == 0);
}

TEST_CASE("memory that is asked for while calls use it does not change their answers", "[unit]") {
  auto const asked = problem_of(200);
  auto const expected = asked.answer(0);
  std::atomic<bool> ended = false;
  std::thread releases([&] {
    while (!ended) fast::release_memory();
  });
  std::atomic<int> different = 0;
  std::vector<std::thread> calls;
  for (int caller = 0; caller < 3; ++caller)
    calls.emplace_back([&] {
      for (int call = 0; call < 300; ++call) different += asked.answer(0) != expected;
    });
  for (std::thread& caller : calls) caller.join();
  ended = true;
  releases.join();
  CHECK(different == 0);
}

}  // namespace attest::tests::kept_memory_test
