// Landlock: what a kernel may write, and whom it may signal. It needs no right to begin with.
// Source    landlock(7), and the documentation of each ABI in Documentation/userspace-api/landlock.rst
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/isolation/runner/protections.hpp"

namespace attest::audit::runner {

/// Rights of files, as the ABI numbers them. Those to read and to run are not restricted.
enum landlock_right : std::uint64_t {
  write_file = 1 << 1,
  change_folder = 0x1FF << 4,  ///< remove and make folders, files, links, sockets, FIFOs and devices (bits 4 to 12)
  refer = 1 << 13,             ///< ABI 2
  truncate_file = 1 << 14      ///< ABI 3
};

/// Allows `rights` for a file, or for all below a folder. What does not exist needs no rule.
inline void allow(int rules, char const* path, std::uint64_t rights) noexcept {
  constexpr long add_rule = 445, path_beneath = 1;
  struct [[gnu::packed]] {
    std::uint64_t rights;
    std::int32_t file;
  } rule = {rights, open(path, O_PATH | O_CLOEXEC)};
  struct stat about{};
  if (rule.file < 0) return;
  if (fstat(rule.file, &about) == 0 && !S_ISDIR(about.st_mode)) rule.rights &= write_file | truncate_file;
  syscall(add_rule, rules, path_beneath, &rule, 0);
  close(rule.file);
}

/// Restricts this process and all that it starts. `writable` is the folder that it may write, or null.
/// Requires  no_new_privs
inline void restrict_with_landlock(char const* writable, protection_faults& faults) noexcept {
  constexpr long create_rules = 444, restrict_self = 446;
  constexpr unsigned ask_version = 1;
  long const version = syscall(create_rules, nullptr, 0, ask_version);
  if (version < 1) {
    faults.set(protection::writes, errno), faults.set(protection::signals, errno);
    return;
  }
  struct {
    std::uint64_t files, network, scopes;
  } handled = {write_file | change_folder, 0, 0};
  std::size_t bytes = sizeof handled.files;
  if (version >= 2) handled.files |= refer;
  if (version >= 3) handled.files |= truncate_file;
  if (version >= 4) handled.network = 3, bytes = sizeof handled.files + sizeof handled.network;  // TCP: bind, connect
  if (version >= 6) handled.scopes = 3, bytes = sizeof handled;  // abstract sockets, signals
  int const rules = static_cast<int>(syscall(create_rules, &handled, bytes, 0));
  int fault = rules < 0 ? errno : 0;
  if (fault == 0) {
    if (writable) allow(rules, writable, handled.files);
    for (char const* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/dri",
                               "/dev/kfd", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"})
      allow(rules, device, handled.files & (write_file | truncate_file));
    for (int n = 0; n < 16; ++n) {
      char accelerator[32];
      std::snprintf(accelerator, sizeof accelerator, "/dev/nvidia%d", n);
      allow(rules, accelerator, handled.files & (write_file | truncate_file));
    }
    if (syscall(restrict_self, rules, 0) != 0) fault = errno;
    close(rules);
  }
  faults.set(protection::writes, fault);
  faults.set(protection::signals, fault != 0 ? fault : version < 6 ? EOPNOTSUPP : 0);
}

}  // namespace attest::audit::runner
