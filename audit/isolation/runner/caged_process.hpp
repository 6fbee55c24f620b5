// The processes between the judge and a kernel:
//
//   judge ── waiting process ── first process of the namespaces ── the kernel's process
//
// The waiting process is the judge's child. It ends as the kernel's process ends, with its exit code or signal. If the
// judge asks it to end (SIGTERM) or ends itself, it kills all the others first. The first process only waits: the first
// process of a namespace ignores every signal for which it has no handler, so that abort would not end a kernel there.
// If the system permits no namespaces, the waiting process itself is the parent of the kernel's process. Every process
// that the kernel leaves behind then becomes its child, too, and is killed.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/isolation/runner/descendants.hpp"
#include "audit/isolation/runner/file_tree.hpp"
#include "audit/isolation/runner/landlock.hpp"
#include "audit/isolation/runner/limits.hpp"
#include "audit/isolation/runner/namespaces.hpp"
#include "audit/isolation/runner/needs.hpp"
#include "audit/isolation/runner/privileges.hpp"
#include "audit/isolation/runner/protections.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "audit/isolation/runner/reads.hpp"
#include "audit/isolation/runner/system_calls.hpp"

namespace attest::audit::runner {

/// Ends this process as another one has ended.
[[noreturn]] inline void end_as(int status) noexcept {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  int const number = WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL;
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  signal(number, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  kill(getpid(), SIGKILL);
  _exit(0);
}

/// What to do with a child that stopped. The kernel's process, which no terminal and no group of processes stops, is
/// ended if it stopped itself, and says why on the kernel's standard error. Any other child is continued, since no
/// other process would wake it.
inline void wake_or_end(pid_t child, int status, bool is_kernel) noexcept {
  if (!is_kernel || WSTOPSIG(status) != SIGSTOP) {
    kill(child, SIGCONT);
    return;
  }
  constexpr char said[] = "its process stopped itself by SIGSTOP; nothing continues it\n";
  [[maybe_unused]] auto const written = write(STDERR_FILENO, said, sizeof said - 1);
  kill(child, SIGKILL);
}

/// Waits for child `id`, or for the order to end. Through `report`, the first process of the namespaces says how the
/// kernel's process ended; −1 if `id` is the kernel's process.
[[noreturn]] inline void wait_outside(pid_t id, int report, sigset_t const& awaited) noexcept {
  close(channel_descriptor), close(memory_descriptor);
  int status = SIGKILL;
  for (;;) {
    int number = 0;
    if (sigwait(&awaited, &number) != 0) continue;
    if (number == SIGTERM && report < 0) {
      kill_descendants();
      end_as(SIGKILL);
    }
    if (number == SIGTERM) kill(id, SIGKILL);
    int ended = 0;
    pid_t which = 0;
    while ((which = waitpid(-1, &ended, number == SIGTERM ? 0 : WNOHANG | WUNTRACED)) > 0) {
      if (WIFSTOPPED(ended)) wake_or_end(which, ended, which == id && report < 0);
      if (which != id || WIFSTOPPED(ended)) continue;
      if (report < 0) status = ended;
      else if (read(report, &ended, sizeof ended) == sizeof ended) status = ended;
      kill_descendants();
      end_as(number == SIGTERM ? SIGKILL : status);
    }
  }
}

/// The first process of a PID namespace: waits for the kernel's process and says how it ended. Processes that are left
/// die with this one.
[[noreturn]] inline void wait_inside(pid_t kernel, int report) noexcept {
  close(channel_descriptor), close(memory_descriptor);
  for (;;) {
    int status = 0;
    pid_t const which = waitpid(-1, &status, WUNTRACED);
    if (which > 0 && WIFSTOPPED(status)) wake_or_end(which, status, which == kernel);
    if (which != kernel || WIFSTOPPED(status)) continue;
    _exit(write(report, &status, sizeof status) == sizeof status ? 0 : 1);
  }
}

/// Returns 0 in the kernel's process alone, with the protections that hold, before any code of the kernel is there.
/// Otherwise returns why that process could not be started.
/// Requires  one thread
inline int enter_cage(long judge, char const* library, kernel_needs const& needs, protection_faults& faults) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != static_cast<pid_t>(judge)) _exit(0);
  raise_limits();
  faults.set(protection::no_new_rights, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? errno : 0);
  sigset_t awaited, before;
  sigemptyset(&awaited);
  for (int const number : {SIGTERM, SIGCHLD}) sigaddset(&awaited, number);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return errno;
  auto const user = unused_user(static_cast<unsigned>(getpid()));
  bool const root = geteuid() == 0;

  auto const process = start_in_namespaces(needs.network);
  if (process.id < 0) return process.fault;
  bool const apart = process.flags != 0;
  if (process.id > 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0);
    close(report[1]);
    wait_outside(process.id, apart ? report[0] : -1, awaited);
  }
  close(report[0]);
  for (auto const which : {protection::processes, protection::files, protection::ipc})
    faults.set(which, apart ? 0 : process.fault);
  faults.set(protection::network, needs.network || (process.flags & CLONE_NEWNET) != 0 ? 0 : process.fault);
  if (apart) {
    int const shared = make_mounts_private();
    int const writable = shared != 0 ? shared : make_mounts_read_only();
    faults.set(protection::files, writable);
    faults.set(protection::processes, shared != 0 ? shared : mount_own_proc(needs.device));
    if (writable == 0) mount_scratch(library);
  }
  bool const in_user_namespace = (process.flags & CLONE_NEWUSER) != 0;
  faults.set(protection::user, root && !in_user_namespace ? drop_root(user, needs)
                               : root                     ? EPERM
                                                          : drop_capabilities());
  if (root && in_user_namespace) drop_capabilities();
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd gone{process.from_parent, 0, 0};
  if (poll(&gone, 1, 0) != 0) _exit(0);  // the waiting process ended before it could take this one along
  if (apart) {
    pid_t const kernel = fork();
    if (kernel < 0) return errno;
    if (kernel > 0) wait_inside(kernel, report[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  close(report[1]);
  close(process.from_parent);
  setsid();
  limit_files();
  limit_processes(root || in_user_namespace ? 0 : threads_of_user());
  prctl(PR_SET_DUMPABLE, 1);  // it has no secrets from its own processes, and sanitizers read /proc/self
  sigprocmask(SIG_SETMASK, &before, nullptr);
  char const* const folder = std::getenv("TMPDIR");
  bool const has_scratch = apart && folder && std::strcmp(folder, scratch) == 0;
  char const* const writable = has_scratch ? scratch : nullptr;
  restrict_writes(writable, needs, faults);
  faults.set(protection::system_calls, filter_system_calls());
  faults.set(protection::reads, restrict_reads(library, writable, needs));
  if (!faults.holds(protection::writes) || !faults.holds(protection::reads)) give_up_capability_to_open();
  return 0;
}

}  // namespace attest::audit::runner
