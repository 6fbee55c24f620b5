// How much a running process takes, seen from outside: limits that hold for root too, and that it cannot lift.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace attest::audit {

/// What a kernel's process and all that it starts may take.
struct process_limits {
  std::uint64_t resident_bytes = std::uint64_t{4} << 30;
  std::int64_t threads = 512;
};

/// The first limit that process `id` passes now, as a sentence: "holds 4.1 GiB of memory, 4.0 are allowed". Its peak
/// memory counts, so that a hog between two looks is seen.
/// Cost      one read of /proc
std::optional<std::string> passes_limits(int id, process_limits const& limits);

/// The same for everything in the process group `id`: what it has forked, too.
/// Cost      one read of /proc for each process of the machine
std::optional<std::string> group_passes_limits(int id, process_limits const& limits);

/// How long the threads of a process have been ready to run while other work had the processors: time that a limit of
/// seconds must not count, or a busy machine makes an honest process a hung one.
/// Source    proc(5), /proc/ID/task/TID/schedstat: nanoseconds on a run queue
class processor_wait {
 public:
  /// Counts from now on.
  explicit processor_wait(int id);
  /// Of the thread that has waited longest; 0 where the system does not say.
  /// Cost      one read of /proc for each thread
  std::chrono::nanoseconds so_far() const;

 private:
  int id_;
  std::unordered_map<int, std::int64_t> before_;  // by thread
};

}  // namespace attest::audit
