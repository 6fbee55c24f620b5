// One element of a gradient in double arithmetic: it chooses which mistake is meant, and is no truth.
#pragma once

#include <array>

#include "audit/cause/hypotheses/hypothesis.hpp"

namespace attest::audit {

/// The element (b, h, i, x) of a gradient of this pass, as a function of what pass.from says.
/// Requires  can_be_supposed(pass.problem); the O and LSE that a pass with formed_from::handed_alone needs
/// Ensures   NaN if a number that it depends on is
/// Cost      of dQ m·(d + dv); of the others that for every row that contributes, without m if the LSE is handed over
double near_gradient(answered_call const& pass, output_kind which, std::array<std::int64_t, 4> const& at);

}  // namespace attest::audit
