// One query of a problem by itself: the judge can change it without changing another row.
#pragma once

#include <cstdint>

#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Query (b, h, i) of a problem of any rank with all keys of its head visible: no mask and no band. The bias is kept;
/// −∞ is replaced by 0. Scale and softcap are kept.
/// Shapes    q [1, 1, 1, d], k [1, 1, m, d], v [1, 1, m, dv]
/// Cost      m·(d + dv) elements
problem_draft one_query(owned_problem const& whole, std::int64_t b, std::int64_t h, std::int64_t i);

/// The same query with scale 0, no bias and no softcap: all its weights are equal, so that O is the mean of V.
problem_draft mean_of_values(owned_problem const& whole, std::int64_t b, std::int64_t h, std::int64_t i);

/// The outputs of the same query, with the shapes of one_query's problem.
/// Requires  compact outputs that fit `whole`
owned_outputs one_answer(owned_problem const& whole, owned_outputs const& outputs, std::int64_t b, std::int64_t h,
                         std::int64_t i);

}  // namespace attest::audit
