// Every output of every call of a case is judged against its own truth: a relation to the first call is asked besides.
#include "audit/judge/judge_case.hpp"

#include <atomic>
#include <cmath>
#include <thread>

#include "audit/cases/case.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/random.hpp"
#include "audit/cause/explain.hpp"
#include "audit/cause/ignored_field.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/audit/judge/answered_case.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::judge_case_test {
namespace {

using audit::relation;

struct answered_case {
  audit::audit_case asked{.check = "determinism", .name = "drawn", .problem = problem()};
  audit::case_outputs outputs;

  /// A problem, and one further call of the same problem.
  answered_case(relation is, bool promised) {
    asked.further.push_back(
        {.is = is, .problem = asked.problem, .says = "with 3 threads", .threads = 3, .promised = promised});
    for (int call = 0; call < 2; ++call) outputs.push_back(builtin_answer(asked.problem.draft()));
  }
  static audit::owned_problem problem() {
    recipe r;
    r.n = 3, r.m = 9, r.d = 8, r.dv = 8, r.seed = 4;
    return audit::owned_problem::of_valid(make_problem(r));
  }
  void spoil(std::size_t call) {
    audit::owned_tensor& o = *outputs[call]->o;
    for (std::size_t at = 0; at < o.bytes.size() / sizeof(float); ++at) audit::store(o, at, audit::load(o, at) + 1);
  }
  audit::case_result judged() const {
    audit::case_result found;
    audit::judge_case(asked, outputs, {.claim = audit::find_contract("f32")}, found);
    return found;
  }
};

}  // namespace

TEST_CASE("a call with other threads that is off by 1 is refuted, although it need not have the same bits", "[unit]") {
  answered_case threads(relation::same_bits, false);
  CHECK(threads.judged().judged.failed == 0);
  CHECK(threads.judged().observations.empty());
  threads.spoil(1);
  audit::case_result const found = threads.judged();
  CHECK(found.observations.size() == 1);
  CHECK(found.judged.failed == 24);
  CHECK(found.judged.violations.front().call == 1);
}

TEST_CASE("a finite number in the place of another shows no step of the arithmetic", "[unit]") {
  using enum audit::bug_class;
  auto const class_of = [](audit::violation wrong, audit::bug_class by_check) {
    std::vector all{std::move(wrong)};
    audit::suspect(all, by_check);
    return *all.front().bug_class;
  };
  audit::violation finite;
  finite.output = "o", finite.got = 1, finite.truth_lower = finite.truth_upper = 2;
  for (audit::bug_class const step : {cheap_exp, low_precision, fast_math, nan_swallowed, crash})
    CHECK(class_of(finite, step) == accuracy);
  for (audit::bug_class const other : {causal_alignment, nondeterminism}) CHECK(class_of(finite, other) == other);
  audit::violation lost = finite;
  lost.truth_lower = lost.truth_upper = std::nan("");
  CHECK(class_of(lost, nan_swallowed) == nan_swallowed);
  audit::violation seen = finite;
  seen.bug_class = cheap_exp;
  CHECK(class_of(seen, accuracy) == cheap_exp);
}

TEST_CASE("an LSE beside a wrong O has the class of that, and lse where O is right", "[unit]") {
  audit::violation of_lse, of_o;
  of_lse.output = "lse", of_o.output = "o";
  std::vector both{of_lse, of_o}, alone{of_lse};
  audit::suspect(both, audit::bug_class::sink), audit::suspect(alone, audit::bug_class::sink);
  CHECK(both.front().bug_class == audit::bug_class::sink);
  CHECK(both.front().basis == audit::class_basis::check);
  CHECK(alone.front().bug_class == audit::bug_class::lse);
  CHECK(alone.front().basis == audit::class_basis::seen);
}

TEST_CASE("the outputs of a call that only warms up are judged", "[unit]") {
  answered_case warm(relation::warm_up, true);
  std::int64_t const both = warm.judged().judged.judged();
  warm.spoil(1);
  CHECK(warm.judged().judged.failed == 24);
  warm.outputs[1].reset();
  CHECK(warm.judged().judged.judged() * 2 == both);
}

TEST_CASE("further calls are judged where the first has no outputs", "[unit]") {
  for (relation const is : {relation::same_bits, relation::same_rows, relation::part, relation::warm_up}) {
    answered_case later(is, true);
    later.spoil(1);
    later.outputs[0].reset();
    CHECK(later.judged().judged.failed == 24);
  }
}

TEST_CASE("an output that the first call does not have is judged beside the same bits of O", "[unit]") {
  answered_case later(relation::same_bits, true);
  later.outputs[0]->lse.reset();
  CHECK(later.judged().judged.failed == 0);
  for (std::size_t at = 0; at < 3; ++at) audit::store(*later.outputs[1]->lse, at, 1e6);
  audit::case_result const found = later.judged();
  CHECK(found.judged.failed == 3);
  REQUIRE_FALSE(found.judged.violations.empty());
  CHECK(found.judged.violations.front().output == "lse");
  CHECK(found.judged.violations.front().call == 1);
}

TEST_CASE("rows of no query that a further call wrote are found beside the same bits", "[unit]") {
  audit::contract claim = *audit::find_contract("f32");
  claim.conventions.padding_rows = audit::conventions::padding::kept;
  for (relation const is : {relation::same_bits, relation::same_rows, relation::warm_up}) {
    answered_case later(is, true);
    later.outputs[1]->padding[0].changed = {2, 1};
    audit::case_result found;
    audit::judge_case(later.asked, later.outputs, {.claim = &claim}, found);
    CHECK(found.judged.failed == 2);
    REQUIRE_FALSE(found.judged.violations.empty());
    CHECK(found.judged.violations.front().call == 1);
    CHECK(later.judged().judged.failed == 0);  // without such a contract
  }
}

TEST_CASE("weights at hidden keys of a NaN row may be NaN or 0, at visible ones NaN alone", "[unit]") {
  recipe r;
  r.n = 4, r.m = 4, r.d = 8, r.dv = 8, r.seed = 2;
  audit::problem_draft draft = make_problem(r);
  draft.band = {0, -1, 0};
  audit::store(draft.q, 0, std::nan(""));  // query 0 sees key 0 alone
  audit::audit_case asked{.check = "poison", .name = "one", .problem = audit::owned_problem::of_valid(draft)};
  audit::owned_outputs const answer = builtin_answer(asked.problem.draft());
  for (double const hidden : {0.0, std::nan("")})
    for (double const visible : {0.0, std::nan("")}) {
      audit::owned_outputs outputs = answer;
      audit::store(*outputs.weights, 0, visible);
      audit::store(*outputs.weights, 3, hidden);
      audit::case_result found;
      audit::judge_case(asked, {outputs}, {.claim = audit::find_contract("f32")}, found);
      CHECK(found.judged.failed == (std::isnan(visible) ? 0 : 1));
    }
}

TEST_CASE("that a field is ignored says nothing of faults that were found before", "[unit]") {
  audit::call_form form{.size = {1, 2, 2, 4, 6, 8, 8}};
  form.options.add(audit::feature::bias);
  audit::audit_case asked = sampled(form, {});
  asked.check = "support";
  audit::problem_draft without = asked.problem.draft();
  without.bias.reset();
  audit::case_outputs const outputs{builtin_answer(without)};
  audit::case_result found;
  found.judged.failed = 1;
  found.judged.violations.push_back({.output = "o",
                                     .error_in_bounds = std::numeric_limits<double>::infinity(),
                                     .bug_class = audit::bug_class::memory,
                                     .sentence = "writes before the start of o"});
  audit::judge_and_explain(asked, outputs, {.claim = audit::find_contract("f32")}, found);
  REQUIRE(found.judged.violations.size() > 1);
  for (audit::violation const& wrong : found.judged.violations)
    CHECK(wrong.bug_class ==
          (wrong.sentence.starts_with("writes before") ? audit::bug_class::memory : audit::bug_class::ignored_field));
}

TEST_CASE("a cancelled judgement does not say that a field is ignored", "[unit]") {
  audit::call_form form{.size = {1, 2, 2, 4, 6, 8, 8}};
  form.options.add(audit::feature::bias);
  audit::audit_case const asked = sampled(form, {});
  audit::owned_outputs wrong = builtin_answer(asked.problem.draft());
  for (std::size_t at = 0; at < 64; ++at) audit::store(*wrong.o, at, 7);
  std::atomic<bool> cancelled = false;
  std::optional<audit::feature> ignored;
  CHECK(audit::interruptible([&] { return cancelled.load(); },
                             [&] {
                               cancelled = true;
                               while (!tbb::is_current_task_group_canceling()) std::this_thread::yield();
                               ignored = audit::ignored_field(asked, wrong, *audit::find_contract("f32"));
                             }));
  CHECK_FALSE(ignored);
}

TEST_CASE(
    "a row without a key that is the mean of V, or that of every key, changes with hidden values, and no other row "
    "does",
    "[unit]") {
  recipe r;
  r.n = 3, r.m = 9, r.d = 8, r.dv = 8, r.seed = 4;
  audit::problem_draft draft = make_problem(r);
  draft.mask = audit::owned_tensor::compact(problem::element_type::u8, {1, 1, 3, 9});
  audit::fill(*draft.mask,
              [](auto, auto, auto i, auto j) { return i != 1 && j != 4; });  // query 1 sees none, key 4 is hidden
  audit::audit_case asked{.check = "poison", .name = "drawn", .problem = audit::owned_problem::of_valid(draft)};
  // The same call without a mask on query 1, which is what `unmasked` says of it.
  auto const answer = [](audit::problem_draft hidden) {
    audit::owned_outputs right = builtin_answer(hidden);
    hidden.mask.reset();
    audit::owned_outputs const all = builtin_answer(hidden);
    for (std::size_t c = 8; c < 16; ++c) audit::store(*right.o, c, audit::load(*all.o, c));
    for (std::size_t j = 9; j < 18; ++j) audit::store(*right.weights, j, audit::load(*all.weights, j));
    audit::store(*right.lse, 1, audit::load(*all.lse, 1));
    return right;
  };
  audit::case_outputs outputs{answer(draft)};
  audit::fill(draft.v, [&](auto b, auto h, auto j, auto c) {
    return j == 4 ? 100.0 : audit::load(draft.v, audit::offset_of(draft.v, b, h, j, c));
  });
  asked.must_equal(audit::owned_problem::of_valid(draft), "V at hidden keys holds 100");
  outputs.push_back(answer(draft));
  audit::contract claim = *audit::find_contract("f32");
  claim.conventions.empty_row = audit::conventions::row::unmasked;
  auto const failed = [&] {
    audit::case_result found;
    audit::judge_case(asked, outputs, {.claim = &claim}, found);
    return found.judged.failed;
  };
  CHECK(failed() == 0);
  audit::owned_outputs const right = *outputs[1];
  audit::store(*outputs[1]->o, 8, 1e3);  // query 1: the answer to the further call is wrong
  CHECK(failed() == 1);
  outputs[1] = right;
  audit::store(*outputs[1]->o, 16,
               std::nextafter(static_cast<float>(audit::load(*right.o, 16)), 10.0F));  // query 2: other bits
  CHECK(failed() == 1);
}

// Bounds that leave room for rounded weights had room enough for most of what this forgot.
TEST_CASE("parts whose O is rounded to bf16 or f16 are merged under a bound that knows it", "[unit]") {
  for (auto const type : {problem::element_type::bf16, problem::element_type::f16}) {
    std::int64_t failed = 0, judged = 0;
    int wrong_and_found = 0, cases = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      for (audit::audit_case const& split :
           audit::generated_cases({.type = type, .seed = seed, .checks = {"split-and-merge"}})) {
        audit::contract const claim = builtin_claim(split.problem.instance());
        audit::case_outputs outputs;
        for (std::size_t call = 0; call <= split.further.size(); ++call)
          outputs.push_back(builtin_answer(split.call(call).draft()));
        audit::case_result right, wrong;
        audit::judge_case(split, outputs, {.claim = &claim}, right);
        failed += right.judged.failed, judged += right.judged.judged();
        // Where the LSE of one part is 0.5 off, its own bound sees that, and the merge besides.
        audit::owned_tensor& lse = *outputs[1]->lse;
        auto const rows = static_cast<std::int64_t>(lse.bytes.size() / sizeof(float));
        for (std::int64_t at = 0; at < rows; ++at)
          audit::store(lse, static_cast<std::size_t>(at), audit::load(lse, static_cast<std::size_t>(at)) + 0.5);
        audit::judge_case(split, outputs, {.claim = &claim}, wrong);
        ++cases, wrong_and_found += wrong.judged.failed > rows;
      }
    CHECK(failed == 0);
    CHECK(judged > 10000);
    CHECK(wrong_and_found == cases);
  }
}

}  // namespace attest::tests::judge_case_test
