// The outputs of one call against the truth: every element, by the bound of the contract.
#pragma once

#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "problem/erased.hpp"

namespace attest::audit {

/// Judges every element of `outputs`.
/// Requires  outputs that a kernel wrote for `problem` or that problem::make_outputs accepts for it
/// Ensures   the same judgement for any number of threads
/// Cost      about m·(d + dv) exact products and m exponentials for a row of m visible keys; memory O(m) for each
/// thread
judgement judge(problem::any_instance const& problem, owned_outputs const& outputs, contract const& claim);

}  // namespace attest::audit
