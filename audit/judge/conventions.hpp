// Judging a kernel by the conventions that it documents, where they are not those of docs/semantics.md.
#pragma once

#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The conventions that differ from docs/semantics.md: "empty_row: nan".
std::vector<std::string> relaxed(conventions const& how);

/// judge(), with rows that the contract's conventions decide otherwise judged by those.
judgement judge_by_conventions(owned_problem const& asked, owned_outputs const& answer, contract const& claim);

/// Does Q, K, V or the bias hold a NaN or an infinity?
bool has_nonfinite(owned_problem const& asked);

}  // namespace attest::audit
