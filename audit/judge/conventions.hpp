// Judging by the conventions of a contract where they differ from docs/semantics.md.
#pragma once

#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The conventions that differ from docs/semantics.md: "empty_row: nan".
std::vector<std::string> relaxed(conventions const& how);

/// Judges as judge() does, except the rows for which a convention of the contract prescribes other outputs: these are
/// judged by the convention.
judgement judge_by_conventions(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                               std::span<row_index const> rows = {}, thoroughness how = thoroughness::report);

/// The outputs as docs/semantics.md has them, in the rows for which the contract prescribes others.
owned_outputs translated(owned_problem const& problem, owned_outputs const& outputs, contract const& claim);

/// Does Q, K, V or the bias hold a NaN or an infinity?
bool has_nonfinite(owned_problem const& problem);

}  // namespace attest::audit
