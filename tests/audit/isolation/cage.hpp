// A judge that hostile kernels attack: a process of its own, as root and as another user. The system permits all
// namespaces, or forbids them, as containers do.
#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/audit/isolation/open_copies.hpp"

namespace attest::tests {

inline constexpr std::uint64_t judge_word = 0x1122334455667788;
inline std::uint64_t volatile attacked_word = judge_word;  // what the attacks on memory aim at
inline constexpr unsigned nobody = 65534;

/// The permissions of the system. All; to root, namespaces only as to other users, in a user namespace of its own; no
/// namespaces, as in most containers; no namespaces, and to root no CAP_DAC_READ_SEARCH; neither namespaces nor
/// Landlock; after chroot, no user namespaces.
enum class system_kind {
  permits_all,
  root_without_capability,
  no_namespaces,
  no_namespaces_no_reading,
  no_namespaces_no_landlock,
  chroot
};

/// Forbids it to this process and all that it starts, by a filter of system calls as containers have one.
inline bool forbid(system_kind kind) {
  if (kind == system_kind::permits_all || kind == system_kind::chroot) return true;
  // What root starts has the capabilities of the bounding set again.
  if (kind == system_kind::root_without_capability) return ::prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) == 0;
  if (kind == system_kind::no_namespaces_no_reading && ::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0) != 0)
    return false;
  std::unique_ptr<void, void (*)(void*)> const filter(::seccomp_init(SCMP_ACT_ALLOW),
                                                      [](void* of) { ::seccomp_release(of); });
  bool done = filter != nullptr;
  for (int const space : {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWIPC}) {
    auto const flag = static_cast<std::uint64_t>(space);
    scmp_arg_cmp const has_flag{.arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = flag, .datum_b = flag};
    for (int const call : {SCMP_SYS(clone), SCMP_SYS(unshare)})
      done = done && ::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 1, &has_flag) == 0;
  }
  done = done && ::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, nullptr) == 0;
  if (kind == system_kind::no_namespaces_no_landlock) {
    int const rules = ::seccomp_syscall_resolve_name("landlock_create_ruleset");
    done = done && ::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EOPNOTSUPP), rules, 0, nullptr) == 0;
  }
  return done && ::seccomp_load(filter.get()) == 0;
}

/// A folder that every user may write to.
struct open_folder {
  fs::path path = fs::temp_directory_path() / ("attest-cage-" + std::to_string(::getpid()));
  open_folder() {
    fs::create_directory(path);
    fs::permissions(path, fs::perms::all);
  }
  ~open_folder() { fs::remove_all(path); }
};

/// The users as whom a judge can be tried here: root and another where the tests run as root, else this one alone.
inline std::vector<unsigned> const& users() {
  static auto const all = [] {
    std::vector<unsigned> those{::geteuid()};
    if (::geteuid() == 0 && reaches(nobody, files_for(nobody))) those.push_back(nobody);
    else if (::geteuid() == 0)
      WARN("user " << nobody << " is left out: it can enter neither the build nor a folder in "
                   << fs::temp_directory_path());
    return those;
  }();
  return all;
}

/// As whom a judge runs, and on what system.
struct trial {
  unsigned user;
  system_kind system;
};

inline std::string words(trial const& at) {
  return " as user " + std::to_string(at.user) +
         (at.system == system_kind::permits_all               ? ""
          : at.system == system_kind::root_without_capability ? ", without CAP_SYS_ADMIN"
          : at.system == system_kind::chroot                  ? ", after chroot"
          : at.system == system_kind::no_namespaces_no_reading
              ? ", where namespaces are forbidden, without CAP_DAC_READ_SEARCH"
              : ", where namespaces are forbidden");
}

/// Where the judge of that process has its root.
inline fs::path chroot_of(int judge) { return fs::temp_directory_path() / ("attest-chroot-" + std::to_string(judge)); }

/// As in a chroot: "/" is no mount but a folder of one, and contains everything that was below "/" before. Mounts of
/// this process would reach others of its namespace, which is its own.
inline bool enter_chroot() {
  auto const mounted = chroot_of(::getpid()), root = mounted / "root";
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  std::error_code fault;
  fs::create_directory(mounted, fault);
  if (::mount("tmpfs", mounted.c_str(), "tmpfs", 0, "mode=0755") != 0 ||
      ::mount(nullptr, mounted.c_str(), nullptr, MS_SHARED, nullptr) != 0)
    return false;
  fs::create_directory(root, fault);
  for (auto const& each : fs::directory_iterator("/")) {
    auto const name = root / each.path().filename();
    if (each.is_symlink()) fs::copy_symlink(each, name, fault);
    else if (each.is_directory() && fs::create_directory(name, fault) &&
             ::mount(each.path().c_str(), name.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      return false;
  }
  return ::chroot(root.c_str()) == 0 && ::chdir("/") == 0;
}

/// The finding of a judge, in a process of its own, so that an attack strikes it alone. 0 if all was well; the number
/// of the first of its questions that failed; or −(the signal that ended or stopped it).
template <class Questions>
int judge_says(trial const& at, Questions&& ask) {
  // Without CAP_DAC_READ_SEARCH a kernel with a device or a network enters no closed folder, and so no build in root's
  // home.
  auto const& files = files_for(at.system == system_kind::no_namespaces_no_reading ? nobody : at.user);
  auto const judge = ::fork();
  REQUIRE(judge >= 0);
  if (judge == 0) {
    if (at.system == system_kind::chroot && !enter_chroot()) ::_exit(97);
    if (!become(at.user)) ::_exit(99);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    test_files_here = files;
    if (!forbid(at.system)) ::_exit(98);
    ::prctl(PR_SET_DUMPABLE, 1);  // as a program has it that was not made another user's
    auto const known =
        std::to_string(::getpid()) + " " + std::to_string(reinterpret_cast<std::uintptr_t>(&attacked_word));
    ::setenv("ATTEST_TEST_JUDGE", known.c_str(), 1);
    ::_exit(ask());
  }
  int status = 0;
  REQUIRE(::waitpid(judge, &status, WUNTRACED) == judge);
  std::error_code ignored;
  fs::remove(chroot_of(judge), ignored);
  if (WIFSTOPPED(status)) {
    ::kill(judge, SIGKILL);
    ::waitpid(judge, nullptr, 0);
    return -WSTOPSIG(status);
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/// What this machine itself forbids to the kernels of `user`: nothing, unless the tests run in a container, in a chroot
/// or on an old Linux.
inline std::vector<std::string> const& forbidden_to(unsigned user) {
  static std::map<unsigned, std::vector<std::string>> known;
  auto const [place, is_new] = known.try_emplace(user);
  if (!is_new) return place->second;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(judge_says({user, system_kind::permits_all}, [&] {
            auto const kernel = open_kernel("naive");
            std::string text;
            for (auto const& one : kernel ? kernel.value().missing_protections() : std::vector{kernel.why().message()})
              text += one + '\n';
            return ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
          }) == 0);
  ::close(ends[1]);
  std::string text(4096, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], text.data(), text.size()))));
  ::close(ends[0]);
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) place->second.push_back(one);
  return place->second;
}

/// Does this machine itself forbid `user` what begins with these words?
inline bool forbids(unsigned user, std::string const& protection) {
  return std::ranges::any_of(forbidden_to(user), [&](std::string const& one) { return one.starts_with(protection); });
}

/// Landlock that refuses signals (ABI 6, Linux 6.12), too.
inline bool has_landlock() {
  constexpr long create_rules = 444;
  constexpr unsigned ask_version = 1;
  return ::syscall(create_rules, nullptr, 0, ask_version) >= 6;
}

/// Each of those users, on a system that permits all and where it forbids namespaces. Where neither namespaces nor
/// Landlock protect the judge, no attack is tried.
inline std::vector<trial> trials() {
  bool const landlock = has_landlock();
  std::vector<trial> all;
  for (unsigned const user : users()) {
    bool const apart = !forbids(user, "processes of its own");
    if (apart || landlock) all.push_back({user, system_kind::permits_all});
    if (landlock) all.push_back({user, system_kind::no_namespaces});
    if (landlock && user == 0) all.push_back({user, system_kind::no_namespaces_no_reading});
    if (apart && landlock && user == 0) all.push_back({user, system_kind::root_without_capability});
  }
  if (all.empty()) WARN("this machine forbids namespaces and Landlock: no attack is tried");
  return all;
}

/// The outcome of so many calls. Returns nothing if the kernel could not be opened or asked.
inline std::optional<call_outcome> outcome_of(char const* kernel_name, int calls = 1, kernel_needs const& needs = {}) {
  auto kernel = open_kernel(kernel_name, 10, needs);
  if (!kernel) return std::nullopt;
  owned_outputs outputs;
  std::optional<call_outcome> outcome;
  for (int n = 0; n < calls; ++n) {
    auto const report = kernel.value().run(small_problem(), {}, outputs);
    if (!report) return std::nullopt;
    outcome = report.value().outcome;
  }
  return outcome;
}

}  // namespace attest::tests
