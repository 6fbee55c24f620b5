// The arguments of `--kernel` and `--channel`: the built-in kernel, a shared library and a function in it, a program,
// or a process that serves a kernel already.
#pragma once

#include <optional>
#include <string>

#include "audit/isolation/kernel_session.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The kernel of "builtin", "builtin:SET", PATH[:SYMBOL] if PATH:SYMBOL is not itself a file, or "command:WORDS": a
/// program, which is looked up as a shell does, and its arguments. With a `channel`, the process at its other end
/// serves the kernel, and reports call it `spec`.
/// Ensures   an error names `--kernel` and lists the kernels that exist; the library itself is not opened
problem::result<kernel_library> library_of(std::string const& spec, int channel = -1);

/// Why no process can serve a kernel through descriptor `channel`. Returns nothing if one can. Processes that this one
/// starts do not get the descriptor.
std::optional<problem::error> channel_fault(int channel);

/// A session with the kernel that `spec` names (kernel_session::open).
problem::result<kernel_session> open_kernel(std::string const& spec, int channel, interruption const& interrupted,
                                            isolation_limits const& limits);

}  // namespace attest::audit
