// Rows of scores that are all -inf, and rows that see no key: which mistake is about which.
#include <algorithm>
#include <cmath>
#include <vector>

#include "audit/cause/fit.hpp"
#include "audit/cause/hypotheses/changes.hpp"
#include "audit/cause/hypotheses/passes.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/audit/cause/known_answers.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::infinite_rows_test {
namespace {

/// NaN in rows that see keys whose scores are all -inf; rows without keys are right.
audit::owned_outputs divides_by_0(audit::owned_problem const& problem) {
  audit::owned_outputs answer = builtin_answer(problem.draft());
  problem::sizes const& s = problem.size();
  audit::score_table const score(problem);
  audit::each_query(problem, [&](auto b, auto h, auto i) {
    bool sees = false;
    for (std::int64_t j = 0; j < s.m; ++j) sees = sees || score.visible(b, h, i, j);
    for (std::int64_t c = 0; sees && score.is_empty(b, h, i) && c < s.dv; ++c)
      audit::store(*answer.o, audit::offset_of(*answer.o, b, h, i, c), std::nan(""));
  });
  return answer;
}

}  // namespace

TEST_CASE("rows of scores that are all -inf are told from rows that see no key", "[unit]") {
  auto const answers = answers_of(divides_by_0, *audit::find_contract("f32"),
                                  {"nothing-there", "empty-rows", "bands", "special-values"});
  auto const fits = [&](char const* name, std::vector<audit::searched_case> const& cases, audit::fit is) {
    return std::ranges::count_if(cases, [&](audit::searched_case const& of) {
      return audit::fit_of(*audit::find_hypothesis(name), answers.answers[static_cast<std::size_t>(of.number) - 1]) ==
             is;
    });
  };
  using enum audit::fit;
  CHECK(fits("scores-minus-inf-0/0", answers.failing, certified) == std::ssize(answers.failing));
  CHECK(fits("scores-minus-inf-0/0", answers.passing, refuted) == 0);
  for (char const* of_no_key : {"empty-row-mean", "empty-row-nan", "empty-row-0/0"})
    CHECK(fits(of_no_key, answers.passing, refuted) > 0);
  // There is no mean of no keys.
  CHECK(fits("empty-row-mean", answers.passing, certified) < fits("empty-row-nan", answers.passing, refuted));
}

}  // namespace attest::tests::infinite_rows_test
