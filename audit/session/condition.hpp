// Names the condition under which a kernel is wrong ("wrong from n = 129 on"): asks it on purpose on both sides of the
// edge, from one form of a call that failed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/cases/call_form.hpp"

namespace attest::audit {

/// Asked in a process of its own: the calls before, one after another, then the judged call `repeats` times.
struct question {
  std::vector<call_form> before = {};
  call_form judged;
  std::int64_t repeats = 1;
};

enum class answer : std::uint8_t { right, wrong, refused };

struct given_answer {
  answer is = answer::right;
  /// The number of the first wrong call of the process, counted from 1, where it is known.
  std::int64_t first_wrong = 0;
  double bounds = std::numeric_limits<double>::infinity();  ///< of a wrong answer: its largest error
};

/// Nothing where no time is left.
using asker = std::function<std::optional<given_answer>(question const&)>;

/// A call that was judged before, in the order of the calls.
struct judged_form {
  call_form form;
  bool wrong = false;
};

struct condition {
  std::string sentence;              ///< "wrong where causal and grouped and m > 96"
  std::vector<std::string> clauses;  ///< "causal", "grouped", "m > 96"; none: wrong wherever it was asked
  std::int64_t questions = 0;
};

/// The smallest conjunction that was found of conditions on sizes, features, values, threads, memory and earlier calls.
/// It separates the wrong answers from the right ones among all that was asked around the failing form; where the
/// questions do not settle it, the sentence is an observation over the calls that were judged ("every failing input
/// has …; none that passes has").
/// Where the search met wrong answers outside the conjunction, it ends in ", and elsewhere too".
/// `element_bytes` are those of an element of the kernel's type.
/// Ensures   nothing where no conjunction fits, where the form fails by chance, or where time ended before one was seen
/// Cost      usually 30 to 90 questions, up to three times as many where an error is seen with some values only; ends
/// when `ask` returns nothing
std::optional<condition> find_condition(call_form const& failing, std::span<judged_form const> earlier,
                                        asker const& ask, std::int64_t element_bytes = 4);

}  // namespace attest::audit
