// What a hostile kernel can do to the process that judges it, and what it leaves behind: as root, and as another user.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/audit/isolation.hpp"
#include "tests/support/processes.hpp"

namespace {

using namespace attest::tests;

constexpr std::uint64_t judge_word = 0x1122334455667788;
std::uint64_t volatile word = judge_word;  // what the attacks on memory aim at
constexpr unsigned nobody = 65534;

/// A folder that every user may write to.
struct open_folder {
  fs::path path = fs::temp_directory_path() / ("attest-cage-" + std::to_string(::getpid()));
  open_folder() {
    fs::create_directory(path);
    fs::permissions(path, fs::perms::all);
  }
  ~open_folder() { fs::remove_all(path); }
};

/// What a judge found, in a process of its own, so that an attack strikes it alone: 0 where all was well, the number of
/// the first of its questions that was not, −(the signal that ended or stopped it).
template <class Questions>
int judge_says(unsigned user, Questions&& ask) {
  auto const judge = ::fork();
  REQUIRE(judge >= 0);
  if (judge == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (user != ::geteuid() &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0))
      ::_exit(99);
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

/// The users as whom a judge can be tried here: root and another where the tests run as root, else this one alone.
std::vector<unsigned> users() {
  if (::geteuid() != 0) return {::geteuid()};
  return {0, nobody};
}

std::string text_of(fs::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a kernel cannot write to the memory of the judge", "[unit]") {
  for (unsigned const user : users())
    for (char const* name : {"naive", "writes_judge_memory", "writes_judge_by_call", "traces_judge"}) {
      INFO(name << " as user " << user);
      CHECK(judge_says(user, [&] {
              auto const outcome = outcome_of(name);
              return word != judge_word ? 1 : outcome != call_outcome::succeeded ? 2 : 0;
            }) == 0);
    }
}

TEST_CASE("a kernel cannot stop or end the judge", "[unit]") {
  for (unsigned const user : users())
    for (char const* name : {"stops_judge", "kills_judge", "aborts_judge"}) {
      INFO(name << " as user " << user);
      CHECK(judge_says(user, [&] { return outcome_of(name) != call_outcome::succeeded ? 1 : 0; }) == 0);
    }
}

TEST_CASE("a kernel cannot lower the limits of the judge", "[unit]") {
  for (unsigned const user : users()) {
    INFO("as user " << user);
    CHECK(judge_says(user, [] {
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
  for (unsigned const user : users()) {
    open_folder const folder;
    auto const report = folder.path / "report.json", log = folder.path / "log";
    INFO("as user " << user);
    CHECK(judge_says(user, [&] {
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

TEST_CASE("a kernel has no network", "[unit]") {
  int const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in at{};
  socklen_t bytes = sizeof at;
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&at), bytes) == 0);
  REQUIRE(::listen(listener, 4) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &bytes) == 0);
  ::setenv("ATTEST_TEST_PORT", std::to_string(ntohs(at.sin_port)).c_str(), 1);
  for (unsigned const user : users()) {
    INFO("as user " << user);
    CHECK(judge_says(user, [] { return outcome_of("reaches_network") != call_outcome::succeeded ? 1 : 0; }) == 0);
    CHECK(::accept(listener, nullptr, nullptr) < 0);
  }
  ::close(listener);
}

TEST_CASE("a kernel is not root, and sees no process but its own and the one that waits for it", "[unit]") {
  for (unsigned const user : users()) {
    INFO("as user " << user);
    CHECK(judge_says(user, [] { return outcome_of("sees_others") != call_outcome::succeeded ? 1 : 0; }) == 0);
  }
}

TEST_CASE("no process of a kernel outlives it", "[unit]") {
  for (unsigned const user : users())
    for (char const* kernel_name : {"leaves_sessions", "leaves_child_a_call", "many_children"}) {
      auto const name = "left-" + std::to_string(::getpid());
      ::setenv("ATTEST_TEST_NAME", name.c_str(), 1);
      INFO(kernel_name << " as user " << user);
      CHECK(judge_says(user, [&] {
              outcome_of(kernel_name, 3);
              return processes_named(name).empty() ? 0 : 1;
            }) == 0);
      for (int const left : processes_named(name)) ::kill(left, SIGKILL);
    }
}
