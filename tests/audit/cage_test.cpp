// What a hostile kernel can do to the process that judges it, and what it leaves behind: as root, and as another user.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/audit/isolation.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace attest::tests;

constexpr std::uint64_t judge_word = 0x1122334455667788;
std::uint64_t volatile word = judge_word;  // what the attacks on memory aim at
constexpr unsigned nobody = 65534;

/// What the system permits: all; no namespaces, as in most containers; neither namespaces nor Landlock.
enum class system_kind { permits_all, no_namespaces, no_namespaces_no_landlock };

/// Forbids it to this process and all that it starts, by a filter of system calls as containers have one.
bool forbid(system_kind kind) {
  if (kind == system_kind::permits_all) return true;
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
std::vector<unsigned> users() {
  if (::geteuid() != 0) return {::geteuid()};
  return {0, nobody};
}

/// As whom a judge runs, and on what system.
struct trial {
  unsigned user;
  system_kind system;
};

std::string words(trial const& at) {
  return " as user " + std::to_string(at.user) +
         (at.system == system_kind::permits_all ? "" : ", where namespaces are forbidden");
}

/// What this machine itself forbids: nothing, unless the tests run in a container or on an old Linux.
std::vector<std::string> const& forbidden_here() {
  static auto const missing = [] {
    auto const kernel = open_kernel("naive");
    return kernel ? kernel.value().missing_protections() : std::vector<std::string>{kernel.why().message()};
  }();
  return missing;
}

/// Does this machine itself forbid what begins with these words?
bool forbids_here(std::string const& protection) {
  return std::ranges::any_of(forbidden_here(), [&](std::string const& one) { return one.starts_with(protection); });
}

/// Landlock that refuses signals (ABI 6, Linux 6.12), too.
bool has_landlock() {
  constexpr long create_rules = 444;
  constexpr unsigned ask_version = 1;
  return ::syscall(create_rules, nullptr, 0, ask_version) >= 6;
}

/// Each of those users, on a system that permits all and where it forbids namespaces. Where neither namespaces nor
/// Landlock protect the judge, no attack is tried.
std::vector<trial> trials() {
  bool const apart = !forbids_here("processes of its own"), landlock = has_landlock();
  std::vector<trial> all;
  for (unsigned const user : users()) {
    if (apart || landlock) all.push_back({user, system_kind::permits_all});
    if (landlock) all.push_back({user, system_kind::no_namespaces});
  }
  if (all.empty()) WARN("this machine forbids namespaces and Landlock: no attack is tried");
  return all;
}

/// What a judge found, in a process of its own, so that an attack strikes it alone: 0 where all was well, the number of
/// the first of its questions that was not, −(the signal that ended or stopped it).
template <class Questions>
int judge_says(trial const& at, Questions&& ask) {
  auto const user = at.user;
  auto const judge = ::fork();
  REQUIRE(judge >= 0);
  if (judge == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (user != ::geteuid() &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0))
      ::_exit(99);
    if (!forbid(at.system)) ::_exit(98);
    ::prctl(PR_SET_DUMPABLE, 1);  // as a program has it that was not made another user's
    auto const known = std::to_string(::getpid()) + " " + std::to_string(reinterpret_cast<std::uintptr_t>(&word));
    ::setenv("ATTEST_TEST_JUDGE", known.c_str(), 1);
    ::_exit(ask());
  }
  int status = 0;
  REQUIRE(::waitpid(judge, &status, WUNTRACED) == judge);
  if (WIFSTOPPED(status)) {
    ::kill(judge, SIGKILL);
    ::waitpid(judge, nullptr, 0);
    return -WSTOPSIG(status);
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/// The outcome of so many calls; none where the kernel could not be opened or asked.
std::optional<call_outcome> outcome_of(char const* kernel_name, int calls = 1, double seconds = 10) {
  auto kernel = open_kernel(kernel_name, seconds);
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

std::string text_of(fs::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a kernel cannot write to the memory of the judge", "[unit]") {
  for (trial const& at : trials())
    for (char const* name : {"naive", "writes_judge_memory", "writes_judge_by_call", "traces_judge"}) {
      INFO(name << words(at));
      CHECK(judge_says(at, [&] {
              auto const outcome = outcome_of(name);
              return word != judge_word ? 1 : outcome != call_outcome::succeeded ? 2 : 0;
            }) == 0);
    }
}

TEST_CASE("a kernel cannot stop or end the judge", "[unit]") {
  for (trial const& at : trials())
    for (char const* name : {"stops_judge", "kills_judge", "aborts_judge"}) {
      INFO(name << words(at));
      CHECK(judge_says(at, [&] { return outcome_of(name) != call_outcome::succeeded ? 1 : 0; }) == 0);
    }
}

TEST_CASE("a kernel cannot lower the limits of the judge", "[unit]") {
  for (trial const& at : trials()) {
    INFO(words(at));
    CHECK(judge_says(at, [] {
            constexpr int kinds[] = {RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_FSIZE};
            rlimit before[3], after[3];
            for (int n = 0; n < 3; ++n) ::getrlimit(static_cast<__rlimit_resource_t>(kinds[n]), &before[n]);
            auto const outcome = outcome_of("limits_judge");
            for (int n = 0; n < 3; ++n) ::getrlimit(static_cast<__rlimit_resource_t>(kinds[n]), &after[n]);
            for (int n = 0; n < 3; ++n)
              if (before[n].rlim_cur != after[n].rlim_cur || before[n].rlim_max != after[n].rlim_max) return n + 1;
            return outcome != call_outcome::succeeded ? 4 : 0;
          }) == 0);
  }
}

TEST_CASE("a kernel writes to no file, and not to the terminal of the judge", "[unit]") {
  for (trial const& at : trials()) {
    open_folder const folder;
    auto const report = folder.path / "report.json", log = folder.path / "log";
    INFO(words(at));
    CHECK(judge_says(at, [&] {
            std::ofstream(report) << "refuted";
            int const standard_error = ::open(log.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
            if (standard_error < 0 || ::write(standard_error, "judging\n", 8) != 8) return 9;
            for (int number = 0; number < 3; ++number) ::dup2(standard_error, number);
            ::setenv("ATTEST_TEST_FILE", report.c_str(), 1);
            auto const outcome = outcome_of("writes_files");
            if (text_of(report) != "refuted") return 1;
            if (fs::exists(report.native() + ".forged")) return 2;
            if (text_of(log) != "judging\n") return 3;
            return outcome != call_outcome::succeeded ? 4 : 0;
          }) == 0);
  }
}

TEST_CASE("a kernel reads its own folder and what it is allowed, and nothing else", "[unit]") {
  for (trial const& at : trials()) {
    open_folder const folder;
    auto const own = folder.path / "own", other = folder.path / "other";
    for (auto const& each : {own, other}) fs::create_directory(each);
    fs::copy(library("reads_file"), own / "kernel.so");
    for (auto const& each : {own, other}) std::ofstream(each / "words") << "secret";
    INFO(words(at));
    auto const succeeds = [&](fs::path const& file, kernel_needs const& needs) {
      return judge_says(at, [&] {
        ::setenv("ATTEST_TEST_FILE", file.c_str(), 1);
        auto kernel =
            isolated_kernel::open(own / "kernel.so", "attest_attention", {.needs = needs}, ATTEST_TEST_RUNNER);
        if (!kernel) return 2;
        owned_outputs outputs;
        auto const report = kernel.value().run(small_problem(), {}, outputs);
        if (!report) return 3;
        if (report.value().outcome == call_outcome::succeeded) return 1;
        return report.value().sentence == "exited with code 3 after it said '" + file.native() + ": Permission denied'"
                   ? 0
                   : 4;
      });
    };
    CHECK(succeeds(own / "words", {}) == 1);
    CHECK(succeeds(other / "words", {}) == 0);
    CHECK(succeeds(other / "words", {.readable = {other}}) == 1);
    CHECK(succeeds(other / "words", {.readable = {other / "words"}}) == 1);
    ::setenv("PYTHONPATH", ("relative:/:" + other.native() + ":").c_str(), 1);
    CHECK(succeeds(other / "words", {}) == 1);
    CHECK(succeeds("/etc/shadow", {}) == 0);
    ::unsetenv("PYTHONPATH");
    CHECK(succeeds("/etc/shadow", {}) == 0);
    CHECK(succeeds("/etc/passwd", {}) == 1);
  }
}

TEST_CASE("a kernel has no network", "[unit]") {
  int const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), bytes) == 0);
  REQUIRE(::listen(listener, 4) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
  ::setenv("ATTEST_TEST_PORT", std::to_string(ntohs(address.sin_port)).c_str(), 1);
  for (trial const& at : trials()) {
    INFO(words(at));
    CHECK(judge_says(at, [] { return outcome_of("reaches_network") != call_outcome::succeeded ? 1 : 0; }) == 0);
    CHECK(::accept(listener, nullptr, nullptr) < 0);
    CHECK(judge_says(at, [] {
            auto kernel = isolated_kernel::open(library("reaches_network"), "attest_attention",
                                                {.needs = {.network = true}}, ATTEST_TEST_RUNNER);
            if (!kernel) return 2;
            owned_outputs outputs;
            auto const report = kernel.value().run(small_problem(), {}, outputs);
            return report ? 0 : 3;
          }) == 0);
    CHECK(::accept(listener, nullptr, nullptr) >= 0);
  }
  ::close(listener);
}

TEST_CASE("a kernel is not root, and sees no process but its own and the one that waits for it", "[unit]") {
  if (forbids_here("processes of its own")) {
    WARN("this machine forbids namespaces");
    return;
  }
  for (unsigned const user : users()) {
    trial const at{user, system_kind::permits_all};
    INFO(words(at));
    CHECK(judge_says(at, [] { return outcome_of("sees_others") != call_outcome::succeeded ? 1 : 0; }) == 0);
  }
}

TEST_CASE("no process of a kernel outlives it", "[unit]") {
  for (trial const& at : trials())
    for (char const* kernel_name : {"leaves_sessions", "leaves_child_a_call", "many_children"}) {
      auto const name = "left-" + std::to_string(::getpid());
      ::setenv("ATTEST_TEST_NAME", name.c_str(), 1);
      INFO(kernel_name << words(at));
      CHECK(judge_says(at, [&] {
              outcome_of(kernel_name, 3);
              return processes_named(name).empty() ? 0 : 1;
            }) == 0);
      for (int const left : processes_named(name)) ::kill(left, SIGKILL);
    }
}

TEST_CASE("a kernel that takes what no observer sees is ended", "[unit]") {
  for (trial const& at : trials()) {
    INFO(words(at));
    CHECK(judge_says(at, [] { return outcome_of("grows_memory") == call_outcome::crashed ? 0 : 1; }) == 0);
  }
}

TEST_CASE("nothing is left of a kernel whose judge is killed at any moment", "[unit]") {
  std::minstd_rand moments(1);
  for (trial const& at : trials())
    for (int n = 0; n < 25; ++n) {
      auto const name = "lone-" + std::to_string(::getpid());
      int ends[2];
      REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
      auto const delay = std::chrono::microseconds(moments() % 40000);
      INFO(words(at) << ", after " << delay.count() << " us");
      int judge = 0;
      std::thread killer([&] {
        if (::read(ends[0], &judge, sizeof judge) != sizeof judge) return;
        std::this_thread::sleep_for(delay);
        ::kill(judge, SIGKILL);
      });
      CHECK(judge_says(at, [&] {
              ::setenv("ATTEST_TEST_NAME", name.c_str(), 1);
              int const self = ::getpid();
              if (::write(ends[1], &self, sizeof self) != sizeof self) return 1;
              for (;;) outcome_of("leaves_child_a_call", 20);
            }) == -SIGKILL);
      killer.join();
      for (int const end : ends) ::close(end);
      wait_for([&] { return processes_named(name).empty() && runners_of(judge).empty(); });
    }
}

TEST_CASE("what the system forbids is named, and a kernel is not loaded where all is required", "[unit]") {
  if (forbidden_here().empty() && !has_landlock()) {
    WARN("this machine has no Landlock of ABI 6");
    return;
  }
  if (!forbidden_here().empty()) {
    WARN("this machine itself forbids " << forbidden_here().front());
    auto const kernel = isolated_kernel::open(library("crash_on_load"), "attest_attention", {.all_protections = true},
                                              ATTEST_TEST_RUNNER);
    REQUIRE_FALSE(kernel);
    CHECK(kernel.why().message().find("is not loaded: the system forbids ") != std::string::npos);
    return;
  }
  auto const missing_at = [](trial const& at, std::vector<std::string> const& expected) {
    INFO(words(at));
    CHECK(judge_says(at, [&] {
            auto const kernel = open_kernel("naive");
            if (!kernel) return 1;
            return kernel.value().missing_protections() == expected ? 0 : 2;
          }) == 0);
    CHECK(judge_says(at, [&] {
            auto const kernel = isolated_kernel::open(library("crash_on_load"), "attest_attention",
                                                      {.all_protections = true}, ATTEST_TEST_RUNNER);
            auto const why = kernel ? std::string() : kernel.why().message();
            bool const loaded = why.find("crashed with SIGSEGV") != why.npos;
            bool const refused = why.find("is not loaded: the system forbids ") != why.npos;
            return loaded == expected.empty() && refused == !expected.empty() ? 0 : 3;
          }) == 0);
  };
  std::vector<std::string> const namespaces = {
      "processes of its own (Operation not permitted)", "read-only mounts (Operation not permitted)",
      "a network namespace (Operation not permitted)", "an IPC namespace (Operation not permitted)"};
  auto without_landlock = namespaces;
  for (char const* name :
       {"Landlock for files (Operation not supported)", "Landlock for reads (Operation not supported)",
        "signals kept inside (Operation not supported)"})
    without_landlock.push_back(name);
  for (unsigned const user : users()) {
    missing_at({user, system_kind::permits_all}, {});
    missing_at({user, system_kind::no_namespaces}, namespaces);
    missing_at({user, system_kind::no_namespaces_no_landlock}, without_landlock);
  }
}
