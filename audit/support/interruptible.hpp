// Work on TBB that can be ended before it is done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <tbb/task_group.h>

namespace attest::audit {

/// Runs f on this thread. As soon as `enough` says so, the parallel loops in f end early; f itself goes on to its end.
/// Ensures   true where they did: what f made is then a part of the whole
/// Cost      one thread, which looks a hundred times a second
template <class F>
[[nodiscard]] bool interruptible(std::function<bool()> const& enough, F&& f) {
  tbb::task_group_context loops;  // cancelling it cancels every loop inside
  if (enough()) return true;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, cut = false;  // the group forgets that it was cancelled when its wait ends
  {
    std::jthread const watch([&] {
      std::unique_lock lock(mutex);
      while (!done) {
        changed.wait_for(lock, std::chrono::milliseconds(10));
        if (!done && enough()) {
          cut = true;
          loops.cancel_group_execution();
          return;
        }
      }
    });
    tbb::task_group(loops).run_and_wait(f);
    std::scoped_lock const lock(mutex);
    done = true;
    changed.notify_all();
  }
  return cut;
}

}  // namespace attest::audit
