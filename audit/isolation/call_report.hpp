// What happened in a call of a kernel: its outcome, and the promises that it broke.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace attest::audit {

enum class call_outcome : std::uint8_t {
  succeeded,       ///< ATTEST_OK
  unsupported,     ///< ATTEST_UNSUPPORTED
  failed,          ///< ATTEST_FAILED
  unknown_status,  ///< another status, or a message that is not of the protocol
  crashed,         ///< code is the signal
  hung,            ///< passed a limit of its own time, working or resting, and was killed
  exited,          ///< code is the exit code
  exceeded,        ///< passed a limit of memory or threads, and was killed
  unanswered,      ///< passed the limit of the clock, and was killed; no evidence about the kernel
  cut_short,       ///< ended by request.stop or request.until; no evidence about the kernel
  not_asked        ///< the system cannot give the memory form of the call; no evidence about the kernel
};

/// A promise of attest/kernel.h that a call broke.
enum class promise : std::uint8_t {
  stays_inside,  ///< accesses no memory outside its tensors
  leaves_inputs,
  leaves_gaps,  ///< writes nothing between and around the rows of its outputs
  leaves_descriptors,
  restores_environment,  ///< rounding mode, FTZ/DAZ and x87 stack are on return as on entry
  writes_every_element,
  untouched_outputs,       ///< does not write outputs when it returns ATTEST_UNSUPPORTED
  rests_between_calls,     ///< does nothing after it has returned
  leaves_earlier_outputs,  ///< keeps no pointer: a later call does not write the outputs of an earlier one
};

struct broken_promise {
  promise which;
  std::string argument;  ///< the tensor, or empty
  std::string sentence;
};

/// What happened in one call.
struct call_report {
  call_outcome outcome = call_outcome::failed;
  int code = 0;          ///< the status, the signal or the exit code
  std::string sentence;  ///< "crashed with SIGSEGV: reads element 0 past the end of k"
  double seconds = 0;    ///< inside the kernel; 0 if it did not return
  /// The kernel failed with what may be its way to refuse a call (attest_serve_say): an assertion about sizes, an error
  /// whose text speaks of a limit. Or it ended its process by itself: by assert() or by exit().
  bool refusal_marked = false;
  bool alone = false;  ///< a backward pass that runs a forward pass of its own (attest_backward_is_alone)
  std::vector<broken_promise> broken;

  bool broke(promise which) const noexcept {
    return std::ranges::find(broken, which, &broken_promise::which) != broken.end();
  }
};

/// Whether a kernel that failed, or ended its process, may have meant that it does not take the call. It is a refusal
/// if a rule of the kernel's domain separates such calls from the answered ones.
inline bool may_be_refusal(call_report const& report) noexcept {
  return report.refusal_marked && report.broken.empty();
}

}  // namespace attest::audit
