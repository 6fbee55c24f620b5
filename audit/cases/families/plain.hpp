// The plain form of a problem: what a kernel must be able to answer before any of its features is asked about.
#pragma once

#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Is this a problem that nearly every attention kernel can be asked?
///
/// Ensures   rank 4, compact memory, dv = d, d a multiple of 8, as many key-value heads as query heads, n = m (where
///           both alignments of causal agree), and at most one of mask, bias and band. Scale and softcap are free: they
///           are what the checks of these names ask about.
bool is_plain(owned_problem const& problem);

}  // namespace attest::audit
