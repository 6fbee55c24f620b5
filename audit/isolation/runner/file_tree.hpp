// The files of a kernel: the system's files, read-only, with a /proc of its processes alone and a small scratch folder.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace attest::audit::runner {

/// The scratch folder, where POSIX shared memory lies as well. TMPDIR names it.
inline constexpr char scratch[] = "/dev/shm";
inline constexpr char scratch_options[] = "size=64m,nr_inodes=4096,mode=1777";

/// Keeps changes of mounts from the namespace that was copied to make this one. Returns 0, or the error; then no mount
/// may be made.
///
/// After chroot, "/" is a folder inside a mount that cannot be changed from here. Then a copy of it and of everything
/// below becomes "/". The copy lies over /proc, since that is a mount of its own, and a mount over a private mount
/// stays in this namespace.
inline int make_mounts_private() noexcept {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) return 0;
  char folder[PATH_MAX];
  bool const has_folder = getcwd(folder, sizeof folder) != nullptr;
  if (mount(nullptr, "/proc", nullptr, MS_PRIVATE, nullptr) != 0 ||
      mount("/", "/proc", nullptr, MS_BIND | MS_REC, nullptr) != 0 ||
      mount(nullptr, "/proc", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || chroot("/proc") != 0 || chdir("/") != 0)
    return errno;
  // The working folder of the copy. It is "/" if the other was outside of this root.
  if (has_folder && chdir(folder) != 0) errno = 0;
  return 0;
}

/// Makes every mount of this namespace, now and below, read-only. Returns 0, or the error. Requires
/// make_mounts_private
inline int make_mounts_read_only() noexcept {
  struct {
    std::uint64_t set, clear, propagation, user_namespace;
  } const attributes = {/* MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID */ 3, 0, 0, 0};
  constexpr long mount_setattr_call = 442, recursive = 0x8000;  // glibc 2.36 names both
  return syscall(mount_setattr_call, AT_FDCWD, "/", recursive, &attributes, sizeof attributes) != 0 ? errno : 0;
}

/// Mounts a /proc of its own processes alone. CUDA's driver names its threads there, and does not start if it cannot.
/// With a device the mount may be written; Landlock and the owners of its files limit that.
/// Requires  the first process of a PID namespace
inline int mount_own_proc(bool device) noexcept {
  constexpr unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (device && mount("proc", "/proc", "proc", flags, nullptr) == 0) return 0;
  return mount("proc", "/proc", "proc", flags | MS_RDONLY, nullptr) != 0 ? errno : 0;
}

/// An empty folder of limited size in place of `scratch`, unless the library lies in there.
inline void mount_scratch(char const* library) noexcept {
  if (std::strncmp(library, scratch, sizeof scratch - 1) == 0) return;
  if (mount("tmpfs", scratch, "tmpfs", MS_NOSUID | MS_NODEV, scratch_options) == 0) setenv("TMPDIR", scratch, 1);
}

}  // namespace attest::audit::runner
