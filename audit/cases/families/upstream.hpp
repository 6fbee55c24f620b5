// dO, the gradient that a backward pass begins with.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The names of cases whose dO lies in memory in another way.
std::vector<std::string_view> upstream_forms();

/// dO of a problem: numbers that the name of the case and the shape decide. Rows of no query hold NaN.
owned_tensor d_out_of(owned_problem const& problem, std::string_view name, std::uint64_t seed);

}  // namespace attest::audit
