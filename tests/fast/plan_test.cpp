// How a call is cut, in numbers and in words.
#include "fast/plan.hpp"

#include <algorithm>

#include "fast/algorithm/blocking.hpp"
#include "tests/support/catch.hpp"

namespace attest::fast::plan_test {

TEST_CASE("a plan covers every query once, and its working memory fits its caches", "[unit]") {
  for (std::int64_t const n : {1, 24, 25, 512, 16384})
    for (std::int64_t const heads : {1, 8})
      for (std::int64_t const m : {0, 1, 4096, 4097, 100000}) {
        problem::sizes const size{.b = 1, .hq = heads, .hk = heads, .n = n, .m = m, .d = 64, .dv = 64};
        for (int const threads : {1, 2, 8}) {
          plan const how = plan_of<float>(size, false, threads);
          plan_memory const memory = memory_of<float>(size, how);
          INFO(n << ' ' << heads << ' ' << m << ' ' << threads << '\n' << explained(how, memory));
          CHECK(how.blocks * how.block_rows >= how.rows);
          CHECK((how.blocks - 1) * how.block_rows < how.rows);
          CHECK(how.tasks == heads * how.blocks);
          CHECK((how.threads >= 1 && how.threads <= threads));
          CHECK(how.splits == std::max<std::int64_t>(1, ceiling_division(m, blocking_of<float>.split)));
          CHECK(memory.thread <= how.cache / 2 + (std::int64_t{1} << 20));  // d = dv = 64: K, V and strips beside them
          CHECK((memory.shared > 0) == how.shared);
        }
      }
}

TEST_CASE("beside a block mask, query blocks are longer, and Q has room for short strips", "[unit]") {
  problem::sizes const size{.b = 1, .hq = 1, .hk = 1, .n = 16384, .m = 16384, .d = 64, .dv = 64};
  std::vector<float> numbers(16384 * 64);
  std::uint8_t const set = 1;
  problem::arguments<float> asked;
  asked.q = asked.k = asked.v = {numbers.data(), problem::layout::compact({1, 1, 16384, 64})};
  plan const dense = plan_of(problem::instance<float>::make(asked).value(), false, 1, 1 << 20);
  asked.block_mask = problem::tensor<std::uint8_t const>{&set, problem::layout::compact({1, 1, 1, 1})};
  asked.block_q = asked.block_k = 16384;
  plan const blocks = plan_of(problem::instance<float>::make(asked).value(), false, 1, 1 << 20);
  CHECK(blocks.block_rows > 3 * dense.block_rows);
  plan as_dense = blocks;
  as_dense.block_mask = false;
  std::int64_t const Q = blocks.block_rows * size.d * static_cast<std::int64_t>(sizeof(float));
  CHECK(memory_of<float>(size, blocks).thread == memory_of<float>(size, as_dense).thread + Q);
}

TEST_CASE("a plan says what it decided and from which numbers", "[unit]") {
  plan how;
  how.threads = 2, how.cache = 1 << 20, how.key_block = 128, how.splits = 1, how.rows = 2048, how.block_rows = 1032;
  how.blocks = 2, how.tasks = 16;
  CHECK(explained(how, {.thread = 100 * 1024 + 1, .shared = 0}) ==
        "queries  2048 rows a kv head, in 2 blocks of 1032: Q, O and row states fill at most half of the second-level "
        "cache, 1024 KiB\n"
        "keys     blocks of 128, packed once for each block of queries; 1 partial row\n"
        "tasks    16 blocks of queries, on 2 threads\n"
        "memory   101 KiB a thread\n");
  how.rows = 1, how.block_rows = 24, how.blocks = 1, how.tasks = 1, how.splits = 8, how.shared = true, how.kept = 32768;
  how.in_place = true;
  CHECK(explained(how, {.thread = 1024, .shared = 2048}) ==
        "queries  1 rows a kv head, in 1 block of 24: Q, O and row states fill at most half of the second-level cache, "
        "1024 KiB\n"
        "keys     blocks of 128, read where they lie where they can be; 8 partial rows, merged "
        "in "
        "order\n"
        "tasks    1 block of queries, each split of the keys a task of its own (fewer blocks than twice the threads), "
        "on 2 "
        "threads\n"
        "memory   1 KiB a thread, 2 KiB of partial rows, 32768 scores a row kept for its weights\n");
}

}  // namespace attest::fast::plan_test
