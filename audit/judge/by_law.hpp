// Judging each row by its law (row_law.hpp).
#pragma once

#include <span>
#include <vector>

#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Judges as judge() does, by the conventions of the contract. Rows of docs/semantics.md are judged by judge(), the
/// others by the convention of the contract. Under lse_sink: excluded, the LSE is judged without the sink. Rows that
/// belong to no query are judged by padding_rows.
judgement judge_by_law(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                       std::span<row_index const> rows = {}, thoroughness how = thoroughness::report);

/// Is every element of these rows right, or outside what the contract promises? False if judging was cancelled, which
/// may leave rows out.
bool is_right_by_law(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                     std::span<row_index const> rows);

}  // namespace attest::audit
