// Harm that a hostile kernel can do to the process that judges it, and traces that it leaves: as root, and as another
// user.
#include "tests/audit/isolation/cage.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/processes.hpp"

namespace attest::tests::cage_test {
TEST_CASE("a kernel cannot write to the memory of the judge", "[unit]") {
  for (trial const& at : trials())
    for (char const* name : {"naive", "writes_judge_memory", "writes_judge_by_call", "traces_judge"}) {
      INFO(name << words(at));
      for (bool const device : {false, true})
        CHECK(judge_says(at, [&] {
                auto const outcome = outcome_of(name, 1, {.device = device});
                return attacked_word != judge_word ? 1 : outcome != call_outcome::succeeded ? 2 : 0;
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

TEST_CASE("a kernel is not root, and sees no process but its own and the one that waits for it", "[unit]") {
  for (unsigned const user : users()) {
    trial const at{user, system_kind::permits_all};
    INFO(words(at));
    if (forbids(user, "processes of its own")) {
      WARN("this machine forbids user " << user << " namespaces");
      continue;
    }
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

TEST_CASE("nothing is left of a kernel whose judge is killed at any moment", "[slow]") {
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
  if (!has_landlock()) {
    WARN("this machine has no Landlock of ABI 6");
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
                                                      {.all_protections = true}, test_files_here.runner);
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
    if (!forbidden_to(user).empty()) {
      WARN("this machine itself forbids user " << user << ": " << forbidden_to(user).front());
      missing_at({user, system_kind::permits_all}, forbidden_to(user));
      continue;
    }
    missing_at({user, system_kind::permits_all}, {});
    missing_at({user, system_kind::no_namespaces}, namespaces);
    missing_at({user, system_kind::no_namespaces_no_landlock}, without_landlock);
  }
}

TEST_CASE("after chroot root's kernels are as well kept as before, and what they mount reaches nobody", "[unit]") {
  if (::geteuid() != 0 || judge_says({0, system_kind::chroot}, [] { return 0; }) != 0) {
    WARN("this takes root, mounts, and a system outside of a chroot");
    return;
  }
  auto const mounts = [] {
    std::ostringstream text;
    text << std::ifstream("/proc/self/mountinfo").rdbuf();
    return text.str();
  };
  open_folder const folder;
  auto const report = folder.path / "report.json";
  std::ofstream(report) << "refuted";
  fs::permissions(report, fs::perms::all);
  ::setenv("ATTEST_TEST_FILE", report.c_str(), 1);
  for (unsigned const user : users()) {
    trial const at{user, system_kind::chroot};
    INFO(words(at));
    auto const expected = forbidden_to(user);
    CHECK(judge_says(at, [&] {
            auto const before = mounts();
            auto const kernel = open_kernel("naive");
            if (!kernel) return 1;
            auto const& missing = kernel.value().missing_protections();
            // Without user namespaces, an ordinary user has Landlock and the filter of system calls.
            if (user == 0 ? missing != expected : missing.front() != "processes of its own (Operation not permitted)")
              return 2;
            if (mounts() != before) return 3;
            for (char const* name : {"writes_judge_memory", "kills_judge", "writes_files"})
              if (outcome_of(name) != call_outcome::succeeded) return 4;
            if (user == 0 && outcome_of("sees_others") != call_outcome::succeeded) return 5;
            return attacked_word != judge_word || mounts() != before ? 6 : 0;
          }) == 0);
    CHECK(!fs::exists(report.native() + ".forged"));
  }
  ::unsetenv("ATTEST_TEST_FILE");
}

}  // namespace attest::tests::cage_test
