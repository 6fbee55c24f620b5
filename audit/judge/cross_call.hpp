// What the answers of several calls say together.
#pragma once

#include <optional>

#include "audit/judge/judge_case.hpp"

namespace attest::audit {

/// The first element of `further`'s answer whose bits are not those of the first call's; nothing where there is none.
/// Requires  further.is is same_bits or same_rows
std::optional<violation> answers_differ(audit_case const& each, owned_outputs const& first, further_call const& further,
                                        owned_outputs const& again);

/// The parts of the keys, merged by their LSE in double, judged as an answer to the whole. The bound is the theorem's
/// for a kernel that merges so many normalised parts: it covers this merge, whose own roundings are smaller.
void judge_merge(audit_case const& each, case_outputs const& given, contract const& claim, case_result& into);

/// O read as weights: non-negative, exactly 0 where masked, a sum of 1 within the sum of the elements' bounds.
void judge_read_weights(audit_case const& each, case_outputs const& given, contract const& claim, case_result& into);

/// The keys that each query read, from the digits of O, against those that it may see: what a wrong answer means. Never
/// refutes an answer that the bound lets pass.
void judge_visibility(audit_case const& each, owned_outputs const& answer, case_result& into);

}  // namespace attest::audit
