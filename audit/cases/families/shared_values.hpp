// Values for tensors that share memory: elements at the same place must be equal.
#pragma once

#include "audit/tensors/memory_form.hpp"
#include "audit/tensors/problem_draft.hpp"

namespace attest::audit {

/// Changes K and V so that memory_fault finds no elements that would share a place and differ. V becomes the first
/// columns of K; batch entries and heads become copies of the first; rows continue the rows before them.
/// Requires  compact K and V of rank 4; a form whose numbers are in range, with at most one of v_in_k and overlap
void share_values(problem_draft& p, memory_form const& form);

}  // namespace attest::audit
