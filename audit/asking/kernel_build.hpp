// Identifies the build of the kernel that an audit asked, for its report.
#pragma once

#include <string>

#include "audit/report/report.hpp"

namespace attest::audit {

/// The build of the kernel that --kernel names, by its file as it is now. The built-in kernel is identified by its
/// version, instruction set and claim, since every machine builds it for itself.
/// Ensures   an unknown build (kernel_build::is_known) if there is no such kernel, or its file cannot be read
/// Cost      about 5 s for a library of a gigabyte
kernel_build build_of(std::string const& spec, int channel, problem::element_type type);

}  // namespace attest::audit
