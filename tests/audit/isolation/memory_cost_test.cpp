// What memory forms cost: address space, memory that is given back, forms that the system cannot give.
#include <algorithm>
#include <cstdint>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/audit/isolation/isolation.hpp"
#include "tests/audit/isolation/memory_forms.hpp"

namespace attest::tests::memory_cost_test {
namespace {

namespace problem = attest::problem;

}  // namespace

TEST_CASE("tensors far apart take address space and no memory or time", "[unit]") {
  auto kernel = opened("naive");
  memory_form const far{.far_batch = beyond_32_bits};
  auto const problem = problem_for(far);
  double least = 1;
  for (int n = 0; n < 5; ++n) {
    auto const start = std::chrono::steady_clock::now();
    auto const got = ask(kernel, problem, far);
    std::chrono::duration<double> const whole = std::chrono::steady_clock::now() - start;
    CHECK(got.report.outcome == call_outcome::succeeded);
    least = std::min(least, whole.count() - got.report.seconds);
  }
  CHECK(least < 0.1);
}

namespace {

/// Bytes that the memory of the calls of this process holds: of all files that isolated kernels share.
std::uint64_t held_bytes() {
  std::uint64_t bytes = 0;
  for (auto const& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code code;
    auto const target = fs::read_symlink(entry.path(), code);
    struct stat about{};
    if (!code && target.native().find("attest-call") != std::string::npos && ::stat(entry.path().c_str(), &about) == 0)
      bytes += static_cast<std::uint64_t>(about.st_blocks) * 512;
  }
  return bytes;
}

/// `queries` rows of 16 elements, one key.
owned_problem long_problem(std::int64_t queries, double softcap = 0) {
  problem_draft draft;
  draft.softcap = softcap;
  draft.q = owned_tensor::compact(element_type::f32, {queries, 16});
  draft.k = filled(element_type::f32, {1, 16});
  draft.v = filled(element_type::f32, {1, 1});
  return valid(std::move(draft));
}

}  // namespace

TEST_CASE("the memory of a large call is given back", "[unit]") {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  auto kernel = opened("naive");
  CHECK(run_once(kernel, long_problem(2'000'000, 30)).outcome == call_outcome::unsupported);  // at once
  CHECK(held_bytes() > 128 * mib);
  CHECK(run_once(kernel, small_problem()).outcome == call_outcome::succeeded);
  CHECK(held_bytes() < mib);
  auto const far = form_named("far rows");
  CHECK(ask(kernel, problem_for(far), far).report.outcome == call_outcome::succeeded);
  CHECK(held_bytes() < 4 * mib);
}

TEST_CASE("the limit on the kernel's memory does not count the tensors", "[unit]") {
  auto kernel = isolated_kernel::open(library("naive"), "attest_attention",
                                      {.process = {.resident_bytes = std::uint64_t{24} << 20}}, ATTEST_TEST_RUNNER);
  REQUIRE(kernel);
  auto const report = run_once(kernel.value(), long_problem(500'000));  // 34 MB of tensors
  INFO(report.sentence);
  CHECK(report.outcome == call_outcome::succeeded);
}

TEST_CASE("a form that the system cannot give is not asked, and says so", "[unit]") {
  auto const& far = form_named("far batch");
  auto limited = isolated_kernel::open(library("naive"), "attest_attention", {.address_bytes = std::uint64_t{1} << 30},
                                       ATTEST_TEST_RUNNER);
  REQUIRE(limited);
  auto refused = ask(limited.value(), problem_for(far), far).report;
  CHECK(refused.outcome == call_outcome::not_asked);
  CHECK(refused.sentence == "not asked: the call needs more than the 1 GiB of address space that it may have");
  CHECK(run_once(limited.value(), small_problem()).outcome == call_outcome::succeeded);

  rlimit before;  // which the kernel's process inherits
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  rlimit const few{std::uint64_t{8} << 30, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_AS, &few) == 0);
  auto kernel = opened("naive");
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  refused = ask(kernel, problem_for(far), far).report;
  CHECK(refused.outcome == call_outcome::not_asked);
  CHECK(refused.sentence == "not asked: the call needs more than the 2 GiB of address space that it may have");

  memory_form const many{.far_row = beyond_32_bits};  // a part of memory for each row
  problem_draft draft;
  draft.q = owned_tensor::compact(element_type::f32, {2000, 1});
  draft.k = draft.v = owned_tensor::compact(element_type::f32, {1, 1});
  refused = ask(kernel, valid(std::move(draft)), many).report;
  CHECK(refused.sentence == "not asked: the call has more than 1024 parts of memory");
}

}  // namespace attest::tests::memory_cost_test
