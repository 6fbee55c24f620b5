// One case, asked of a kernel and judged.
#pragma once

#include "audit/isolation/kernel_session.hpp"
#include "audit/judge/judge_case.hpp"

namespace attest::audit {

/// Asks every call of the case, the first one twice: once with inaccessible memory behind its tensors, once before
/// them. Broken promises of attest/kernel.h, crashes, hangs and passed limits are violations. Ensures   every violation
/// has a class; `answered` holds what the kernel answered
problem::result<case_result> run_case(audit_case const& each, kernel_session& kernel, judging_rules const& rules,
                                      case_outputs* answered = nullptr);

}  // namespace attest::audit
