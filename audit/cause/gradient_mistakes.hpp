// The mistakes of backward kernels that whole gradients show: the gradient of another problem, or from another delta or
// LSE than it was handed.
#pragma once

#include <string>

#include "audit/contract/contract.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The mistake that explains a wrong gradient, as a clause: every element is within its bound if the kernel makes this
/// mistake. Of several the first is named. Empty if none does, or if the problem is large, packed or paged.
/// Requires  a gradient of these outputs that judge_gradients refutes
/// Cost      judge_gradients of a small problem for each mistake that can be made there
std::string gradient_mistake(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                             output_kind kind);

}  // namespace attest::audit
