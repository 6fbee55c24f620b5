// How an audit keeps the kernel apart, in words for its report.
#pragma once

#include <string>
#include <vector>

#include "audit/isolation/isolated_kernel.hpp"

namespace attest::audit {

/// The protections of every call of the audit: the protections of isolated_kernel, with these limits. The system
/// forbids the protections in `missing`. A kernel that is `served` by another process (kernel_library::channel) has
/// none.
std::vector<std::string> protections_of(isolation_limits const& limits, std::vector<std::string> const& missing,
                                        bool served);

}  // namespace attest::audit
