// Where some rows of a case are judged, the others must be finite.
#include <algorithm>
#include <cmath>

#include "audit/cases/arranged.hpp"
#include "audit/cases/case.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/random.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "tests/audit/judge/answered_case.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::sampled_rows_test {

TEST_CASE("where rows are sampled, the others are judged to be finite", "[unit]") {
  audit::audit_case const asked = sampled({.size = {1, 2, 2, 40, 16, 8, 8}, .length = 1}, {{0, 0, 3}, {0, 1, 39}});
  audit::case_outputs outputs{builtin_answer(asked.problem.draft())};
  auto const judged = [&] {
    audit::case_result found;
    audit::judge_case(asked, outputs, {.claim = audit::find_contract("f32")}, found);
    return found.judged;
  };
  CHECK(judged().judged() == 2 * (8 + 1 + 16));
  CHECK(judged().exist == 80 * (8 + 1 + 16));
  audit::store(*outputs[0]->o, 0, 1e3);  // finite, in a row that is not judged
  CHECK(judged().failed == 0);
  audit::store(*outputs[0]->o, 0, std::nan(""));
  CHECK(judged().failed == 1);
  CHECK(judged().violations.front().index == std::array<std::int64_t, 4>{0, 0, 0, 0});
}

TEST_CASE("where rows of a packed problem are sampled, one of the others that is NaN is named by its entry", "[unit]") {
  recipe r;
  r.b = 3, r.hk = 2, r.n = 5, r.m = 9, r.d = 8, r.dv = 8;
  audit::problem_draft draft = make_problem(r);
  audit::set_lengths(draft, {2, 5, 3}, {9, 9, 9});
  audit::pack_queries(draft, 0);
  audit::audit_case asked{.check = "drawn",
                          .name = "1",
                          .problem = audit::owned_problem::of_valid(std::move(draft)),
                          .rows = {{0, 0, 1}},
                          .form = audit::call_form{.size = {3, 2, 2, 5, 9, 8, 8}}};
  audit::case_outputs outputs{audit::zero_outputs(asked.problem)};
  audit::case_result found;
  audit::store(*outputs[0]->o, audit::output_row(asked.problem, 2, 1, 1) * 8, std::nan(""));
  audit::judge_case(asked, outputs, {.claim = audit::find_contract("f32")}, found);
  CHECK(std::ranges::count_if(found.judged.violations, [](audit::violation const& wrong) {
          return wrong.index == std::array<std::int64_t, 4>{2, 1, 1, 0};
        }) == 1);
}

TEST_CASE("where rows are sampled, the others may be NaN where the contract says so of a row without keys", "[unit]") {
  // Causal, aligned bottom-right: the first 24 of 40 queries see no key.
  audit::call_form form{.size = {1, 1, 1, 40, 16, 8, 8}, .length = 1};
  form.options.add(audit::feature::causal);
  audit::audit_case const asked = sampled(form, {{0, 0, 30}});
  audit::case_outputs outputs{builtin_answer(asked.problem.draft())};
  for (std::size_t at = 0; at < 24 * 8; ++at) audit::store(*outputs[0]->o, at, std::nan(""));
  audit::contract claim = *audit::find_contract("f32");
  auto const faults = [&] {
    audit::case_result found;
    audit::judge_case(asked, outputs, {.claim = &claim}, found);
    return found.judged.failed;
  };
  CHECK(faults() > 0);
  claim.conventions.empty_row = audit::conventions::row::nan;
  CHECK(faults() == 0);
  audit::store(*outputs[0]->o, 25 * 8, std::nan(""));
  CHECK(faults() == 1);
}

TEST_CASE("where rows are sampled, the LSE of the others is judged to be a number, and −∞ only beside an O of 0",
          "[unit]") {
  double const spoiled =
      GENERATE(std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity());
  audit::audit_case const asked = sampled({.size = {1, 2, 2, 40, 16, 8, 8}, .length = 1}, {{0, 0, 3}, {0, 1, 39}});
  audit::case_outputs outputs{builtin_answer(asked.problem.draft())};
  bool const with_o = GENERATE(true, false);
  if (!with_o) outputs[0]->o.reset();
  auto const failed = [&] {
    audit::case_result found;
    audit::judge_case(asked, outputs, {.claim = audit::find_contract("f32")}, found);
    return found.judged.failed;
  };
  CHECK(failed() == 0);
  audit::store(*outputs[0]->lse, 41, spoiled);
  CHECK(failed() == 1);
}

}  // namespace attest::tests::sampled_rows_test
