#include "audit/isolation/system_call_filter.hpp"

#include <cerrno>
#include <cstddef>
#include <memory>

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/isolation/owned_descriptor.hpp"

namespace attest::audit {
namespace {

/// Refused whatever their arguments are. A name that this architecture does not have is skipped.
constexpr char const* refused[] = {
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
    "migrate_pages", "move_pages",
    // the mode, owner, times and attributes of files, which no kind of Landlock handles
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "chown32", "fchown32",
    "lchown32", "utime", "utimes", "futimesat", "utimensat", "utimensat_time64", "setxattr", "lsetxattr", "fsetxattr",
    "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
    // objects of System V and POSIX that outlive a process
    "shmget", "msgget", "semget", "mq_open",
    // mounts and namespaces
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen",
    "fsmount", "fsconfig", "fspick", "mount_setattr", "setns", "unshare",
    // the system as a whole
    "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "init_module", "finit_module",
    "delete_module", "create_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct",
    "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime", "sethostname",
    "setdomainname", "iopl", "ioperm", "open_by_handle_at", "name_to_handle_at", "nfsservctl", "syslog", "vhangup",
    "lookup_dcookie", "_sysctl", "uselib", "ustat", "sysfs", "fanotify_init"};

/// A filter does not see the arguments of these calls. Their callers have another way if the calls do not exist.
constexpr char const* unknown[] = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"};

bool refuse(scmp_filter_ctx filter, char const* name, std::uint32_t action) {
  int const number = ::seccomp_syscall_resolve_name(name);
  return number == __NR_SCMP_ERROR || number < 0 || ::seccomp_rule_add(filter, action, number, 0) == 0;
}

/// Refuses a call if argument `number`, masked by `mask`, is `value`.
bool refuse_where(scmp_filter_ctx filter, int call, unsigned number, std::uint64_t mask, std::uint64_t value) {
  scmp_arg_cmp const argument{.arg = number, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
  return ::seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &argument) == 0;
}

/// Refused unless argument `number` is `value`.
bool refuse_unless(scmp_filter_ctx filter, int call, unsigned number, std::uint64_t value) {
  scmp_arg_cmp const argument{.arg = number, .op = SCMP_CMP_NE, .datum_a = value, .datum_b = 0};
  return ::seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &argument) == 0;
}

/// Refuses the network, and connections to programs that listen in the file system. A pair of sockets reaches only
/// itself, except datagrams, which may be sent to any name. With a device, Unix sockets of packets are allowed, since
/// CUDA's driver does not start without them. They can answer, but send nothing before they are connected.
bool refuse_sockets(scmp_filter_ctx filter, bool device) {
  constexpr std::uint64_t kind_bits = 0xF;  // the other bits of this argument are flags (SOCK_TYPE_MASK of Linux)
  for (int const datagrams : {SOCK_DGRAM, SOCK_RAW})
    if (!refuse_where(filter, SCMP_SYS(socketpair), 1, kind_bits, static_cast<std::uint64_t>(datagrams))) return false;
  if (!refuse(filter, "connect", SCMP_ACT_ERRNO(EPERM))) return false;
  if (device) {
    for (std::uint64_t kind = 0; kind <= kind_bits; ++kind)
      if (kind != SOCK_SEQPACKET && !refuse_where(filter, SCMP_SYS(socket), 1, kind_bits, kind)) return false;
    return refuse_unless(filter, SCMP_SYS(socket), 0, AF_UNIX);
  }
  for (char const* const name : {"socket", "bind", "listen", "accept", "accept4"})
    if (!refuse(filter, name, SCMP_ACT_ERRNO(EPERM))) return false;
  return true;
}

bool add_rules(scmp_filter_ctx filter, kernel_needs const& needs) {
  for (char const* const name : refused)
    if (!refuse(filter, name, SCMP_ACT_ERRNO(EPERM))) return false;
  if (!needs.network && !refuse_sockets(filter, needs.device)) return false;
  for (char const* const name : unknown)
    if (!refuse(filter, name, SCMP_ACT_ERRNO(ENOSYS))) return false;
  // The C library asks for its own limits with process 0.
  if (!refuse_unless(filter, SCMP_SYS(prlimit64), 0, 0)) return false;
  // A process may lower its own priority, but not another's; process 0 is the caller.
  constexpr std::uint64_t process_of_ioprio = 1;  // IOPRIO_WHO_PROCESS
  if (!refuse_unless(filter, SCMP_SYS(setpriority), 0, PRIO_PROCESS) ||
      !refuse_unless(filter, SCMP_SYS(setpriority), 1, 0) ||
      !refuse_unless(filter, SCMP_SYS(ioprio_set), 0, process_of_ioprio) ||
      !refuse_unless(filter, SCMP_SYS(ioprio_set), 1, 0))
    return false;
  // Linux looks at 32 bits of a request, and a filter at 64.
  constexpr std::uint64_t request_bits = 0xFFFFFFFF, push_input = TIOCSTI, linux_console = 0x541C;
  for (std::uint64_t const request : {push_input, linux_console})
    if (!refuse_where(filter, SCMP_SYS(ioctl), 1, request_bits, request)) return false;
  for (int const space :
       {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    auto const flag = static_cast<std::uint64_t>(space);
    if (!refuse_where(filter, SCMP_SYS(clone), 0, flag, flag)) return false;
  }
  return true;
}

std::vector<std::uint64_t> made(kernel_needs const& needs) {
  struct release {
    void operator()(void* filter) const noexcept { ::seccomp_release(filter); }
  };
  std::unique_ptr<void, release> const filter(::seccomp_init(SCMP_ACT_ALLOW));
  if (!filter || !add_rules(filter.get(), needs)) return {};
  owned_descriptor const file(::memfd_create("attest-filter", MFD_CLOEXEC));
  if (file.get() < 0 || ::seccomp_export_bpf(filter.get(), file.get()) != 0) return {};
  auto const bytes = ::lseek(file.get(), 0, SEEK_END);
  if (bytes <= 0) return {};
  std::vector<std::uint64_t> instructions(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t));
  return ::pread(file.get(), instructions.data(), static_cast<std::size_t>(bytes), 0) == bytes
             ? instructions
             : std::vector<std::uint64_t>{};
}

}  // namespace

std::vector<std::uint64_t> const& system_call_filter(kernel_needs const& needs) {
  if (needs.network) {
    static auto const network = made({.network = true});
    return network;
  }
  if (needs.device) {
    static auto const device = made({.device = true});
    return device;
  }
  static auto const neither = made({});
  return neither;
}

}  // namespace attest::audit
