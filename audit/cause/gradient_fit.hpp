// Whether the gradients of one backward pass fit a hypothesis.
#pragma once

#include <span>
#include <vector>

#include "audit/cause/fit.hpp"

namespace attest::audit {

/// The passes that are all right where the hypothesis is true. A hypothesis about attention, of a problem, is made of
/// the backward pass, too: the gradients are then the gradients of the problem that it supposes, from the handed O and
/// LSE. Empty: it does not concern this pass.
/// Requires  can_be_supposed(call.problem)
std::vector<answered_call> supposed_passes(hypothesis const& tried, answered_call const& call);

/// fit_of for one backward pass, whose wrong elements are `wrong`. Each must be nearer to what the hypothesis makes of
/// it than to the truth: a bound that is wider than their difference tells nothing.
/// Cost      judge_gradients for each supposed pass
fit fit_of_pass(hypothesis const& tried, answered_call const& call, std::span<violation const> wrong, double& worst);

}  // namespace attest::audit
