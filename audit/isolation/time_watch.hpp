// The time that a call of a kernel takes. A kernel hangs if it used too much processor time, or none at all. The clock
// does not count, so that a verdict does not depend on what else the machine does.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "audit/isolation/process_tree.hpp"

namespace attest::audit {

struct time_limits {
  double working = 10;   ///< seconds that one thread has had a processor; and on average each processor of the machine
  double resting = 60;   ///< seconds in which no process of the kernel has had a processor, or waited for one
  double waiting = 300;  ///< seconds by the clock; a longer call says nothing about the kernel
};

struct thread_time {
  double running = 0, queued = 0;  ///< seconds with a processor, and ready to run without one
};

/// The threads of process `id` by number. Empty if it has ended, or if the system does not count these times.
/// Source    proc(5), /proc/ID/task/TID/schedstat: nanoseconds with a processor, and on a run queue
std::unordered_map<int, thread_time> threads_of(int id);

/// Processors of the machine; at least 1.
/// Source    sysconf(3), _SC_NPROCESSORS_ONLN
double online_processors() noexcept;

/// On a quiet machine, and for a kernel that computes, `working` passes as the clock does.
class time_watch {
 public:
  enum class passed : std::uint8_t { nothing, working, resting, waiting };

  /// Measures process `id`, and all that it starts, from now on.
  time_watch(int id, time_limits limits);

  /// The first limit that has passed. `tree` are the processes of the kernel now (process_tree). If the judge itself
  /// was suspended, no idle time is charged: at most 1 s between observations.
  /// Cost      one read of /proc for each thread of process `id`
  passed observe(std::span<tree_process const> tree);

  /// The limit that passed, as a clause: "did not return within 10 s of processor time".
  std::string words(passed what) const;

 private:
  using clock = std::chrono::steady_clock;
  static double sum_of(std::span<tree_process const> tree);

  int id_;
  time_limits limits_;
  clock::time_point begun_ = clock::now(), observed_ = begun_;
  std::unordered_map<int, thread_time> before_;  ///< at the beginning, by thread
  double all_before_ = 0;                        ///< processor seconds of the tree at the beginning
  double all_ = 0;                               ///< and since then
  double rested_ = 0, all_at_rest_ = 0, queued_at_rest_ = 0;
};

}  // namespace attest::audit
