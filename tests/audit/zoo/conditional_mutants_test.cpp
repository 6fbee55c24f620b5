// The mutants of the family `conditional`: inside their condition their answer is not the honest one, and outside, up
// to the edge, it is the honest one to the bit. Each is asked directly, without an audit.
#include <algorithm>
#include <csignal>
#include <set>
#include <span>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "audit/zoo/conditional/asked.hpp"
#include "audit/zoo/zoo.hpp"
#include "tests/audit/zoo/conditional_edges.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::conditional_mutants_test {
namespace {

using enum memory_form;

zoo::specimen const& mutant(std::string_view name) {
  zoo::specimen const* const found = zoo::find_specimen(name);
  REQUIRE(found != nullptr);
  return *found;
}

bool is_honest_on(zoo::specimen const& tested, small_call const& asked) {
  return answer_of(tested.kernel, asked) == answer_of(attest_attention, asked);
}

TEST_CASE("a conditional mutant is wrong inside its condition, and honest to the bit outside", "[unit]") {
  for (std::span<edge const> const some : {std::span<edge const>(edges), std::span<edge const>(question_edges)})
    for (edge const& at : some) {
      INFO(at.name);
      zoo::specimen const& tested = mutant(at.name);
      CHECK(tested.family == zoo::conditional_family);
      CHECK(is_honest_on(tested, at.outside));
      CHECK_FALSE(is_honest_on(tested, at.inside));
    }
}

TEST_CASE("every conditional mutant is asked on both sides of its edge, and there are 170 at least", "[unit]") {
  // Those that time or chance decides, that touch other memory or crash, have tests of their own.
  std::set<std::string_view> asked{"after_a_minute",     "one_call_in_10000",   "writes_into_earlier_out",
                                   "shares_a_workspace", "divides_by_no_heads", "the_first_call"};
  for (edge const& at : edges) asked.insert(at.name);
  for (edge const& at : question_edges) asked.insert(at.name);
  std::set<std::string_view> mutants;
  for (zoo::specimen const& specimen : zoo::specimens())
    if (specimen.family == zoo::conditional_family && !specimen.is_honest()) mutants.insert(specimen.name);
  CHECK(mutants == asked);
  CHECK(mutants.size() >= 170);
}

TEST_CASE("the mutant of time is honest for a minute from its first call on", "[unit]") {
  static std::chrono::steady_clock::time_point now{};
  zoo::mutant_clock = [] { return now; };
  zoo::specimen const& tested = mutant("after_a_minute");
  CHECK(is_honest_on(tested, {}));
  now += std::chrono::seconds(60);
  CHECK(is_honest_on(tested, {}));
  now += std::chrono::seconds(1);
  CHECK_FALSE(is_honest_on(tested, {}));
  zoo::mutant_clock = std::chrono::steady_clock::now;
}

TEST_CASE("the mutant of the first call is honest from the second on", "[unit]") {
  zoo::specimen const& tested = mutant("the_first_call");
  CHECK_FALSE(is_honest_on(tested, {}));
  CHECK(is_honest_on(tested, {}));
}

TEST_CASE("the mutant of chance is wrong in about one call of 10000", "[unit]") {
  zoo::specimen const& tested = mutant("one_call_in_10000");
  small_call_memory call({.n = 1, .m = 1, .d = 1, .dv = 1});
  small_answer const honest = call.answer_of(attest_attention);
  int wrong = 0;
  for (int n = 0; n < 100'000; ++n) wrong += call.answer_of(tested.kernel) != honest;
  CHECK(wrong > 2);
  CHECK(wrong < 30);
}

TEST_CASE("the mutant that remembers out writes into the one of the call before", "[unit]") {
  zoo::specimen const& tested = mutant("writes_into_earlier_out");
  CHECK_FALSE(tested.contained);
  small_call_memory first({}), second({});
  small_answer const honest = first.answer_of(attest_attention);
  CHECK(first.answer_of(tested.kernel) == honest);
  CHECK(first.answer_of(tested.kernel) == honest);
  CHECK(second.answer_of(tested.kernel) == honest);
  CHECK(first.out().bytes() != honest.o);
}

TEST_CASE("the mutant that divides by the number of heads crashes where there are none", "[unit]") {
  zoo::specimen const& tested = mutant("divides_by_no_heads");
  CHECK_FALSE(tested.contained);
  for (std::int64_t const heads : {0, 1}) {
    pid_t const child = fork();
    if (child == 0) {
      signal(SIGFPE, SIG_DFL);
      small_call_memory({.hq = heads}).answer_of(tested.kernel);
      _exit(0);
    }
    int ended = 0;
    REQUIRE(waitpid(child, &ended, 0) == child);
    CHECK((heads == 0 ? WIFSIGNALED(ended) && WTERMSIG(ended) == SIGFPE : WIFEXITED(ended)));
  }
}

TEST_CASE("a kernel that withholds LSE where it would be wrong is no mutant", "[unit]") {
  zoo::specimen const& tested = mutant("lse_withheld_above_1024_keys");
  CHECK(tested.is_honest());
  CHECK(is_honest_on(tested, {.m = 1024}));
  small_call_memory longer({.m = 1025});
  CHECK(longer.answer_of(tested.kernel) == small_answer{});
  small_answer honest = longer.answer_of(attest_attention);
  longer.call.lse = nullptr;
  CHECK(longer.answer_of(tested.kernel).o == honest.o);
}

TEST_CASE("honest kernels that prepare their call answer as the kernel behind them", "[unit]") {
  for (std::string_view const name :
       {"no_condition", "works_on_copies", "keeps_a_workspace", "keeps_a_workspace_a_thread", "band_made_a_mask"}) {
    INFO(name);
    zoo::specimen const& tested = mutant(name);
    CHECK(tested.is_honest());
    CHECK(is_honest_on(tested, {.b = 2, .hq = 2, .n = 20, .m = 20, .mask = "b11", .bias = "1hn", .right = 0}));
    CHECK(is_honest_on(tested, {.n = 20, .m = 20, .left = 3, .right = 1, .memory = gaps_in_out}));
    CHECK(is_honest_on(
        tested, {.hq = 2, .n = 3, .m = 20, .type = element_type::bf16, .mask = "1hn", .memory = keys_before_heads}));
  }
}

}  // namespace
}  // namespace attest::tests::conditional_mutants_test
