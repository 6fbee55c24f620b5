// What a contract says of the LSE of a query without keys, and of merges that get it.
#include <cmath>
#include <limits>

#include "audit/cases/case.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/merge_form.hpp"
#include "tests/audit/judge/answered_draft.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::merge_conventions_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the LSE of a query that sees no key is what the contract says: -inf, 0 or +inf", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  conventions zero, plus;
  zero.empty_lse = conventions::log::zero, plus.empty_lse = conventions::log::plus_infinity;
  CHECK(answered.judged({}).failed == 0);
  answered.breaks(zero, 1);
  answered.breaks(plus, 1);
  audit::store(*answered.answer.lse, answered.row, 0);
  answered.breaks({}, 1);
  CHECK(answered.judged(zero).failed == 0);
  answered.breaks(plus, 1);
  audit::store(*answered.answer.lse, answered.row, infinity);
  answered.breaks({}, 1);
  answered.breaks(zero, 1);
  CHECK(answered.judged(plus).failed == 0);
}

TEST_CASE("where the contract says empty_lse +inf, a merge reads no part with an LSE of +inf", "[unit]") {
  // Two parts, three rows: both parts are read; the second is not; neither is.
  audit::merge_parts parts{.parts = 2, .b = 1, .hq = 1, .n = 3, .dv = 1};
  audit::owned_tensor o = audit::owned_tensor::compact(problem::element_type::f32, {2, 3}), lse = o;
  for (std::size_t at = 0; at < 6; ++at) audit::store(o, at, at < 3 ? 1 : 3), audit::store(lse, at, 0.5);
  for (std::size_t const at : {std::size_t{2}, std::size_t{4}, std::size_t{5}})
    audit::store(o, at, nan), audit::store(lse, at, infinity);
  parts.o = o.bytes, parts.lse = lse.bytes;
  auto const merge = audit::owned_problem::of_valid(audit::merge_draft(parts, problem::element_type::f32));
  audit::contract claim = *audit::find_contract("merge-f32");
  using three = std::array<double, 3>;
  auto const failed = [&](three const& of_o, three const& of_lse, conventions::log log) {
    audit::owned_outputs answer{.o = audit::owned_tensor::compact(problem::element_type::f32, {1, 3, 1, 1}),
                                .lse = audit::owned_tensor::compact(problem::element_type::f32, {1, 3, 1})};
    for (std::size_t at = 0; at < 3; ++at)
      audit::store(*answer.o, at, of_o[at]), audit::store(*answer.lse, at, of_lse[at]);
    claim.conventions.empty_lse = log;
    return audit::judge_by_law(merge, answer, claim).failed;
  };
  using enum conventions::log;
  double const both = 0.5 + std::log(2.0);
  CHECK(failed({2, 1, 0}, {both, 0.5, infinity}, plus_infinity) == 0);
  CHECK(failed({2, 1, 0}, {both, 0.5, infinity}, minus_infinity) == 3);  // O of two NaN rows, and one LSE
  CHECK(failed({2, nan, nan}, {both, infinity, infinity}, plus_infinity) == 3);
  CHECK(failed({2, nan, nan}, {both, infinity, infinity}, minus_infinity) == 0);
  CHECK(failed({2, 1, 0}, {both, 0.5, -infinity}, plus_infinity) == 1);
}

TEST_CASE("parts whose keys are all hidden are merged as the contract says their LSE and O are", "[unit]") {
  auto const log = GENERATE(conventions::log::zero, conventions::log::plus_infinity);
  int empty_rows = 0;
  for (audit::audit_case const& split : audit::generated_cases({.seed = 5, .checks = {"split-and-merge"}})) {
    audit::contract claim = *audit::find_contract("f32");
    claim.conventions.empty_lse = log, claim.conventions.empty_row = conventions::row::nan;
    audit::case_outputs outputs;
    for (std::size_t call = 0; call <= split.further.size(); ++call) {
      auto& answer = outputs.emplace_back(builtin_answer(split.call(call).draft()));
      for (std::size_t row = 0; row < answer->lse->bytes.size() / sizeof(float); ++row) {
        if (audit::load(*answer->lse, row) != -infinity) continue;
        ++empty_rows;
        audit::store(*answer->lse, row, log == conventions::log::zero ? 0 : infinity);
        auto const dv = static_cast<std::size_t>(split.call(call).size().dv);
        for (std::size_t c = 0; c < dv; ++c) audit::store(*answer->o, row * dv + c, nan);
      }
    }
    audit::case_result result;
    audit::judge_case(split, outputs, {.claim = &claim}, result);
    INFO(split.name);
    CHECK(!result.unsupported);
    CHECK(result.judged.judged() > 0);
    CHECK(result.judged.failed == 0);
  }
  CHECK(empty_rows > 0);
}

TEST_CASE("what a kernel leaves in rows of no query is judged where the contract says something of it", "[unit]") {
  using padding = conventions::padding;
  answered_draft answered(problem::element_type::f32);
  answered.answer.padding[0] = {.changed = {2, 4}, .not_zero = {}};
  answered.answer.padding[1] = {.changed = {}, .not_zero = {2, 3}};
  CHECK(answered.judged({}).failed == 0);
  for (auto const& [says, output, place] :
       {std::tuple{padding::kept, "o", "row [0, 1, 1] of o belongs to no query, and the kernel wrote there"},
        std::tuple{padding::zero, "lse", "row [0, 1, 0] of lse belongs to no query, and is not 0"}}) {
    audit::judgement const found = answered.judged({.padding_rows = says});
    REQUIRE(found.failed == 2);
    REQUIRE(found.violations.size() == 1);
    CHECK(found.violations.front().output == output);
    CHECK(found.violations.front().bug_class == audit::bug_class::entries);
    CHECK(found.violations.front().sentence.starts_with(place));
  }
  answered.answer.o.reset(), answered.answer.lse.reset();
  CHECK(answered.judged({.padding_rows = padding::kept}).failed == 0);
}

}  // namespace attest::tests::merge_conventions_test
