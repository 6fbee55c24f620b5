// The calls of a case, made again while the tensors of many calls are in memory.
#pragma once

#include "audit/isolation/kernel_session.hpp"
#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// Makes the calls of a case in groups, from kernel_case.callers threads at the same time. Judges every output whose
/// bits differ from the single call's (those were judged before). A call that was refused alone is left out. If several
/// threads call at once, a fault is only an observation unless rules.concurrent: attest/kernel.h does not promise such
/// calls. After one group of several threads hung, no other is asked.
/// Requires  callers > 0; `alone`: the outputs of the calls, one by one; `seconds`: how long these calls took
/// Cost      one group of at most 16 calls and about half a second. If several threads call, up to eight groups, as
///           long as they took less than 0.05 s
std::optional<problem::error> ask_together(audit_case const& kernel_case, kernel_session& kernel,
                                           judging_rules const& rules, case_outputs const& alone, double seconds,
                                           case_result& into);

}  // namespace attest::audit
