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

#include "audit/isolation/runner/landlock.hpp"
#include "audit/isolation/runner/needs.hpp"

namespace attest::audit::runner {

/// CAP_DAC_READ_SEARCH. Of root's capabilities, a kernel keeps this one: it lies where root has put it, which other
/// users often cannot read.
inline constexpr int capability_to_read = 2;
/// CAP_DAC_OVERRIDE, which most containers leave to root when they take the other. It permits writes, too: a kernel
/// keeps it in place of the other only if Landlock refuses every write by itself.
inline constexpr int capability_to_open = 1;

constexpr std::uint64_t bit_of(int capability) noexcept { return std::uint64_t{1} << capability; }

/// Sets the permitted and effective capabilities of this process, as a bit for each, and the inheritable ones: a
/// program started by this process may keep the latter.
inline bool set_capabilities(std::uint64_t bits, std::uint64_t inheritable = 0) noexcept {
  struct {
    std::uint32_t version;
    std::int32_t process;
  } const header = {0x20080522, 0};  // _LINUX_CAPABILITY_VERSION_3
  struct {
    std::uint32_t effective, permitted, inheritable;
  } const sets[2] = {
      {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(inheritable)},
      {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits >> 32),
       static_cast<std::uint32_t>(inheritable >> 32)}};
  return syscall(SYS_capset, &header, sets) == 0;
}

/// A user that no file and no process has: no real user's numbers begin so high, and no two runners have the same.
inline unsigned unused_user(unsigned process) noexcept { return 0x7A000000u + (process & 0x3FFFFFu); }

/// From root to `user`. Of the capabilities, capability_to_read stays, or else capability_to_open. 0, or the error.
inline int drop_root(unsigned user, kernel_needs const& needs) noexcept {
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
  if (set_capabilities(bit_of(capability_to_read))) return 0;
  // Landlock handles every write from ABI 3 on. Sockets in the file system it does not, and a device may be written.
  bool const writes_nothing = landlock_rules::version() >= 3 && !needs.device && !needs.network;
  if (writes_nothing && set_capabilities(bit_of(capability_to_open))) return 0;
  return set_capabilities(0) ? 0 : errno;
}

/// For the case that Landlock does not hold after all.
inline void give_up_capability_to_open() noexcept {
  if (!set_capabilities(bit_of(capability_to_read))) set_capabilities(0);
}

/// If this process has one of the two capabilities, the program that it becomes gets it, too.
/// Source    capabilities(7), ambient
inline void keep_capability() noexcept {
  for (int const capability : {capability_to_read, capability_to_open})
    if (set_capabilities(bit_of(capability), bit_of(capability))) {
      prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
      return;
    }
}

/// An ordinary user has no capability outside, but all in a user namespace of its own. 0, or the error.
inline int drop_capabilities() noexcept { return set_capabilities(0) ? 0 : errno; }

}  // namespace attest::audit::runner
