// How far the fixed part of a slow kernel is asked.
#pragma once

#include <cstddef>

namespace attest::audit {

/// The fixed part of a slow kernel so far, in seconds since the audit began.
struct slow_pace {
  std::size_t done, half;       ///< cases
  double calls, calls_of_half;  ///< of these cases, without the first case of each check
  double spent, next;           ///< until now; by the next case, as the speed of the search foresees
  double first;                 ///< of `spent`, until each check had its first case
  double usual, most;           ///< of an audit; for the fixed part
};

/// Does the next case begin? The first one does. Others must end within the usual time, and until half of the cases
/// within `most`, if half of them fits by the speed since each check had its first case: with half of them an audit can
/// be decided.
constexpr bool may_go_on(slow_pace const& at) noexcept {
  if (at.done == 0 || at.spent + at.next <= at.usual) return true;
  constexpr double fewer = 0.9;  // a refused case is one call
  return at.done < at.half && at.spent + at.next <= at.most &&
         (at.spent - at.first) * fewer * at.calls_of_half <= (at.most - at.first) * at.calls;
}

}  // namespace attest::audit
