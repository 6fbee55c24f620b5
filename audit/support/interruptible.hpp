// Parallel work on TBB that can be cancelled.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <tbb/task_group.h>

namespace attest::audit {

/// Runs f on this thread. Once `cancelled()` is true, the parallel loops inside f skip the iterations that have not
/// begun; f itself runs to its end. An exception of f leaves this call.
/// Ensures   true if loops were cancelled; the result of f is then incomplete
/// Cost      one thread, which calls `cancelled` a hundred times a second
template <class F>
[[nodiscard]] bool interruptible(std::function<bool()> const& cancelled, F&& f) {
  tbb::task_group_context loops;  // cancelling it cancels every loop inside
  if (cancelled()) return true;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, was_cancelled = false;  // the context is reset when run_and_wait returns
  {
    std::jthread const watch([&] {
      std::unique_lock lock(mutex);
      while (!done) {
        changed.wait_for(lock, std::chrono::milliseconds(10));
        if (!done && cancelled()) {
          was_cancelled = true;
          loops.cancel_group_execution();
          return;
        }
      }
    });
    struct end_of_work {  // also if f throws: `watch` is joined after it
      std::mutex& mutex;
      std::condition_variable& changed;
      bool& done;
      ~end_of_work() {
        std::scoped_lock const lock(mutex);
        done = true;
        changed.notify_all();
      }
    } const end{mutex, changed, done};
    tbb::task_group(loops).run_and_wait(f);
  }
  return was_cancelled;
}

}  // namespace attest::audit
