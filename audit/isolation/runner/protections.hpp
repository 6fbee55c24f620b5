// The protections that keep a kernel from its judge. Each holds by itself; the runner tries them all and says which of
// them the system forbids.
#pragma once

#include <cstdint>

namespace attest::audit::runner {

enum class protection : std::uint32_t {
  processes,      ///< a PID namespace, and a /proc of its own
  files,          ///< every mount is read-only except a small scratch folder, in a mount namespace
  network,        ///< a network namespace
  ipc,            ///< an IPC namespace
  user,           ///< not root, and no capability except one to open files if root started the audit
  no_new_rights,  ///< no_new_privs
  system_calls,   ///< a seccomp filter
  writes,         ///< Landlock: no file is written or made except in the scratch folder (ABI 3 if mounts are writable)
  reads,          ///< Landlock: no file is read except files of the system and of the kernel
  signals,        ///< no signal to a process outside: by a PID namespace, or by Landlock (ABI 6)
  count
};
inline constexpr auto protection_count = static_cast<std::uint32_t>(protection::count);

/// The error of the system for each protection; 0 if it holds.
struct protection_faults {
  std::int32_t of[protection_count];

  void set(protection which, int fault) noexcept { of[static_cast<std::uint32_t>(which)] = fault; }
  bool holds(protection which) const noexcept { return of[static_cast<std::uint32_t>(which)] == 0; }
};

}  // namespace attest::audit::runner
