// The plain form of a problem, which a kernel must be able to answer before any of its features is asked.
#pragma once

#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Can nearly every attention kernel answer this problem?
///
/// Ensures   rank 4, compact memory, dv = d, d a multiple of 8, as many key-value heads as query heads, n = m (then
///           both alignments of causal agree). At most one of mask, bias and band is there. Scale and softcap are free:
///           the checks of these names ask about them
bool is_plain(owned_problem const& problem);

}  // namespace attest::audit
