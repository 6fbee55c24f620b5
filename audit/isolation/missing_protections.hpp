// The protections that the system forbids, in words.
#pragma once

#include <string>
#include <vector>

#include "audit/isolation/runner/protections.hpp"

namespace attest::audit {

/// "an own view of processes (Operation not permitted)"; empty if every protection holds.
/// Requires  nothing: the faults come from another process
std::vector<std::string> missing_protections(runner::protection_faults const& faults);

}  // namespace attest::audit
