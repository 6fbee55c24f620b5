// One query of a problem by itself: what the judge changes of it concerns no other row.
#pragma once

#include <cstdint>

#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Query (b, h, i) of a problem of any rank with all keys of its head visible: no mask and no band. The bias is kept,
/// but that −∞ becomes 0. q [1, 1, 1, d], k [1, 1, m, d], v [1, 1, m, dv]; scale and softcap are those of the problem.
/// Cost      m·(d + dv) elements
problem_draft one_query(owned_problem const& whole, std::int64_t b, std::int64_t h, std::int64_t i);

/// That query with scale 0, no bias and no softcap: attention whose weights are all the same, so that O is the mean of
/// V.
problem_draft mean_of_values(owned_problem const& whole, std::int64_t b, std::int64_t h, std::int64_t i);

/// The outputs of that query, with the shapes of one_query's problem.
/// Requires  compact outputs that fit `whole`
owned_outputs one_answer(owned_problem const& whole, owned_outputs const& outputs, std::int64_t b, std::int64_t h,
                         std::int64_t i);

}  // namespace attest::audit
