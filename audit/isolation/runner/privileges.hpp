// The user and the capabilities of a kernel.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/isolation/runner/needs.hpp"

namespace attest::audit::runner {

/// CAP_DAC_READ_SEARCH. Of the capabilities of root, a kernel keeps that to read files: it lies where root has put it,
/// which other users often cannot read.
inline constexpr int capability_to_read = 2;

/// Sets the permitted and effective capabilities of this process, as a bit for each, and the inheritable ones: those
/// that a program started by it may keep.
inline bool set_capabilities(std::uint64_t bits, std::uint64_t inheritable = 0) noexcept {
  struct {
    std::uint32_t version;
    std::int32_t process;
  } const header = {0x20080522, 0};  // _LINUX_CAPABILITY_VERSION_3
  struct {
    std::uint32_t effective, permitted, inheritable;
  } const sets[2] = {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits),
                      static_cast<std::uint32_t>(inheritable)},
                     {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits >> 32),
                      static_cast<std::uint32_t>(inheritable >> 32)}};
  return syscall(SYS_capset, &header, sets) == 0;
}

/// A user that no file and no process has: no one's numbers begin so high, and no two runners have the same.
inline unsigned unused_user(unsigned process) noexcept { return 0x7A000000u + (process & 0x3FFFFFu); }

/// From root to `user`. Of the capabilities, capability_to_read stays. 0, or the error.
inline int drop_root(unsigned user, kernel_needs const& needs) noexcept {
  constexpr std::uint64_t read_files = std::uint64_t{1} << capability_to_read;
  // The devices of accelerators belong to groups.
  constexpr std::size_t most = 64;
  gid_t groups[most];
  std::size_t count = 0;
  auto const add_group = [&](char const* path) {
    struct stat about{};
    if (count < most && stat(path, &about) == 0 && about.st_gid != 0) groups[count++] = about.st_gid;
  };
  if (needs.device) {
    visit_accelerators(add_group);
    for (char const* path : {"/dev/dri/renderD128", "/dev/dri/card0", "/dev/dri/card1"}) add_group(path);
  }
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return errno;
  if (setgroups(count, groups) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)
    return errno;
  if (!set_capabilities(read_files) && !set_capabilities(0)) return errno;
  return 0;
}

/// If this process has capability_to_read, the program that it becomes has it, too. Source    capabilities(7), ambient
inline void keep_capability() noexcept {
  constexpr std::uint64_t read_files = std::uint64_t{1} << capability_to_read;
  if (set_capabilities(read_files, read_files))
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability_to_read, 0, 0);
}

/// An ordinary user has none outside, but all in a user namespace of its own. 0, or the error.
inline int drop_capabilities() noexcept { return set_capabilities(0) ? 0 : errno; }

}  // namespace attest::audit::runner
