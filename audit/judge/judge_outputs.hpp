// The outputs of one call against the truth: every element, by the bound of the contract.
#pragma once

#include <span>

#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/row_index.hpp"
#include "problem/erased.hpp"

namespace attest::audit {

/// Judges every element of `outputs`, or, where `rows` is not empty, those of these rows.
/// Requires  outputs that a kernel wrote for `problem` or that problem::make_outputs accepts for it
///           `rows` in increasing order
/// Ensures   the same judgement for any number of threads
/// Cost      about m·(d + dv) exact products and m exponentials for a row of m visible keys; memory O(m) for each
/// thread
judgement judge(problem::any_instance const& problem, owned_outputs const& outputs, contract const& claim,
                std::span<row_index const> rows = {});

}  // namespace attest::audit
