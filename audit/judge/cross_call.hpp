// Judging the outputs of several calls of a case against each other.
#pragma once

#include <optional>

#include "audit/judge/judge_case.hpp"

namespace attest::audit {

/// The first element of the outputs of `further` whose bits differ from those of the first call; nothing where all
/// agree.
/// Requires  further.is is same_bits or same_rows; `left_out`, rows of `further` that are not compared, in order
std::optional<violation> outputs_differ(audit_case const& kernel_case, owned_outputs const& first,
                                        further_call const& further, owned_outputs const& again,
                                        std::span<row_index const> left_out = {});

/// Merges the outputs for parts of the keys by their LSE, in double, and judges the result as the output for all keys.
/// The bound is that of a kernel that merges as many normalised parts: the roundings of this merge are smaller than
/// those it allows.
void judge_merge(audit_case const& kernel_case, case_outputs const& outputs, contract const& claim, case_result& into);

/// Judges O as weights, V being columns of the identity: they are not negative, exactly 0 for masked keys, and their
/// sum is 1 within the sum of the elements' bounds (Corollary V of docs/bound.md).
void judge_read_weights(audit_case const& kernel_case, case_outputs const& outputs, contract const& claim,
                        case_result& into);

/// Compares the keys that each query read, decoded from the digits of O, with those that are visible to it, and
/// explains a wrong output by the difference. It never refutes outputs that are within their bounds, and names no keys
/// where the row is outside the bound of the answer with these keys: such digits mean nothing.
void judge_visibility(audit_case const& kernel_case, owned_outputs const& outputs, contract const& claim,
                      case_result& into);

}  // namespace attest::audit
