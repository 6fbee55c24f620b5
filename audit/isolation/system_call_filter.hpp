// The system calls that a kernel's process may not make.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/isolation/kernel_needs.hpp"

namespace attest::audit {

/// A seccomp filter: each word is an instruction of struct sock_filter. Empty if libseccomp does not know this machine.
///
/// These are refused, as if the process lacked the right: to trace, read, write or limit another process; to make
/// mounts, namespaces, keys, BPF programs, performance counters; to set clocks, to load modules and to restart the
/// machine; to open files by handle; to push input into a terminal.
/// Without `needs.network`, no sockets can be made, except pairs that are no datagrams. With a device, Unix sockets of
/// packets may be made and wait for calls, since CUDA's driver does not start without them. clone3 and io_uring are
/// answered as by a system that does not have them, since a filter does not see their arguments. Calls of another
/// architecture's numbers end the process.
/// Source    seccomp(2), libseccomp
/// Cost      made once in a process
std::vector<std::uint64_t> const& system_call_filter(kernel_needs const& needs);

}  // namespace attest::audit
