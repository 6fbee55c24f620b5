// The cause of failing inputs: the mistakes that explain them, as data of a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/cases/bug_class.hpp"

namespace attest::audit {

/// A mistake under which failing inputs are certified.
struct named_mistake {
  std::string name, sentence;  ///< as audit/cause/hypotheses/ has them
  std::int64_t explains = 0;   ///< failing inputs
  /// Of the inputs that pass and that the mistake would change: how many were tried, and how many are answered rightly
  /// all the same, so that the mistake is not made there.
  std::int64_t tried_passing = 0, contradicted = 0;
  std::vector<std::string> accepted = {};          ///< what --accept takes, and then it is no mistake
  std::optional<audit::bug_class> bug_class = {};  ///< of findings that it explains; none: it says nothing of a class
};

/// What explains the failing inputs that were tried, all of them: one mistake, or the smallest set of them. If only one
/// input was tried: every mistake that explains it, since one input does not tell them apart. One mistake may leave
/// fewer than half of the inputs open, where a kernel that makes it is promised nothing by the contract.
struct named_cause {
  std::vector<named_mistake>
      mistakes;  ///< the mistake that explains the most comes first; empty: nothing explains all inputs
  std::vector<named_mistake> partly;     ///< without a mistake above: mistakes that explain some
  std::int64_t explains = 0, of = 0;     ///< failing inputs that they explain together, and that were tried
  std::int64_t open = 0;                 ///< that a mistake above neither explains nor contradicts
  std::int64_t failed = 0;               ///< failing inputs; time may not allow to try them all
  std::vector<std::string> unexplained;  ///< those tried that nothing explains: CHECK/CASE, in the order of the cases
  std::string condition;                 ///< where the kernel is wrong: of all failing inputs that were judged
  double seconds = 0;                    ///< that the search took
  bool recorded = false;                 ///< the answers were recorded: the kernel could not be asked again

  /// Does each of the mistakes by itself explain the only input that was tried?
  bool is_ambiguous() const { return of == 1 && mistakes.size() > 1; }
};

}  // namespace attest::audit
