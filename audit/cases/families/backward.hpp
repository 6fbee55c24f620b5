// The check "backward": the calls of other checks with a dO, and calls that only gradients can get wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/cases/case.hpp"
#include "problem/operators.hpp"

namespace attest::audit {

inline constexpr std::string_view check_of_gradients = problem::backward.name;

/// The cases of the check, as calls of attention: what the kernel takes says which of them can be asked. A case that is
/// made from one of another check is called "CHECK-CASE".
std::vector<audit_case> backward_cases(case_options const& options);

/// The backward pass of each call of a case: the same tensors, and a dO.
/// Requires  calls that entries in slots or packed rows hold, of rank 4
/// Ensures   calls of the same shape have the same dO; a case of backward_cases has the dO that it needs. All elements
///           are judged
audit_case differentiated(audit_case of, std::uint64_t seed);

/// Of the first call rows and keys are judged that cost about `products` multiplications (sampled_gradients).
void judge_sample(audit_case& of, std::int64_t products, std::uint64_t seed);

}  // namespace attest::audit
