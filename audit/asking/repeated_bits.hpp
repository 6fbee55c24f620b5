// Whether an answer depends on its input, or its bits vary by themselves.
#pragma once

#include <initializer_list>
#include <optional>

#include "audit/cases/case.hpp"
#include "audit/isolation/kernel_session.hpp"

namespace attest::audit {

/// Why two answers differ: a clause for an observation.
inline constexpr char bits_vary[] = "the same call has other bits from time to time";

/// Asks calls of a case again.
class bit_repeater {
 public:
  bit_repeater(audit_case const& kernel_case, kernel_session& kernel, case_outputs const& outputs)
      : case_(kernel_case), kernel_(kernel), outputs_(outputs) {}

  /// Do these calls give the bits that they gave before, each time? Calls that fail say nothing.
  /// Cost      2 s in the kernel for all questions together, and one call
  problem::result<bool> repeats(std::initializer_list<std::size_t> calls, int times);

  double seconds() const noexcept { return seconds_; }  ///< in the kernel so far

 private:
  audit_case const& case_;
  kernel_session& kernel_;
  case_outputs const& outputs_;
  double seconds_ = 0;
  bool failed_ = false;
};

/// The case without its promises that further calls have the bits of the first call, where one of the two calls does
/// not repeat its bits: sums of threads in any order are honest. Returns nothing if all promises stay, as they do in
/// checks for nondeterminism, which ask whether bits repeat.
problem::result<std::optional<audit_case>> without_bits_that_vary(bit_repeater& repeater, audit_case const& of,
                                                                  case_outputs const& outputs);

}  // namespace attest::audit
