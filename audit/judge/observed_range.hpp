// What a kernel answers to numbers beyond the range of a contract: observed and reported, never judged.
#pragma once

#include <optional>
#include <string>

#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// A sentence that says up to which size of V, or of q·k, O is finite, and what O is beyond. The sizes are taken along
/// the axis, columns or rows, along which the inputs differ more.
/// Requires  finite inputs of rank 4
/// Ensures   nothing if no O was returned, or O has no element
std::optional<std::string> observed_range(owned_problem const& problem, owned_outputs const& outputs);

}  // namespace attest::audit
