// One answer against the truth: every element, under the contract's bound.
#pragma once

#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "problem/erased.hpp"

namespace attest::audit {

/// Judges every element of the outputs that `answer` has.
/// Requires  answer made by a kernel for `asked` or accepted by problem::make_outputs
/// Ensures   the same judgement for any number of threads
/// Cost      per row of m visible keys about m·(d + dv) exact products and m exponentials; memory O(m) a thread
judgement judge(problem::any_instance const& asked, owned_outputs const& answer, contract const& claim);

}  // namespace attest::audit
