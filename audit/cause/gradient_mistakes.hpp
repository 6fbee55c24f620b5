// The mistake of a backward kernel that one whole gradient shows.
#pragma once

#include <string>

#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// "in the backward pass, the mask is ignored": of a mistake that attention could make in any pass.
std::string in_backward_pass(std::string const& sentence);

/// The sentence of a hypothesis that explains a wrong gradient: every element of it is within its bound if the kernel
/// makes this mistake. Of several the first is named. Empty if none does, or if the problem is large.
/// Requires  `wrong` is an element of a gradient of these outputs that judge_gradients refutes
/// Cost      judge_gradients of a small problem for each mistake that can be made there
std::string gradient_mistake(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                             violation const& wrong);

}  // namespace attest::audit
