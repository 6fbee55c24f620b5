// How far the fixed part of a slow kernel is asked.
#pragma once

#include <cstddef>

namespace attest::audit {

/// The fixed part of a slow kernel so far, in seconds since the audit began.
struct slow_pace {
  std::size_t done, half;       ///< cases
  double calls, calls_of_half;  ///< of these cases, without the first turn
  double call;                  ///< as the search foresees
  double spent, next;           ///< until now; by the next case
  double first;                 ///< of `spent`, by the first turn: the first case of each check, if it has few calls
  double usual, most;           ///< of an audit; for the fixed part
};

/// Does the next case begin? The first one does. Others must end within the usual time. Until half of the cases, with
/// which an audit can be decided, they must end within `most`, and half of them must fit into it. That is foreseen by
/// the speed since the first turn, and before its end by the search.
constexpr bool may_go_on(slow_pace const& at) noexcept {
  if (at.done == 0 || at.spent + at.next <= at.usual) return true;
  constexpr double fewer = 0.9;  // a refused case is one call
  if (at.done >= at.half || at.spent + at.next > at.most) return false;
  if (at.calls == 0) return at.spent + at.call * fewer * at.calls_of_half <= at.most;
  return (at.spent - at.first) * fewer * at.calls_of_half <= (at.most - at.first) * at.calls;
}

}  // namespace attest::audit
