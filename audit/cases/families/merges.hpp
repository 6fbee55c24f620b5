// Merges of partial results, for kernels that export attest_merge.
#pragma once

#include <string_view>
#include <vector>

#include "audit/cases/case.hpp"
#include "problem/operators.hpp"

namespace attest::audit {

/// The check whose cases are merges. They are not in generated_cases: recorded calls of attention do not answer them.
inline constexpr std::string_view check_of_merges = problem::merge.name;

/// The cases of check_of_merges, in a fixed order, with parts of options.type. There are none if the options do not
/// want this check.
std::vector<audit_case> merge_cases(case_options const& options);

}  // namespace attest::audit
