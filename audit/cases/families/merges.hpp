// Merges of partial results, for kernels that export attest_merge.
#pragma once

#include <string_view>
#include <vector>

#include "audit/cases/case.hpp"

namespace attest::audit {

/// The check whose cases are merges. They are not in generated_cases: recorded calls of attention do not answer them.
inline constexpr std::string_view check_of_merges = "merge";

/// The cases of check_of_merges, in a fixed order, with parts of options.type.
std::vector<audit_case> merge_cases(case_options const& options);

}  // namespace attest::audit
