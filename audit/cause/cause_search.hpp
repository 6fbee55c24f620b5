// The search for the cause of failing inputs: every hypothesis is tried as the problem that the answers may satisfy, by
// the judge of ordinary answers. A wider bound is no cause by itself: right answers satisfy it too. Hypotheses about
// precision are tried only if rows of chosen scores confirmed them (score_rows.hpp).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/cause/cause.hpp"
#include "audit/cause/fit.hpp"
#include "audit/cause/hypotheses/hypothesis.hpp"
#include "audit/cause/score_rows.hpp"

namespace attest::audit {

/// A case of a report.
struct searched_case {
  std::string check, name;
  std::int64_t number = 0;
  std::vector<std::string> classes = {};  ///< bug classes of its violations

  std::string full_name() const { return check + "/" + name; }
};

/// Another contract under which failing cases were judged already.
struct holding_contract {
  std::string name, sentence;
  contract claim;
  std::set<std::int64_t> cases;  ///< the numbers of the cases that are certified by it
};

struct cause_question {
  /// In the order in which they are tried, except that within each round over the checks smaller failing cases go
  /// first.
  std::vector<searched_case> failing, passing;
  std::vector<holding_contract> contracts;
  /// Nothing where the case cannot be asked.
  std::function<std::optional<answered_case>(searched_case const&)> answers;
  /// Would the hypothesis change the problem of this case? It keeps the kernel from being asked in vain.
  std::function<bool(searched_case const&, hypothesis const&)> concerns;
  /// The multiplications of a case: small ones are tried first.
  std::function<double(searched_case const&)> products;
  /// Is this share of the time over?
  std::function<bool(double share)> late;
  /// The call with other numbers and in other sizes, to tell mistakes apart; none: the kernel cannot be asked.
  std::function<std::vector<answered_case>(searched_case const&)> telling_apart = {};
  /// What was seen of the kernel's arithmetic, asked once and only if no other hypothesis explains everything; none:
  /// nothing is known of it.
  std::function<seen_arithmetic()> arithmetic = {};
};

/// The smallest set of hypotheses that explains all failing cases that were tried, with what passing cases say of them;
/// where one failing case alone was tried, all hypotheses that explain it. A set of several is one only if no passing
/// case contradicts any of them. Without such a set: the hypotheses that explain the most, as `partly`.
/// Ensures   the same result for the same answers, where it is not late before the end
std::optional<named_cause> find_cause(cause_question const& asked);

}  // namespace attest::audit
