// Diagnosis of wrong outputs: the plain mistakes among the hypotheses are tried one by one.
#pragma once

#include <string>

#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The mistake that explains a wrong element of O.
struct diagnosis {
  std::string sentence;                       ///< "it equals the answer without the mask", or empty
  std::optional<audit::bug_class> bug_class;  ///< of the mistake
};

/// Requires  wrong is a violation of output "o" with a finite `got`, found when judging `problem`
/// Cost      one row for each mistake that is tried
diagnosis diagnose(owned_problem const& problem, contract const& claim, violation const& wrong);

}  // namespace attest::audit
