// The strides of the parts of a merge in a call: odd parts may be one row, which stands for all of their rows.
#pragma once

#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Have the odd parts of a merge the same O and LSE in every row? Requires  draft.merge, with a bias
bool odd_rows_are_one(problem_draft const& merge);

/// The merge with NaN in all rows of its odd parts except the first: stride 0 does not reach them.
owned_problem with_one_row_in_odd_parts(owned_problem const& merge);

}  // namespace attest::audit
