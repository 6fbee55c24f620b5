// Diagnosis of wrong outputs: known mistakes of kernels are tried one by one.
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
diagnosis diagnose(owned_problem const& problem, violation const& wrong);

/// Adds its diagnosis to every violation that has one: a mistake, or the sum of the weights where the whole row is a
/// multiple of the exact one.
/// Requires  compact outputs, and what judging them by `claim` found
void diagnose_all(owned_problem const& problem, owned_outputs const& outputs, contract const& claim, judgement& found);

/// Is the whole answer right for a problem in which one of the known mistakes is made?
/// Cost      judging it once for each mistake, up to its first fault
bool one_mistake_explains(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                          std::span<row_index const> rows);

}  // namespace attest::audit
