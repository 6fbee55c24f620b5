// Findings about merges in the coordinates of their parts.
#pragma once

#include "audit/report/report.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The axes of the parts, if the problem is a merge.
rows_of_parts rows_of(owned_problem const& problem);

/// Restates each finding about a merge in rows [b, hq, n] of the parts: indices, sizes, and the place that its
/// sentences name. Before, they belong to the merge's own problem, [b, hq·n, 1]. Nothing may look for the element in
/// the problem afterwards.
void in_rows_of_parts(report& of);

}  // namespace attest::audit
