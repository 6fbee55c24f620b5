// The memory and threads of a running process, observed from outside: limits that also hold for root, and that the
// process cannot raise.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace attest::audit {

/// Limits for the process of a kernel together with all processes that it starts.
struct process_limits {
  std::uint64_t resident_bytes = std::uint64_t{4} << 30;  ///< beside the tensors of a call
  std::int64_t threads = 512;
};

/// The first limit that process `id` exceeds, as a clause: "holds 4.10 GiB of memory, 4.00 are allowed"; none where it
/// exceeds none. Its peak memory counts, so that a peak between two observations is found; `not_its_own` bytes of it
/// do not.
/// Cost      one read of /proc
std::optional<std::string> passes_limits(int id, process_limits const& limits, std::uint64_t not_its_own = 0);

/// The same for the sum over all processes below the parent of process `id`: whatever it starts stays below that parent
/// (runner/caged_process.hpp).
/// Cost      one read of /proc for each process of the machine
std::optional<std::string> tree_passes_limits(int id, process_limits const& limits, std::uint64_t not_its_own = 0);

/// The time that threads of a process were ready to run while others had the processors. A limit of seconds must not
/// count it, else an honest kernel on a busy machine would be reported as hung.
/// Source    proc(5), /proc/ID/task/TID/schedstat: nanoseconds on a run queue
class processor_wait {
 public:
  /// Measures from now on.
  explicit processor_wait(int id);
  /// The time of the thread that has waited longest; 0 where the system does not report it.
  /// Cost      one read of /proc for each thread
  std::chrono::nanoseconds so_far() const;

 private:
  int id_;
  std::unordered_map<int, std::int64_t> waited_before_;  // nanoseconds, by thread
};

}  // namespace attest::audit
