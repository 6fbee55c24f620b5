// The seccomp filter of this process, which the judge has made (audit/isolation/system_call_filter.hpp).
#pragma once

#include <cerrno>
#include <cstddef>

#include <linux/filter.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/isolation/runner/protocol.hpp"

namespace attest::audit::runner {

static_assert(sizeof(sock_filter) == sizeof(std::uint64_t), "a message holds instructions as words of 64 bits");

/// Receives the filter and puts this process, and all that it starts, behind it. 0, or the error.
/// Requires  no_new_privs
inline int filter_system_calls() noexcept {
  static filter_message message;
  ssize_t count = 0;
  do count = recv(channel_descriptor, &message, sizeof message, 0);
  while (count < 0 && errno == EINTR);
  auto const head = static_cast<ssize_t>(offsetof(filter_message, instructions));
  if (count < head || message.magic != filter_magic || message.count > most_instructions ||
      count != head + static_cast<ssize_t>(message.count * sizeof(std::uint64_t)))
    _exit(0);
  if (message.count == 0) return EOPNOTSUPP;
  sock_fprog const program{static_cast<unsigned short>(message.count),
                           reinterpret_cast<sock_filter*>(message.instructions)};
  // A filter must not slow the kernel's own code down, as the mitigation of speculative stores would.
  constexpr unsigned set_filter = 1, speculation_as_before = 1u << 2;
  if (syscall(SYS_seccomp, set_filter, speculation_as_before, &program) == 0) return 0;
  return syscall(SYS_seccomp, set_filter, 0u, &program) == 0 ? 0 : errno;
}

}  // namespace attest::audit::runner
