// Kernels that are served: by a program in the cage of a kernel, and by a process that runs already (attest/serve.h).
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include <attest/serve.h>
#include <sys/socket.h>

#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests::served_kernel_test {
namespace {

namespace problem = attest::problem;
using Catch::Contains;

problem::result<isolated_kernel> open_served(std::string const& name, isolation_limits const& limits = {}) {
  return isolated_kernel::open(
      kernel_library{.path = ATTEST_TEST_KERNELS "/serves", .arguments = {{library(name).native()}}}, limits,
      ATTEST_TEST_RUNNER);
}

isolated_kernel served(std::string const& name, double seconds = 10) {
  auto kernel = open_served(
      name, {.seconds = seconds, .resting_seconds = seconds, .process = {.resident_bytes = std::uint64_t{256} << 20}});
  if (!kernel) FAIL(kernel.why().message());
  return std::move(kernel).value();
}

/// O is full of the number of the call. A softcap of 1 fails, 2 waits for `released`, 3 is unsupported,
/// 4 fails with what may be a refusal.
std::atomic<int> calls_made = 0;
std::atomic<bool> released = false, waiting = false;

attest_status counts(attest_call const* call) {
  if (call->softcap == 1) return attest_serve_say("no softcap of one"), ATTEST_FAILED;
  if (call->softcap == 4) return attest_serve_say("\001assert softcap != 4"), ATTEST_FAILED;
  if (call->softcap == 3) return attest_serve_say("never seen\nthree"), ATTEST_UNSUPPORTED;
  if (call->softcap == 2) {
    waiting = true;
    while (!released) std::this_thread::yield();
  }
  float const value = static_cast<float>(++calls_made);
  auto const& shape = call->out->shape;
  auto* const o = reinterpret_cast<float*>(static_cast<std::byte*>(call->out->data) + call->out->byte_offset);
  for (std::int64_t h = 0; h < shape[1]; ++h)
    for (std::int64_t i = 0; i < shape[2]; ++i)
      std::fill_n(o + h * call->out->strides[1] + i * call->out->strides[2], shape[3], value);
  return ATTEST_OK;
}

/// A thread of this process that serves, and the end of its socket that the judge has.
class serving_thread {
 public:
  serving_thread() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    judge_ = ends[0], own_ = ends[1];
    thread_ = std::thread([this] {
      attest_server* const server = attest_serve_attached(own_, "counts");
      while (!stop_ && attest_serve_next(server, counts, 20) >= 0) continue;
      attest_serve_end(server);
      ::close(own_);
    });
  }
  ~serving_thread() {
    ::close(judge_);
    thread_.join();
  }
  problem::result<isolated_kernel> open(isolation_limits const& limits = {}) const {
    return isolated_kernel::open(kernel_library{.path = "callable:counts", .channel = judge_}, limits);
  }
  isolated_kernel opened() const {
    auto kernel = open();
    if (!kernel) FAIL(kernel.why().message());
    return std::move(kernel).value();
  }
  /// Stops like a process that ends by itself: later requests get no answer.
  void stop() { stop_ = true; }

 private:
  int judge_ = -1, own_ = -1;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

owned_problem capped(double softcap) {
  auto draft = small_draft();
  draft.softcap = softcap;
  return valid(std::move(draft));
}

float first_of(owned_outputs const& outputs) { return outputs.o->as<float>()[0]; }

}  // namespace

TEST_CASE("a program in the cage answers as the library does that it serves", "[unit]") {
  auto kernel = served("naive"), direct = opened("naive");
  CHECK(kernel.name() == "served by a program");
  CHECK(kernel.missing_protections() == direct.missing_protections());
  for (auto const type : {element_type::f32, element_type::f64})
    for (auto const position : all_positions) {
      owned_outputs given, expected;
      call_request const request{true, true, 1, position, {.row_gap = 3}};
      auto const report = kernel.run(small_problem(type), request, given);
      REQUIRE(report);
      INFO(report.value().sentence);
      REQUIRE(direct.run(small_problem(type), request, expected));
      CHECK(report.value().outcome == call_outcome::succeeded);
      CHECK(given.o->bytes == expected.o->bytes);
      CHECK(given.lse->bytes == expected.lse->bytes);
      CHECK(given.weights->bytes == expected.weights->bytes);
    }
  still_answers_unsupported(kernel);
}

TEST_CASE("what a served kernel does wrong is said as of a library", "[unit]") {
  struct {
    char const* kernel;
    call_outcome outcome;
    char const* says;
  } const kernels[] = {
      {"crash", call_outcome::crashed, "crashed with SIGSEGV"},
      {"reads_past_k", call_outcome::crashed, "crashed with SIGSEGV: reads element 0 past the end of k"},
      {"exits", call_outcome::exited, "exited with code"},
      {"aborts_with_words", call_outcome::crashed, "crashed with SIGABRT after it said '"},
      {"memory_hog", call_outcome::exceeded, "of memory"},
      {"unknown_status", call_outcome::unknown_status, "unknown status"},
      {"speaks_on_channel", call_outcome::unknown_status, "channel"},
  };
  for (auto const& of : kernels) {
    auto kernel = served(of.kernel);
    auto const report = run_once(kernel, small_problem());
    INFO(of.kernel << ": " << report.sentence);
    CHECK(report.outcome == of.outcome);
    CHECK_THAT(report.sentence, Contains(of.says));
    auto const again = run_once(kernel, small_problem());
    CHECK(again.outcome == of.outcome);
  }
  auto hung = served("hang", 0.5);
  CHECK(run_once(hung, small_problem()).outcome == call_outcome::hung);
  for (auto const& [name, promise] :
       {std::pair("scales_q", promise::leaves_inputs), std::pair("leaves_ftz", promise::restores_environment),
        std::pair("writes_gap", promise::leaves_gaps), std::pair("writes_descriptor", promise::leaves_descriptors)}) {
    auto kernel = served(name);
    auto const report = run_once(kernel, small_problem(), {.memory = {.row_gap = 2}});
    INFO(name << ": " << report.sentence);
    CHECK((report.broke(promise) || report.outcome == call_outcome::crashed));
  }
  CHECK(served("ftz_on_load").loading_changes_environment());
}

TEST_CASE("the cage holds a program as it holds a library", "[unit]") {
  // A folder that it may write if nothing stops it: any user may.
  auto const folder = fs::temp_directory_path() / ("attest-served-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::all);
  auto const report = folder / "report";
  std::ofstream(report) << "refuted";
  fs::permissions(report, fs::perms::all);
  ::setenv("ATTEST_TEST_FILE", report.c_str(), 1);
  {
    auto kernel = served("writes_files");
    run_once(kernel, small_problem());
  }
  ::unsetenv("ATTEST_TEST_FILE");
  std::string text;
  std::getline(std::ifstream(report) >> std::ws, text);
  CHECK(text == "refuted");
  CHECK(!fs::exists(report.native() + ".forged"));
  fs::remove_all(folder);
}

TEST_CASE("a program that cannot serve says why, and one that is no server is told from it", "[unit]") {
  auto const refused = open_served("no_such_library");
  REQUIRE(!refused);
  CHECK_THAT(refused.why().message(), Contains("cannot serve its kernel: ") && Contains("no_such_library"));
  auto const open = [](char const* program, std::vector<std::string> arguments) {
    auto const kernel = isolated_kernel::open(kernel_library{.path = program, .arguments = std::move(arguments)}, {},
                                              ATTEST_TEST_RUNNER);
    REQUIRE(!kernel);
    return kernel.why().message();
  };
  CHECK_THAT(open("/bin/true", {}), Contains("exited with code 0 while it was loaded"));
  CHECK_THAT(open("/bin/sh", {"-c", "echo no kernel here; exit 3"}),
             Contains("exited with code 3 while it was loaded after it said 'no kernel here'"));
  CHECK_THAT(open("/no/such/program", {}), Contains("there is no such file"));
  CHECK_THAT(open(ATTEST_TEST_KERNELS "/naive.so", {}),
             Contains("cannot be") || Contains("cannot serve") || Contains("crashed"));
}

TEST_CASE("a process that serves already answers several kernels of the judge in turn", "[unit]") {
  serving_thread const server;
  auto first = server.opened(), second = server.opened();
  CHECK(first.name() == "counts");
  calls_made = 0;
  for (int n = 1; n <= 6; ++n) {
    owned_outputs outputs;
    REQUIRE((n % 2 ? first : second).run(small_problem(), {}, outputs));
    CHECK(first_of(outputs) == static_cast<float>(n));
  }
  REQUIRE(first.missing_protections().size() == 1);
  CHECK_THAT(first.missing_protections().front(), Contains("the process that asked for the audit"));
  auto const isolated = server.open({.all_protections = true});
  REQUIRE(!isolated);
  CHECK_THAT(isolated.why().message(), Contains("which no protection isolates"));
}

TEST_CASE("what a kernel says of a call stands in its report", "[unit]") {
  serving_thread const server;
  auto kernel = server.opened();
  auto const failed = run_once(kernel, capped(1)), refused = run_once(kernel, capped(3));
  CHECK(failed.outcome == call_outcome::failed);
  CHECK(failed.sentence == "answered FAILED and said 'no softcap of one'");
  CHECK(refused.outcome == call_outcome::unsupported);
  CHECK_THAT(refused.sentence, Contains("never seen") && !Contains("\n"));
  CHECK(run_once(kernel, small_problem()).sentence == "answered");
}

TEST_CASE("a kernel that fails can say that it may have refused the call", "[unit]") {
  serving_thread const server;
  auto kernel = server.opened();
  auto const assertion = run_once(kernel, capped(4));
  CHECK(assertion.outcome == call_outcome::failed);
  CHECK(assertion.sentence == "answered FAILED and said 'assert softcap != 4'");
  CHECK(may_be_refusal(assertion));
  for (double const cap : {1.0, 3.0}) CHECK_FALSE(may_be_refusal(run_once(kernel, capped(cap))));
  CHECK_FALSE(may_be_refusal(run_once(kernel, small_problem())));
}

TEST_CASE("a call of another process that does not return is unanswered, and can be cut short", "[unit]") {
  serving_thread const server;
  auto opened = server.open({.waiting_seconds = 0.5});
  REQUIRE(opened);
  isolated_kernel kernel = std::move(opened).value();
  released = false;
  auto const report = run_once(kernel, capped(2));
  CHECK(report.outcome == call_outcome::unanswered);
  CHECK_THAT(report.sentence, Contains("did not return within 0.5 s"));
  released = true;
  CHECK(run_once(kernel, small_problem()).outcome == call_outcome::succeeded);

  released = false, waiting = false;
  std::atomic<bool> stop = false;
  std::thread stopper([&] {
    while (!waiting) std::this_thread::yield();
    stop = true;
  });
  CHECK(run_once(kernel, capped(2), {.stop = &stop}).outcome == call_outcome::cut_short);
  stopper.join();
  released = true;
  CHECK(run_once(kernel, small_problem()).outcome == call_outcome::succeeded);
}

TEST_CASE("a group of calls from several threads is served", "[unit]") {
  serving_thread const server;
  auto kernel = server.opened();
  owned_problem const problem = small_problem();
  std::vector<call_of_group> calls;
  for (std::uint32_t n = 0; n < 6; ++n) calls.push_back({.problem = &problem, .caller = n % 3});
  calls_made = 0;
  auto const answers = kernel.run_together(calls);
  REQUIRE(answers);
  std::vector<float> values;
  for (auto const& answer : answers.value()) {
    CHECK(answer.report.outcome == call_outcome::succeeded);
    values.push_back(first_of(answer.outputs));
  }
  std::ranges::sort(values);
  CHECK(values == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a process that has stopped to serve leaves calls unanswered, not the judge waiting", "[unit]") {
  serving_thread server;
  auto kernel = server.opened();
  CHECK(run_once(kernel, small_problem()).outcome == call_outcome::succeeded);
  server.stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  auto const report = run_once(kernel, small_problem());
  INFO(report.sentence);
  CHECK((report.outcome == call_outcome::unknown_status || report.outcome == call_outcome::unanswered));
}

}  // namespace attest::tests::served_kernel_test
