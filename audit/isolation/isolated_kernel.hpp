// A kernel under audit, in a process of its own: what it does wrong is an answer here, never our crash.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/isolation/process_limits.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

struct isolation_limits {
  double seconds = 10;          ///< for one call; waiting for a processor does not count (processor_wait)
  double loading_seconds = 10;  ///< for loading the library, likewise
  std::uint64_t bytes = std::uint64_t{4} << 30;  ///< of all tensors of one call
  process_limits process = {};                   ///< memory and threads, watched from outside
};

/// Where a tensor lies between its two inaccessible neighbours.
enum class placement : std::uint8_t {
  end,       ///< its last byte is the last before inaccessible memory
  start,     ///< its first byte is the first after inaccessible memory
  unaligned  ///< one element past a multiple of 64 bytes, reached through byte_offset; NULL where a size is 0
};

struct call_request {
  bool want_lse = false, want_weights = false;
  std::int32_t threads = 1;
  placement where = placement::end;
  std::int64_t output_gap = 0;  ///< elements that the kernel must leave alone after each row of o, lse, weights
  std::atomic<bool> const* stop = nullptr;  ///< when it becomes true, the call ends as `cut_short`
  std::optional<std::chrono::steady_clock::time_point> until = {};  ///< then, too
};

enum class call_outcome : std::uint8_t {
  answered,
  unsupported,
  failed,          ///< ATTEST_FAILED
  unknown_status,  ///< another status, or an answer that the protocol does not know
  crashed,         ///< code is the signal
  hung,
  exited,    ///< code is the exit code
  exceeded,  ///< passed a limit of memory or threads, and was ended for it
  cut_short  ///< by request.stop or request.until; says nothing about the kernel
};

/// A promise of attest/kernel.h that a call broke.
enum class promise : std::uint8_t {
  stays_inside,  ///< touches nothing outside its tensors
  leaves_inputs,
  leaves_gaps,  ///< writes nothing between and around the rows of its outputs
  leaves_descriptors,
  restores_environment,  ///< rounding mode and FTZ/DAZ are as found
  writes_every_element,
  untouched_outputs,   ///< on ATTEST_UNSUPPORTED
  rests_between_calls  ///< does nothing after it returned
};

struct broken_promise {
  promise which;
  std::string argument;  ///< the tensor, or empty
  std::string sentence;
};

/// What one call did.
struct call_report {
  call_outcome outcome = call_outcome::failed;
  int code = 0;          ///< the status, the signal or the exit code
  std::string sentence;  ///< "crashed with SIGSEGV: reads element 0 past the end of k"
  double seconds = 0;    ///< inside the kernel; 0 where it did not return
  std::vector<broken_promise> broken;

  bool broke(promise which) const noexcept {
    return std::ranges::find(broken, which, &broken_promise::which) != broken.end();
  }
};

/// A shared library that exports the interface of attest/kernel.h, loaded in a process of its own (attest-runner).
///
/// The process is warm: it serves call after call, and is started anew after a crash, an exit or a hang. It dies with
/// the thread that started it (the next call then starts another), leaves no core file, and its standard input and
/// output are /dev/null. Not safe for concurrent calls: use one isolated_kernel a thread.
class isolated_kernel {
 public:
  /// Loads `library` and finds `symbol`. An error says in a sentence what the library is not, or what it did when it
  /// was loaded. An empty `runner` means locate_runner().
  static problem::result<isolated_kernel> open(std::filesystem::path const& library,
                                               std::string symbol = "attest_attention", isolation_limits limits = {},
                                               std::filesystem::path runner = {});

  /// Asks the kernel once.
  /// Ensures   where the outcome is `answered`, `answer` holds o and what was wanted, compact, in the rank of the
  ///           problem; elements that the kernel did not write are NaN. Otherwise `answer` is unchanged.
  ///           An error means that the kernel could not be asked (no memory, a kernel that does not load again) and
  ///           says nothing about the kernel's answers.
  problem::result<call_report> run(owned_problem const& asked, call_request const& request, owned_outputs& answer);

  /// What the kernel calls itself, printable, else the file's name.
  std::string const& name() const noexcept;

  /// Loading the library changed the rounding mode or FTZ/DAZ (-ffast-math does). Calls run as if it had not.
  bool loading_changes_environment() const noexcept;

  isolated_kernel(isolated_kernel&&) noexcept;
  isolated_kernel& operator=(isolated_kernel&&) noexcept;
  ~isolated_kernel();

 private:
  struct state;
  explicit isolated_kernel(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace attest::audit
