// Runs a kernel on the calls of one case and judges the outputs.
#pragma once

#include "audit/isolation/kernel_session.hpp"
#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// Runs every call of the case. The first call runs twice: with inaccessible memory behind its tensors, and before
/// them. Outputs are judged under the contract that given.claim implies for this problem: for a merge, a preset of
/// merges. Broken promises of attest/kernel.h, crashes, hangs and exceeded limits are violations.
/// Ensures   every violation has a class; *outputs, if it is not null, holds the outputs of all calls
problem::result<case_result> run_case(audit_case const& kernel_case, kernel_session& kernel, judging_rules const& given,
                                      case_outputs* outputs = nullptr);

}  // namespace attest::audit
