// A kernel under audit, in a process of its own. Crashes, hangs and broken promises become values of call_report; they
// cannot affect the auditing process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/isolation/call_report.hpp"
#include "audit/isolation/kernel_library.hpp"
#include "audit/isolation/kernel_needs.hpp"
#include "audit/isolation/process_limits.hpp"
#include "audit/isolation/time_watch.hpp"
#include "audit/tensors/memory_form.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/operators.hpp"
#include "problem/result.hpp"

namespace attest::audit {

struct isolation_limits {
  double seconds = 10;           ///< processor time of one call (time_limits::working)
  double resting_seconds = 60;   ///< time without any processor time, in one call or while the library is loaded
  double waiting_seconds = 300;  ///< by the clock, for either; a call that takes longer is unanswered
  double loading_seconds = 10;   ///< of processor time for loading the library
  std::uint64_t bytes = std::uint64_t{4} << 30;  ///< for the tensors of one call; gaps between pieces do not count
  std::uint64_t address_bytes = std::uint64_t{16} << 40;  ///< of address space for one call
  process_limits process = {};   ///< memory in addition to the tensors, and threads, observed from outside
  bool all_protections = false;  ///< a kernel is not loaded if the system forbids one
  kernel_needs needs = {};       ///< what it may reach in addition to its own files
  outputs_rule outputs = {};     ///< of the calls of a session
};

/// The position of a tensor between the inaccessible pages on both sides.
enum class placement : std::uint8_t {
  end,       ///< its last byte is the last before inaccessible memory
  start,     ///< its first byte is the first after inaccessible memory
  unaligned  ///< one element past a multiple of 64 bytes, reached through byte_offset; NULL if a size is 0
};

struct call_request {
  bool want_lse = false, want_weights = false;
  std::int32_t threads = 1;
  audit::placement placement = audit::placement::end;
  memory_form memory = {};                  ///< its `unaligned` replaces `placement`
  std::atomic<bool> const* stop = nullptr;  ///< when it becomes true, the call ends as `cut_short`
  std::optional<std::chrono::steady_clock::time_point> until = {};  ///< at this time, the call ends as `cut_short`
};

/// One of several calls during which the tensors of all calls stay in memory.
struct call_of_group {
  owned_problem const* problem = nullptr;
  call_request request{};
  std::uint32_t caller = 0;   ///< the thread that makes it, from 0; each thread makes its calls in order
  double repeat_seconds = 0;  ///< the call is repeated for so long, until the bits of its outputs change
};

struct call_answer {
  call_report report;
  owned_outputs outputs;  ///< set if report.outcome is succeeded
};

/// A kernel in a process of its own: a shared library that exports the interface of attest/kernel.h and is loaded there
/// (attest-runner), or another kind of kernel_library.
///
/// The process is reused for all calls, and started again after a crash, an exit or a hang. It is killed when the
/// thread that started it ends (the next call then starts another), and leaves no core file. docs/isolation.md says
/// what it can reach. Not safe for concurrent calls: use one isolated_kernel a thread.
class isolated_kernel {
 public:
  /// Loads `library` and finds `symbol`. An error says why the file is not a usable library, or what happened while it
  /// was loaded. An empty `runner` means locate_runner().
  static problem::result<isolated_kernel> open(std::filesystem::path const& library,
                                               std::string symbol = problem::attention.symbol,
                                               isolation_limits limits = {}, std::filesystem::path runner = {});

  /// The same for a kernel of any kind. A program runs in the cage of a library, and says itself when it is ready. A
  /// process that serves already is neither isolated nor ended: its actions between calls are not seen, a call that
  /// does not return is unanswered, and the channel to it is closed instead of killing it.
  static problem::result<isolated_kernel> open(kernel_library const& kernel, isolation_limits limits = {},
                                               std::filesystem::path runner = {});

  /// Runs the kernel once.
  /// Ensures   if the outcome is `succeeded`, `outputs` holds the first output of the operator and the requested ones,
  ///           compact, in the rank of the problem; elements that the kernel did not write are NaN. Otherwise `outputs`
  ///           is unchanged. An error means that the kernel could not be run (no memory, or it cannot be loaded again);
  ///           it is no evidence about the kernel's results.
  problem::result<call_report> run(owned_problem const& problem, call_request const& request, owned_outputs& outputs);

  /// The most calls of a group.
  static constexpr std::size_t most_together = 16;

  /// Runs the kernel several times, from one thread or from several at the same time. The tensors of all calls stay in
  /// memory until the last call has returned; they are read after that. Together the calls may take limits.seconds and
  /// `more_seconds`.
  /// Requires  1 to most_together calls, whose callers are 0 … threads − 1; all requests have the stop and until of the
  ///           first
  /// Ensures   an answer to each call, as run gives it; if the process ended or took too long, every report says so
  problem::result<std::vector<call_answer>> run_together(std::span<call_of_group const> calls, double more_seconds = 0);

  /// The kernel's own name (attest_kernel_name), made printable, else the name of the file.
  std::string const& name() const noexcept;

  /// True if loading the library changed the rounding mode or FTZ/DAZ (as -ffast-math does). Calls run with the
  /// environment from before.
  bool loading_changes_environment() const noexcept;

  /// The protections of docs/isolation.md that do not hold, each with the reason why the system forbids it. For a
  /// process that serves already, one sentence names all of them.
  std::vector<std::string> missing_protections() const;

  isolated_kernel(isolated_kernel&&) noexcept;
  isolated_kernel& operator=(isolated_kernel&&) noexcept;
  ~isolated_kernel();

 private:
  struct state;
  explicit isolated_kernel(std::unique_ptr<state> started) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace attest::audit
