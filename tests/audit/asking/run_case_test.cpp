// A case is asked with the memory forms of its calls, and judged as without them.
#include "audit/asking/run_case.hpp"

#include "audit/judge/by_law.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/audit/asking/asked_case.hpp"
#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests::run_case_test {
namespace {

namespace problem = attest::problem;
using Catch::Contains;

owned_problem nan_at_hidden_key() {
  problem_draft draft = two_heads().draft();
  draft.mask = owned_tensor::compact(element_type::u8, {1, 1, 1, 3});
  draft.mask->as<std::uint8_t>()[0] = 1;
  store(draft.k, 4, std::nan(""));
  return valid(std::move(draft));
}

/// A session after one call.
kernel_session after_a_call(char const* name, isolation_limits const& limits = {}) {
  kernel_session opened = session(name, limits);
  CHECK(opened.run(two_heads(), 0, placement::end));
  return opened;
}

/// Three problems of 40 keys, all asked again in groups by so many threads.
audit_case in_groups(std::int32_t callers) {
  audit_case asked{.check = "concurrent-calls", .name = "three", .problem = two_heads(), .callers = callers};
  for (int number = 0; number < 3; ++number) {
    problem_draft draft;
    for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) {
      *t = owned_tensor::compact(element_type::f32, {1, 2, 40, 16});
      fill(*t, [&](auto, auto h, auto i, auto c) {
        return 0.25 * static_cast<double>((h * 5 + i * (3 + number) + c * 7 + number) % 11) - 1;
      });
    }
    if (number == 0) asked.problem = valid(std::move(draft));
    else asked.further.push_back({.is = relation::warm_up, .problem = valid(std::move(draft)), .says = "another call"});
  }
  return asked;
}

/// A race shows soon, not always.
case_result ask_until_wrong(audit_case const& asked, kernel_session& kernel, judging_rules const& rules) {
  for (int tries = 1;; ++tries) {
    auto found = run_case(asked, kernel, rules, nullptr);
    if (!found) FAIL(found.why().message());
    if (found.value().judged.failed > 0 || !found.value().observations.empty() || tries == 20)
      return std::move(found).value();
  }
}

}  // namespace

TEST_CASE("calls from several threads at once are judged; what is wrong refutes where they are required", "[unit]") {
  judging_rules const usual{.claim = find_contract("f32")}, strict{.claim = usual.claim, .concurrent = true};
  auto wrong = session("shared_scratch"), honest = session("thread_scratch");
  for (std::int32_t const callers : {2, 4}) {
    auto const seen = ask_until_wrong(in_groups(callers), wrong, usual);
    CHECK(seen.judged.failed == 0);
    REQUIRE(seen.observations.size() == 1);
    CHECK_THAT(seen.observations[0], Contains("concurrent-calls/three: right one by one, and wrong when called from " +
                                              std::to_string(callers) + " threads at the same time: "));
    auto const refuted = ask_until_wrong(in_groups(callers), wrong, strict);
    REQUIRE(refuted.judged.failed > 0);
    CHECK(refuted.observations.empty());
    violation const& first = refuted.judged.violations.front();
    CHECK(first.callers == callers);
    CHECK(first.bug_class == bug_class::nondeterminism);
    CHECK_THAT(first.sentence, Contains(std::to_string(callers) + " threads called at the same time"));
    for (judging_rules const& rules : {usual, strict}) {
      auto found = run_case(in_groups(callers), honest, rules, nullptr);
      REQUIRE(found);
      CHECK(found.value().judged.failed == 0);
      CHECK(found.value().observations.empty());
    }
  }
}

TEST_CASE("bits that vary between equal calls are no fault of hidden keys", "[unit]") {
  auto honest = session("bits_vary"), steady = session("naive");
  audit_case asked{.check = "poison", .name = "mask-nan", .problem = nan_at_hidden_key()};
  for (int call = 0; call < 4; ++call) asked.must_equal(asked.problem, "K and V at masked keys hold nan");
  auto const found = ask(asked, honest);
  CHECK(found.judged.failed == 0);
  REQUIRE_FALSE(found.observations.empty());
  for (std::string const& seen : found.observations)
    CHECK_THAT(seen, Contains("the same call has other bits from time to time"));
  CHECK(ask(asked, steady).observations.empty());
  asked.must_equal(two_heads(), "K and V at masked keys hold others");
  CHECK(ask(asked, steady).judged.failed > 0);
}

TEST_CASE("the check determinism refutes bits that vary between equal calls", "[unit]") {
  auto varying = session("bits_vary"), steady = session("naive");
  audit_case asked{.check = "determinism", .name = "square16", .problem = nan_at_hidden_key()};
  for (int call = 0; call < 4; ++call) asked.must_equal(asked.problem, "the same call again");
  CHECK(ask(asked, varying).judged.failed > 0);
  CHECK(ask(asked, steady).judged.failed == 0);
}

TEST_CASE("a kernel without dBias is asked for its other gradients beside a bias", "[unit]") {
  problem_draft draft = two_heads().draft();
  draft.of = &problem::backward;
  draft.d_out = owned_tensor::compact(element_type::f32, {2, 2, 3, 4});
  draft.bias = owned_tensor::compact(element_type::f32, {1, 1, 3, 3});
  audit_case asked{.check = "backward", .name = "bias", .problem = valid(std::move(draft))};
  auto kernel = session("no_dbias");
  for (asked.callers = 1; asked.callers <= 2; ++asked.callers) {  // in groups, too
    auto const together = run_case(asked, kernel, {.claim = find_contract("f32"), .concurrent = true}, nullptr);
    REQUIRE(together);
    CHECK(together.value().judged.failed == 0);
  }
  asked.callers = 0;
  case_outputs outputs;
  auto const found = run_case(asked, kernel, {.claim = find_contract("f32")}, &outputs);
  REQUIRE(found);
  CHECK_FALSE(found.value().unsupported);
  CHECK(found.value().judged.failed == 0);
  REQUIRE(outputs[0]);
  CHECK(outputs[0]->dq);
  CHECK_FALSE(outputs[0]->dbias);
}

TEST_CASE("an output that a later call changes is a finding", "[unit]") {
  auto wrong = session("writes_earlier_out"), honest = session("naive");
  CHECK(ask(in_groups(1), honest).judged.failed == 0);
  audit_case asked = in_groups(0);
  CHECK(ask(asked, wrong).judged.failed == 0);  // unseen one by one
  asked.callers = 1;
  auto const found = ask(asked, wrong).judged;
  REQUIRE(found.failed > 0);
  violation const& first = found.violations.front();
  CHECK(first.bug_class == bug_class::memory);
  CHECK(first.callers == 1);
  CHECK_THAT(first.sentence, Contains("the outputs of a call change in a later one"));
}

TEST_CASE("rows of no query are judged in the second call of a problem and in groups, too", "[unit]") {
  problem_draft draft = two_heads().draft();
  draft.v = owned_tensor::compact(element_type::f32, {2, 2, 3, 4});
  draft.q_lengths = owned_tensor::compact(element_type::i32, {2});
  draft.q_lengths->as<std::int32_t>()[0] = 2, draft.q_lengths->as<std::int32_t>()[1] = 3;
  audit_case asked{.check = "lengths", .name = "drawn", .problem = valid(std::move(draft)), .asks = {false, false}};
  contract kept = *find_contract("f32");
  kept.conventions.padding_rows = conventions::padding::kept;
  for (contract const* claim : {find_contract("f32"), const_cast<contract const*>(&kept)}) {
    auto kernel = after_a_call("pads_third_call");
    auto const found = run_case(asked, kernel, {.claim = claim}, nullptr);
    REQUIRE(found);
    REQUIRE(found.value().judged.judged() > 0);
    CHECK(found.value().judged.failed == (claim == &kept ? 2 : 0));  // one row of each head
  }
  // The third call is the first call that is made while the tensors of others are in memory.
  asked.once = true, asked.callers = 1;
  auto kernel = after_a_call("pads_third_call");
  auto const found = run_case(asked, kernel, {.claim = &kept}, nullptr);
  REQUIRE(found);
  CHECK(found.value().judged.failed == 2);
}

TEST_CASE("a call that a convention leaves open is not judged a second time", "[unit]") {
  audit_case const asked{.check = "poison", .name = "drawn", .problem = nan_at_hidden_key()};
  contract finite = *find_contract("f32");
  finite.conventions.masked_values = conventions::masked::must_be_finite;
  for (contract const* claim : {find_contract("f32"), const_cast<contract const*>(&finite)}) {
    auto kernel = after_a_call("wrong_fifth_call");
    for (bool const fifth : {false, true}) {
      auto const found = run_case(asked, kernel, {.claim = claim}, nullptr);
      REQUIRE(found);
      CHECK((found.value().judged.failed > 0) == (fifth && claim != &finite));
    }
  }
}

TEST_CASE("a call that a convention leaves open is not judged among others", "[unit]") {
  audit_case asked{
      .check = "concurrent-calls", .name = "one", .problem = nan_at_hidden_key(), .once = true, .callers = 1};
  contract finite = *find_contract("f32");
  finite.conventions.masked_values = conventions::masked::must_be_finite;
  for (contract const* claim : {find_contract("f32"), const_cast<contract const*>(&finite)}) {
    auto kernel = after_a_call("wrong_fifth_call");
    auto const found = run_case(asked, kernel, {.claim = claim}, nullptr);
    REQUIRE(found);
    CHECK((found.value().judged.failed > 0) == (claim != &finite));
  }
}

TEST_CASE("the second call of a problem of lower rank is judged", "[unit]") {
  problem_draft draft;
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) {
    *t = owned_tensor::compact(element_type::f32, {2, 3, 4});
    for (std::size_t at = 0; at < 24; ++at) store(*t, at, 0.25 * static_cast<double>(at % 7));
  }
  audit_case const asked{.check = "recorded", .name = "drawn", .problem = valid(std::move(draft))};
  auto kernel = after_a_call("wrong_fifth_call");
  CHECK(ask(asked, kernel).judged.failed == 0);
  CHECK(ask(asked, kernel).judged.failed > 0);
}

TEST_CASE("the first call of a process is the first of a case", "[unit]") {
  auto kernel = session("wrong_fifth_call");
  owned_problem const problem = two_heads();
  for (int call = 1; call <= 5; ++call) {
    auto const ran = kernel.run(problem, 0, placement::end);
    REQUIRE(ran);
    auto const judged = judge_by_law(problem, ran.value().outputs, *find_contract("f32"), {}, thoroughness::verdict);
    CHECK((judged.failed > 0) == (call == 5));
  }
}

TEST_CASE("a hang and an end by SIGKILL count where they are seen twice", "[unit]") {
  owned_problem const problem = in_groups(0).problem;
  std::vector<call_outcome> outcomes;
  auto const ask_times = [&](char const* name, int times) {
    auto kernel = after_a_call(name, {.seconds = 0.2, .resting_seconds = 0.2});
    outcomes.clear();
    for (int n = 0; n < times; ++n) {
      auto const ran = kernel.run(problem, 0, placement::end);
      REQUIRE(ran);
      outcomes.push_back(ran.value().report.outcome);
    }
  };
  using enum call_outcome;
  ask_times("third_call_hangs", 4);  // the third of the second process is the second hang
  CHECK(outcomes == std::vector{succeeded, unanswered, succeeded, hung});
  ask_times("third_call_killed", 4);
  CHECK(outcomes == std::vector{succeeded, unanswered, succeeded, crashed});
  ask_times("hang", 1);
  CHECK(outcomes == std::vector{hung});
}

TEST_CASE("a kernel that hangs where calls overlap is observed, and refuted where they are required", "[unit]") {
  auto kernel = session("waits_for_other_calls", {.seconds = 0.3});
  auto const seen = run_case(in_groups(4), kernel, {.claim = find_contract("f32")}, nullptr);
  REQUIRE(seen);
  CHECK_FALSE(seen.value().hung);
  REQUIRE(seen.value().observations.size() == 1);
  CHECK_THAT(seen.value().observations[0], Contains("did not return within"));
  auto const again = run_case(in_groups(2), kernel, {.claim = find_contract("f32")}, nullptr);
  REQUIRE(again);
  REQUIRE(again.value().observations.size() == 1);
  CHECK(again.value().observations[0] ==
        "concurrent-calls/three: not asked from 2 threads at the same time: such calls hung before");
  auto another = session("waits_for_other_calls", {.seconds = 0.3});
  auto const refuted = run_case(in_groups(4), another, {.claim = find_contract("f32"), .concurrent = true}, nullptr);
  REQUIRE(refuted);
  CHECK(refuted.value().hung);
  CHECK(refuted.value().judged.failed == 1);
}

TEST_CASE("the calls of a case are made in their memory forms", "[unit]") {
  auto honest = session("naive"), wrong = session("q_as_compact");
  memory_form const inside{.heads_inside = true};
  for (auto const& asked : {in_memory({}, {}), in_memory(inside, {}), in_memory({}, inside)}) {
    auto const right = ask(asked, honest).judged;
    CHECK(right.failed == 0);
    CHECK(right.judged() > 0);
  }
  CHECK(ask(in_memory({}, {}), wrong).judged.failed == 0);
  auto const first = ask(in_memory(inside, {}), wrong).judged;
  REQUIRE(first.failed > 0);
  auto const second = ask(in_memory({}, inside), wrong).judged;
  REQUIRE(second.failed > 0);
  CHECK(second.violations.front().call == 1);
  CHECK_THAT(second.violations.front().sentence, Contains("; in this call, Q, K, V and O lie in the order"));
}

TEST_CASE("a call that could not be asked is an observation", "[unit]") {
  auto kernel = session("naive", {.address_bytes = std::uint64_t{1} << 30});
  auto const found = ask(in_memory({.far_batch = std::int64_t{1} << 31}, {}), kernel);
  CHECK(found.judged.failed == 0);
  CHECK(found.unsupported);
  REQUIRE(found.observations.size() == 1);
  CHECK(found.observations[0] ==
        "layout/drawn: not asked: the call needs more than the 1 GiB of address space that it may have");
}

}  // namespace attest::tests::run_case_test
