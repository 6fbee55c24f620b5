// What the search for a condition asks, and what it is answered.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "audit/cases/forms/call_form.hpp"

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

/// The values that are asked where usual ones show nothing.
inline constexpr std::array special_values{value_form::nan_value, value_form::weightless_nan, value_form::far_block};

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
  /// Is it true of a call of this form? Values other than Gaussian are not told by forms: they count as true. None: it
  /// is about the calls before.
  std::function<bool(call_form const&)> holds = {};
};

}  // namespace attest::audit
