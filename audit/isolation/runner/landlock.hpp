// Landlock: which files a kernel may read and write, and which processes it may signal. It needs no privilege.
// Source    landlock(7), and the documentation of each ABI in Documentation/userspace-api/landlock.rst
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/isolation/runner/needs.hpp"
#include "audit/isolation/runner/protections.hpp"

namespace attest::audit::runner {

/// Rights of files, as the ABI numbers them.
enum landlock_right : std::uint64_t {
  run_file = 1 << 0,
  write_file = 1 << 1,
  read_file = 1 << 2,
  read_folder = 1 << 3,
  change_folder = 0x1FF << 4,  ///< remove and make folders, files, links, sockets, FIFOs and devices (bits 4 to 12)
  refer = 1 << 13,             ///< ABI 2
  truncate_file = 1 << 14,     ///< ABI 3
  of_files = run_file | write_file | read_file | truncate_file  ///< rights that a file has, too
};

/// A handled right is refused, except where a rule allows it.
class landlock_rules {
 public:
  struct handled {
    std::uint64_t files, network, scopes;
  };
  /// 0, or the error: EOPNOTSUPP and ENOSYS if the system has no Landlock.
  static int version() noexcept {
    constexpr unsigned ask_version = 1;
    return static_cast<int>(syscall(create_rules, nullptr, 0, ask_version));
  }

  landlock_rules(handled const& of, std::size_t bytes) noexcept
      : handled_(of.files),
        rules_(static_cast<int>(syscall(create_rules, &of, bytes, 0))),
        fault_(rules_ < 0 ? errno : 0) {}
  landlock_rules(landlock_rules const&) = delete;
  landlock_rules& operator=(landlock_rules const&) = delete;
  ~landlock_rules() {
    if (rules_ >= 0) close(rules_);
  }

  /// Allows the handled rights among `rights` for a file, or for everything below a folder. A path that does not exist
  /// needs no rule.
  void allow(char const* path, std::uint64_t rights) noexcept {
    constexpr long add_rule = 445, path_beneath = 1;
    struct [[gnu::packed]] {
      std::uint64_t rights;
      std::int32_t file;
    } rule = {rights & handled_, open(path, O_PATH | O_CLOEXEC)};
    if (rule.file < 0) return;
    struct stat about{};
    if (fstat(rule.file, &about) == 0 && !S_ISDIR(about.st_mode)) rule.rights &= of_files;
    if (rule.rights != 0) syscall(add_rule, rules_, path_beneath, &rule, 0);
    close(rule.file);
  }

  /// Restricts this process and all processes that it starts. 0, or the error. Requires  no_new_privs
  int restrict_self() noexcept {
    constexpr long restrict_call = 446;
    if (fault_ == 0 && syscall(restrict_call, rules_, 0) != 0) fault_ = errno;
    return fault_;
  }

 private:
  static constexpr long create_rules = 444;
  std::uint64_t handled_;
  int rules_, fault_;
};

/// Refuses to write and to signal. `writable` is the folder that may be written, or null.
/// Requires  in `faults`, whether processes and files are apart in namespaces, and whether the user is another than
/// root
inline void restrict_writes(char const* writable, kernel_needs const& needs, protection_faults& faults) noexcept {
  int const version = landlock_rules::version();
  if (version < 1) {
    int const fault = errno;
    faults.set(protection::writes, fault);
    faults.set(protection::signals, faults.holds(protection::processes) ? 0 : fault);
    return;
  }
  landlock_rules::handled handled{write_file | change_folder, 0, 0};
  std::size_t bytes = sizeof handled.files;
  if (version >= 2) handled.files |= refer;
  if (version >= 3) handled.files |= truncate_file;
  if (version >= 4) {
    bytes += sizeof handled.network;
    if (!needs.network) handled.network = 3;  // TCP: bind, connect
  }
  if (version >= 6) handled.scopes = 3, bytes = sizeof handled;  // abstract sockets, signals
  landlock_rules rules(handled, bytes);
  if (writable) rules.allow(writable, handled.files);
  for (char const* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"})
    rules.allow(device, write_file | truncate_file);
  if (needs.device) {
    visit_accelerators([&](char const* path) { rules.allow(path, write_file | truncate_file); });
    // Allows writing the names of its threads (mount_own_proc). Only its own folder is allowed if /proc shows all
    // processes, or if the kernel is root, who owns /proc/sys.
    bool const all = faults.holds(protection::processes) && faults.holds(protection::user);
    rules.allow(all ? "/proc" : "/proc/self/task", write_file | truncate_file);
  }
  int const fault = rules.restrict_self();
  bool const cuts = version < 3 && !faults.holds(protection::files);  // truncate(2) is not handled before ABI 3
  faults.set(protection::writes, fault != 0 ? fault : cuts ? EOPNOTSUPP : 0);
  faults.set(protection::signals, faults.holds(protection::processes) ? 0
                                  : fault != 0                        ? fault
                                  : version < 6                       ? EOPNOTSUPP
                                                                      : 0);
}

}  // namespace attest::audit::runner
