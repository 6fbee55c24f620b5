// A loop over tasks, on the threads of oneTBB.
#pragma once

#include <cstdint>
#include <optional>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace attest::fast {

/// The arena of this thread's calls, kept from call to call: a new one takes some 50 µs until a second thread has
/// joined it.
inline oneapi::tbb::task_arena& arena_of_this_thread(int threads) {
  struct kept_arena {
    int threads = 0;
    std::optional<oneapi::tbb::task_arena> arena;
  };
  thread_local kept_arena kept;
  if (kept.threads != threads) kept.arena.emplace(threads), kept.threads = threads;
  return *kept.arena;
}

/// Calls run(first, last) for ranges that partition [0, count).
template <class Run>
void for_ranges(std::int64_t count, int threads, Run const& run) {
  if (threads == 1 || count == 1) return run(0, count);
  namespace tbb = oneapi::tbb;
  // Tasks neither wait nor start other tasks. Hence no schedule can deadlock, and no task can interrupt another task
  // that uses the memory of its thread.
  arena_of_this_thread(threads).execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, 1),
                      [&](auto const& range) { run(range.begin(), range.end()); });
  });
}

}  // namespace attest::fast
