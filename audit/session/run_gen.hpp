// The cases of an audit as a file: `attest gen`.
#pragma once

#include <cstddef>
#include <vector>

#include "audit/session/options.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The cases that the options choose, as a safetensors file for a kernel that runs elsewhere.
problem::result<std::vector<std::byte>> run_gen(audit_options const& options);

}  // namespace attest::audit
