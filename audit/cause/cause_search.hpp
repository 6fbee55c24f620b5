// The search for the cause of failing inputs: every hypothesis is tried as the problem, or the contract, that the
// recorded answers may satisfy, by the judge of ordinary answers.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/cause/cause.hpp"
#include "audit/cause/fit.hpp"
#include "audit/cause/hypotheses/hypothesis.hpp"

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
  bool less_precise = true;      ///< throughout; false: it allows another thing
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
};

/// The smallest set of hypotheses that explains the most failing cases, with what passing cases say of them; where one
/// failing case alone was tried, all hypotheses of a sort that explain it.
/// Ensures   the same result for the same answers, where it is not late before the end
std::optional<named_cause> find_cause(cause_question const& asked);

}  // namespace attest::audit
