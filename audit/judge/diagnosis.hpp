// What a wrong answer looks like: the mistakes that kernels really make, tried one by one.
#pragma once

#include <string>

#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// What a wrong element of O equals instead of the truth.
struct diagnosis {
  std::string sentence;                       ///< "it equals the answer without the mask", or empty
  std::optional<audit::bug_class> bug_class;  ///< that this mistake belongs to
};

/// Requires  wrong is a violation of output "o" with a finite `got`, found when judging `asked`
/// Cost      one row a hypothesis
diagnosis diagnose(owned_problem const& asked, violation const& wrong);

/// Adds a diagnosis to every violation that has one.
void diagnose_all(owned_problem const& asked, judgement& found);

}  // namespace attest::audit
