// A process in namespaces of its own.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/isolation/runner/protections.hpp"

namespace attest::audit::runner {

/// Writes `text` to /proc/ID/NAME. False if the system refuses.
inline bool write_process_file(pid_t id, char const* name, char const* text) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", static_cast<int>(id), name);
  int const file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  auto const bytes = static_cast<ssize_t>(std::strlen(text));
  bool const whole = write(file, text, static_cast<std::size_t>(bytes)) == bytes;
  int const fault = errno;
  close(file);
  errno = fault;
  return whole;
}

/// In the user namespace of process `id`, this user and this group are themselves, and there are no others.
inline bool map_user(pid_t id) noexcept {
  char users[64], groups[64];
  std::snprintf(users, sizeof users, "%u %u 1\n", geteuid(), geteuid());
  std::snprintf(groups, sizeof groups, "%u %u 1\n", getegid(), getegid());
  // Groups may be mapped without privilege only if the process cannot change its list of them (user_namespaces(7)).
  return write_process_file(id, "uid_map", users) && write_process_file(id, "setgroups", "deny") &&
         write_process_file(id, "gid_map", groups);
}

/// A copy of this process as the first of new namespaces: as many of them as the system permits, possibly none. A user
/// namespace is one of them if this process has no right to make the others.
struct namespaced_process {
  pid_t id = -1;         ///< 0 in the copy
  int flags = 0;         ///< CLONE_NEW* of the namespaces that it has
  int fault = 0;         ///< why it does not have all; 0 if it has
  int from_parent = -1;  ///< in the copy: a pipe that ends when the process that made the copy does
};

/// Requires  one thread
/// Ensures   the copy runs after its users are mapped; both processes have the pipe
inline namespaced_process start_in_namespaces(bool keep_network) noexcept {
  constexpr int alone = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  constexpr int sets[] = {alone | CLONE_NEWNET, alone, CLONE_NEWUSER | alone | CLONE_NEWNET, CLONE_NEWUSER | alone, 0};
  namespaced_process process;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    process.fault = errno;
    return process;
  }
  for (int flags : sets) {
    if (keep_network) flags &= ~CLONE_NEWNET;
    process.flags = flags;
    // The C library's fork has no flags. The copy uses no function of the library that needs its own id before it forks
    // again.
    process.id = flags == 0
                     ? fork()
                     : static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (process.id < 0) {
      if (process.fault == 0 || (flags & CLONE_NEWUSER) == 0) process.fault = errno;
      continue;
    }
    if (process.id == 0) {
      close(ends[1]);
      process.from_parent = ends[0];
      char mapped = 0;
      if (read(ends[0], &mapped, 1) != 1 || mapped != 'm') _exit(0);
      return process;
    }
    bool const mapped = (flags & CLONE_NEWUSER) == 0 || map_user(process.id);
    if (!mapped) process.fault = errno;
    if (write(ends[1], mapped ? "m" : "n", 1) != 1) _exit(0);
    if (mapped) break;
    waitpid(process.id, nullptr, 0);
  }
  close(ends[0]);  // the other end stays open as long as this process lives
  return process;
}

}  // namespace attest::audit::runner
