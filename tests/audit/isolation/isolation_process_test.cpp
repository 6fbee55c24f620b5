// The process around an isolated kernel: libraries that cannot be opened, calls that cannot be made, and that no
// process or file remains.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/support/locate.hpp"
#include "tests/audit/isolation/isolation.hpp"
#include "tests/support/processes.hpp"

namespace attest::tests::isolation_process_test {
namespace {

namespace problem = attest::problem;
using Catch::Contains, Catch::StartsWith;

std::string refusal(fs::path const& path, double seconds = 10) {
  auto const kernel = isolated_kernel::open(path, "attest_attention", {.seconds = seconds}, ATTEST_TEST_RUNNER);
  return kernel ? "opened" : kernel.why().message();
}

}  // namespace

TEST_CASE("a library that is none is refused with its reason", "[unit]") {
  auto const at = [](fs::path const& path) { return path.native() + ": "; };
  CHECK(refusal("/no/such.so") == "/no/such.so: there is no such file");
  CHECK(refusal("/tmp") == "/tmp: is a directory, expected a shared library");
  CHECK(refusal("/dev/null") == "/dev/null: is not a regular file");
  auto const text = fs::temp_directory_path() / ("attest-text-" + std::to_string(::getpid()) + ".so");
  std::ofstream(text) << std::string(5000, 'x');
  CHECK(refusal(text) == at(text) + "is not a shared library that can be loaded: invalid ELF header");
  fs::remove(text);
  CHECK(refusal(library("no_symbol")) == at(library("no_symbol")) + "does not export 'attest_attention'");
  CHECK(refusal(library("crash_on_load")) == at(library("crash_on_load")) + "crashed with SIGSEGV while it was loaded");
  auto const named = isolated_kernel::open(library("no_symbol"), "my\x1bsymbol", {}, ATTEST_TEST_RUNNER);
  REQUIRE(!named);
  CHECK(named.why().message() == at(library("no_symbol")) + "does not export 'my\\x1bsymbol'");
  auto const no_runner = isolated_kernel::open(library("naive"), "attest_attention", {}, "/no/attest-runner");
  REQUIRE(!no_runner);
  CHECK_THAT(no_runner.why().message(), Contains("'/no/attest-runner' cannot be started: No such file"));
  auto const not_a_runner = isolated_kernel::open(library("naive"), "attest_attention", {}, "/bin/true");
  REQUIRE(!not_a_runner);
  CHECK_THAT(not_a_runner.why().message(), Contains("while it was loaded"));
}

TEST_CASE("a call that cannot be made is an error, not a finding", "[unit]") {
  auto kernel = opened("naive");
  owned_outputs outputs;
  CHECK(kernel.run(small_problem(), {.memory = {.row_gap = -1}}, outputs).why().message() ==
        "row_gap: is -1, expected 0 to 2^20");
  problem_draft huge;  // no input bytes at all, but an output of 2^50 elements
  huge.q = owned_tensor{element_type::f32, problem::layout::compact({std::int64_t{1} << 30, 0}), {}};
  huge.k = owned_tensor{element_type::f32, problem::layout::compact({0, 0}), {}};
  huge.v = owned_tensor{element_type::f32, problem::layout::compact({0, std::int64_t{1} << 20}), {}};
  huge.scale = 1.0;
  CHECK_THAT(kernel.run(valid(huge), {}, outputs).why().message(), Contains("more memory than the limit"));
  CHECK(run_once(kernel, small_problem()).outcome == call_outcome::succeeded);
}

TEST_CASE("the runner is found by its environment variable", "[unit]") {
  ::setenv("ATTEST_RUNNER", ATTEST_TEST_RUNNER, 1);
  CHECK(isolated_kernel::open(library("naive")));
  ::setenv("ATTEST_RUNNER", "/no/runner", 1);
  CHECK(locate_runner().why().message() == "ATTEST_RUNNER: names no file: /no/runner");
  ::unsetenv("ATTEST_RUNNER");
  auto const nowhere = locate_runner();
  if (!nowhere) CHECK_THAT(nowhere.why().message(), Contains("attest-runner: was not found; looked at /"));
}

TEST_CASE("a kernel cannot spoil standard output or keep our descriptors", "[unit]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);  // inheritable, as a careless library would leave it
  std::fflush(stdout);
  int const saved = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  call_report report;
  {
    auto kernel = opened("noisy");
    report = run_once(kernel, small_problem());
  }
  std::fflush(stdout);
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(ends[1]);
  CHECK(report.outcome == call_outcome::succeeded);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  char noise;
  CHECK(::read(ends[0], &noise, 1) == 0);  // the end of the pipe: nothing in it, and no other process holds it
  ::close(ends[0]);
}

TEST_CASE("a runner dies with its parent", "[unit]") {
  auto const hangs = "hangs-" + std::to_string(::getpid());
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  auto const parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {  // opens a kernel that hangs and is killed while it waits
    ::setenv("ATTEST_TEST_HANGS", hangs.c_str(), 1);
    auto kernel = open_kernel("hang");
    if (!kernel) ::_exit(1);
    int const child = last_child();
    static_cast<void>(!::write(ends[1], &child, sizeof child));
    owned_outputs outputs;
    static_cast<void>(kernel.value().run(small_problem(), {}, outputs));
    ::_exit(0);
  }
  ::close(ends[1]);
  int child = 0;
  REQUIRE(::read(ends[0], &child, sizeof child) == sizeof child);
  ::close(ends[0]);
  REQUIRE(child > 0);
  wait_for([&] { return !processes_named(hangs).empty(); });
  CHECK_FALSE(is_gone(child));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  wait_for([&] { return is_gone(child); });
  CHECK(processes_named(hangs).empty());
}

TEST_CASE("this process is hidden from others of its user as long as a kernel lives", "[unit]") {
  auto const dumpable = [] { return ::prctl(PR_GET_DUMPABLE); };
  REQUIRE(dumpable() == 1);
  {
    auto first = opened("naive"), second = opened("crash");
    CHECK(dumpable() == 0);
    CHECK(run_once(second, small_problem()).outcome == call_outcome::crashed);
    CHECK(dumpable() == 0);
    first = opened("naive");
    CHECK(dumpable() == 0);
  }
  CHECK(dumpable() == 1);
}

TEST_CASE("a kernel opened by a thread that ended still runs", "[unit]") {
  auto kernel = open_kernel("naive");
  int process = 0;
  std::thread([&] {
    kernel = open_kernel("naive");
    process = last_child();
  }).join();
  REQUIRE(kernel);
  REQUIRE(process > 0);
  wait_for([&] { return is_gone(process); });  // with its thread
  auto const report = run_once(kernel.value(), small_problem());
  CHECK(report.outcome == call_outcome::succeeded);
  CHECK(report.broken.empty());
}

TEST_CASE("a kernel that has to wait for a processor does not hang", "[unit]") {
  // Four processes and the kernel, all on one processor: its half second of work takes two seconds and more, but only
  // one is allowed.
  cpu_set_t before, first_only;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&first_only);
  CPU_SET(first, &first_only);
  REQUIRE(::sched_setaffinity(0, sizeof first_only, &first_only) == 0);
  std::vector<pid_t> others;
  for (int n = 0; n < 4; ++n) {
    others.push_back(::fork());
    if (others.back() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::setsid();  // as the kernel: where each session has an equal share, so has each of these
      for (unsigned volatile work = 0;;) static_cast<void>(work);
    }
  }
  auto kernel = opened("works_half_a_second", 1);
  ::sched_setaffinity(0, sizeof before, &before);
  auto const start = std::chrono::steady_clock::now();
  auto const report = run_once(kernel, small_problem());
  bool const had_to_wait = std::chrono::steady_clock::now() - start > std::chrono::seconds(1);
  for (pid_t const process : others) ::kill(process, SIGKILL), ::waitpid(process, nullptr, 0);
  CHECK(had_to_wait);
  CHECK(report.outcome == call_outcome::succeeded);
}

TEST_CASE("a kernel that stops itself is ended, and the sentence says so", "[unit]") {
  auto kernel = opened("stops_itself");
  call_report const report = run_once(kernel, small_problem());
  INFO(report.sentence);
  CHECK(report.outcome == call_outcome::crashed);
  CHECK(report.sentence.find("its process stopped itself by SIGSTOP") != std::string::npos);
}

TEST_CASE("a kernel may share its work out among the threads of OpenMP", "[unit]") {
  if (!fs::exists(library("openmp"))) return;  // of a compiler without OpenMP
  auto kernel = opened("openmp");
  for (int n = 0; n < 3; ++n) CHECK(run_once(kernel, small_problem()).outcome == call_outcome::succeeded);
}

TEST_CASE("the limits of a shell are no matter of the kernel", "[unit]") {
  auto const judged_with = [](int resource, rlim_t soft, rlim_t hard) {
    auto const judge = ::fork();
    if (judge == 0) {
      rlimit const limit{soft, hard};
      ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
      auto kernel = open_kernel("works_half_a_second");
      if (!kernel) {  // the runner of root starts and has no process for the kernel; another user's does not start
        std::string const why = kernel.why().message();
        bool const is_said = why.find("cannot start a process for the kernel: ") != why.npos ||
                             why.find("its user has as many as ulimit -u allows") != why.npos;
        ::_exit(is_said ? 51 : 50);
      }
      call_outcome last{};
      // The system counts a limited second by its ticks; a busy machine misses some of them.
      for (int n = 0; n < (hard == 1 ? 12 : 3) && last == call_outcome::succeeded; ++n)
        last = run_once(kernel.value(), small_problem()).outcome;
      ::_exit(static_cast<int>(last));
    }
    int status = 0;
    ::waitpid(judge, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  };
  CHECK(judged_with(RLIMIT_CPU, 1, RLIM_INFINITY) == static_cast<int>(call_outcome::succeeded));
  CHECK(judged_with(RLIMIT_CPU, 1, 1) == static_cast<int>(call_outcome::unanswered));
  CHECK(judged_with(RLIMIT_NPROC, 1, 1) == 51);
}

TEST_CASE("a call that only the clock ends is unanswered", "[unit]") {
  auto kernel =
      isolated_kernel::open(library("naps"), "attest_attention",
                            {.seconds = 60, .resting_seconds = 60, .waiting_seconds = 0.5}, ATTEST_TEST_RUNNER);
  REQUIRE(kernel);
  auto const report = run_once(kernel.value(), small_problem());
  CHECK(report.outcome == call_outcome::unanswered);
  CHECK_THAT(report.sentence, StartsWith("did not return within 0.5 s, in which it had 0."));
}

TEST_CASE("what a call writes after it has returned is reported with the next", "[unit]") {
  auto kernel = opened("writes_after_return"), honest = opened("naive");
  for (isolated_kernel* const each : {&kernel, &honest}) {
    CHECK(run_once(*each, small_problem()).broken.empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    auto const next = run_once(*each, small_problem());
    CHECK(next.broke(promise::rests_between_calls) == (each == &kernel));
  }
}

TEST_CASE("a kernel that takes more memory than allowed is ended, root or not", "[unit]") {
  for (char const* const name : {"memory_hog", "hidden_memory", "page_tables"}) {
    CAPTURE(name);
    auto kernel = isolated_kernel::open(library(name), "attest_attention",
                                        {.process = {.resident_bytes = std::uint64_t{256} << 20}}, ATTEST_TEST_RUNNER);
    REQUIRE(kernel);
    auto const report = run_once(kernel.value(), small_problem());
    CHECK(report.outcome == call_outcome::exceeded);
    CHECK_THAT(report.sentence, Contains("GiB of memory, 0.25 are allowed"));
  }
}

TEST_CASE("a kernel that leaves its process no address space has failed the next call", "[unit]") {
  auto kernel = opened("limits_its_addresses");
  auto report = run_once(kernel, small_problem());
  // A runner with the address sanitizer ends itself before the call is answered, which is a finding, too.
  if (report.outcome == call_outcome::exited && report.sentence.ends_with("'ERROR: Failed to mmap'")) return;
  CHECK(report.outcome == call_outcome::succeeded);
  report = run_once(kernel, small_problem());
  CHECK(report.outcome == call_outcome::exceeded);
  CHECK_THAT(report.sentence, StartsWith("leaves no room in its process for the tensors of a call"));
}

TEST_CASE("a call of a library that cannot be loaded again is unanswered", "[unit]") {
  auto const copy = fs::temp_directory_path() / ("attest-copy-" + std::to_string(::getpid()) + ".so");
  fs::copy_file(library("crash"), copy, fs::copy_options::overwrite_existing);
  auto kernel = isolated_kernel::open(copy, "attest_attention", {}, ATTEST_TEST_RUNNER);
  fs::remove(copy);
  REQUIRE(kernel);
  CHECK(run_once(kernel.value(), small_problem()).outcome == call_outcome::crashed);
  auto const report = run_once(kernel.value(), small_problem());
  CHECK(report.outcome == call_outcome::unanswered);
  CHECK_THAT(report.sentence, StartsWith("was not called: its library, which was loaded before, is not a shared"));
}

}  // namespace attest::tests::isolation_process_test
