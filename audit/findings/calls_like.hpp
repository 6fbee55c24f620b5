// Calls that tell mistakes apart which one input does not: the same call with ordinary numbers, and in other sizes.
#pragma once

#include <vector>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The call with Gaussian numbers in Q, K, V, dO, the sink and the bias, where a bias of −∞ stays; of attention,
/// that call with Q four times as large, for maxima that rise by much; if an input is subnormal, a call with normal
/// inputs and subnormal outputs; and calls of its form with more queries and keys, and with fewer, in the domain. They
/// are handed no O and LSE.
/// Ensures   the same calls for the same shape, the subnormal one apart; none of a merge, of packed or paged rows, or
/// below rank 4
std::vector<owned_problem> calls_like(owned_problem const& problem, call_domain const& domain);

}  // namespace attest::audit
