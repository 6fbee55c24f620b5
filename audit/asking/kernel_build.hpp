// What tells the build of a kernel that an audit asked, for its report.
#pragma once

#include <string>

#include "audit/report/report.hpp"

namespace attest::audit {

/// The build of the kernel that --kernel names, by its file as it is now. The built-in kernel is known by its version,
/// instruction set and claim, since every machine builds it for itself.
/// Ensures   a build that is not known (kernel_build::is_known) where there is no such kernel, or its file cannot be
/// read Cost      about 5 s for a library of a gigabyte
kernel_build build_of(std::string const& spec, int channel, problem::element_type type);

}  // namespace attest::audit
