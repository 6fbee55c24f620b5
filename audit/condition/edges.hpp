// One number of a form: where a kernel is wrong along it.
#pragma once

#include <functional>
#include <optional>

#include "audit/condition/clause.hpp"
#include "audit/condition/question.hpp"

namespace attest::audit {

/// The answer for one value of the number.
using number_asker = std::function<answer(std::int64_t)>;

struct number_line {
  std::int64_t wrong_at = 0;
  std::optional<std::int64_t> right_at = {};  ///< a value that is known to be right
  std::int64_t lowest = 1, highest = 1;       ///< asked for at most
};

struct number_answer {
  number_set set;                         ///< wrong where x is in it
  std::int64_t step = 1;                  ///< the kernel takes wrong_at + k·step
  std::int64_t lowest_wrong = 0;          ///< the smallest that is known to be wrong down from wrong_at
  bool again = false;                     ///< above the set, a number is wrong again: it is no interval
  std::optional<std::int64_t> hole = {};  ///< right_at, where `set` holds it all the same
};

/// The set around wrong_at that all answers agree with: an interval, a residue class modulo a divisor of 64, 256, 480
/// or 336 (tiles of 3, 5, 7, 48, 80, 96, 112 …), all but multiples, powers of two; the last three within an interval.
/// Requires  the answer at wrong_at is wrong
/// Cost      about 6 questions, and log₂ of the distance for each edge
number_answer explore(number_line const& line, number_asker const& ask);

}  // namespace attest::audit
