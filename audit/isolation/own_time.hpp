// A clock that stands still while other programs have the processors, so that a busy machine asks a kernel as much as a
// quiet one does.
#pragma once

#include <chrono>

namespace attest::audit {

/// What a group of threads did in some time by the clock, in seconds.
struct group_time {
  double running = 0;  ///< with a processor, summed over the threads
  double queued = 0;   ///< ready to run without one
  double passed = 0;   ///< by the clock
};

/// The time, and the time of processes that ended meanwhile. Linux does not say how long they waited: as long as any
/// thread does if `runnable` threads are ready to run for each processor of the machine.
group_time with_ended(group_time time, double processor_seconds, double runnable) noexcept;

/// The share of the processors that it could use which the group had: in (0, 1]. It could use as many as it has threads
/// ready to run, and at most `processors`. Time in which its threads were idle counts as if it had all of them.
double share_of_processors(group_time const& time, double processors) noexcept;

/// Processors that this process may use: of its affinity, and of the quota of its control group.
/// Source    sched_getaffinity(2); Linux, Documentation/admin-guide/cgroup-v2.rst, cpu.max
double usable_processors();

/// The time of this process and of all below it: the clock times the share of the processors that they had. It is the
/// clock where the system does not count waiting threads, and it is never slower than an eighth of the clock.
class own_time {
 public:
  using clock = std::chrono::steady_clock;

  /// The clock, less the time that other programs took since the first call.
  /// Cost      twice a second one read of /proc for each process of the machine and each thread below this process
  static clock::time_point now();

  /// The share of the processors in the last second or so.
  static double share();
};

}  // namespace attest::audit
