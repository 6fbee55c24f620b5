// How an audit keeps the kernel apart, in words for its report.
#pragma once

#include <string>
#include <vector>

#include "audit/isolation/isolated_kernel.hpp"

namespace attest::audit {

/// What every call of the audit has: that of isolated_kernel, with these limits.
/// `missing` are those that the system forbids.
std::vector<std::string> protections_of(isolation_limits const& limits, std::vector<std::string> const& missing);

}  // namespace attest::audit
