// Judging the outputs of several calls of a case against each other.
#pragma once

#include <optional>

#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// The first element of the outputs of `further` whose bits differ from the bits of the first call. Returns nothing if
/// all bits agree.
/// Requires  further.is is same_bits or same_rows; `left_out` lists, in order, rows of `further` that are not compared
std::optional<violation> outputs_differ(audit_case const& kernel_case, owned_outputs const& first,
                                        further_call const& further, owned_outputs const& again,
                                        std::span<row_index const> left_out = {});

/// Merges the outputs for parts of the keys by their LSE, in double, and judges the result as the output for all keys.
/// The bound is the bound of a kernel that merges as many normalised parts. The roundings of this merge are smaller
/// than the roundings of such a kernel.
void judge_merge(audit_case const& kernel_case, case_outputs const& outputs, contract const& claim, case_result& into);

/// Judges O as weights, V being columns of the identity: they are not negative, exactly 0 for masked keys, and their
/// sum is 1 within the sum of the elements' bounds (Corollary V of docs/bound.md).
void judge_read_weights(audit_case const& kernel_case, case_outputs const& outputs, contract const& claim,
                        case_result& into);

/// Decodes from the digits of O the keys that each query read, and compares them with the keys that are visible to it.
/// The difference explains a wrong output; outputs within their bounds are never refuted. Keys are named only if the
/// row is within the bound of the answer with these keys: other digits mean nothing.
void judge_visibility(audit_case const& kernel_case, owned_outputs const& outputs, contract const& claim,
                      case_result& into);

}  // namespace attest::audit
