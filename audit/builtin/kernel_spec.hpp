// The argument of `--kernel`: the built-in kernel, or a shared library and a function in it.
#pragma once

#include <string>

#include "audit/isolation/kernel_session.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The library of "builtin", "builtin:SET", or PATH[:SYMBOL] where PATH:SYMBOL is not itself a file.
/// Ensures   an error names `--kernel` and lists the kernels that exist; the library itself is not opened
problem::result<kernel_library> library_of(std::string const& spec);

/// A session with the kernel that `spec` names (kernel_session::open).
problem::result<kernel_session> open_kernel(std::string const& spec, problem::element_type type,
                                            interruption const& interrupted, isolation_limits const& limits);

}  // namespace attest::audit
