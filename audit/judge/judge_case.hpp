// Judging a case: the outputs of each call against the truth, and the outputs of all calls against each other.
#pragma once

#include <span>

#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// Judges all outputs of a case.
/// Requires  calls that fit each other (calls_fault returns nothing), and outputs that fit them
void judge_case(audit_case const& kernel_case, case_outputs const& outputs, judging_rules const& rules,
                case_result& into);

/// Judges the elements that equal bits of two calls do not settle: rows that belong to no query, and outputs that the
/// first call does not have.
judgement judge_beside(owned_problem const& problem, owned_outputs const& first, owned_outputs const& again,
                       contract const& claim, std::span<row_index const> rows = {},
                       thoroughness how = thoroughness::report);

/// The row of `wrong` is wrong under another contract. Is one of its elements also wrong under this one?
bool is_wrong(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
              violation const& wrong);
/// Does this contract judge its row, every element of it, and find it right?
bool passes(owned_problem const& problem, owned_outputs const& outputs, contract const& claim, violation const& wrong);

}  // namespace attest::audit
