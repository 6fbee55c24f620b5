// Diagnosis of wrong outputs: the plain mistakes among the hypotheses are tried one by one, on a whole row.
#pragma once

#include <string>
#include <string_view>

#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The mistake that explains the row of a wrong element of O.
struct diagnosis {
  std::string sentence;  ///< "all 64 outputs of its row equal the answer without the mask", or empty
  std::optional<audit::bug_class> bug_class;  ///< of the mistake
};

/// Requires  wrong is a violation of output "o" with a finite `got`, found when judging `problem`
/// Ensures   every element of the row is within the bound of that answer. At the wrong element that answer differs
///           from the exact one by more than the bound, and four times more than from the kernel's
/// Cost      one row for each mistake that is tried
diagnosis diagnose(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                   violation const& wrong);

/// Takes the clause "it equals …" out of a sentence if it has the answer of another mistake: for some calls the answers
/// of two mistakes are the same. Changes nothing if the named mistake has no plain answer.
void keep_answer_of(std::string_view mistake, std::string& sentence);

}  // namespace attest::audit
