// The gradients of one backward pass against the truth: every element, by the bound of the contract's gradient model.
#pragma once

#include <span>

#include "audit/contract/contract.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "audit/tensors/row_index.hpp"

namespace attest::audit {

/// What a gradient is a function of.
enum class formed_from : std::uint8_t {
  inputs,        ///< of the inputs: the gradient itself
  handed_alone,  ///< of the O and LSE that were handed over, whatever they are; for what explains a wrong gradient
};

/// Judges dQ, dK, dV, dBias and dSink in `outputs`, as far as they are there; of given `rows` (key_rows.hpp) the rows
/// of dQ, dK and dV alone. The errors of the O and LSE in `outputs` count, or else the errors of the O and LSE that the
/// problem hands to the kernel. Without an LSE, both count as the answers of a forward pass of the same contract. The
/// reading of the contract (beside_gradients.hpp) with the fewest wrong elements counts, for all elements.
/// Requires  a problem of a backward pass; gradients of the shapes and types of zero_gradient
/// Ensures   the same judgement for any number of threads
/// Cost      reference::gradient_source (of some rows some_of_group), and for elements that it leaves open
///           reference::enclose_gradients; the same for another reading if an element is wrong
judgement judge_gradients(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                          thoroughness how = thoroughness::report, formed_from what = formed_from::inputs,
                          std::span<row_index const> rows = {});

}  // namespace attest::audit
