// How much of wrong outputs is judged: enough for a report, at a cost that a right file of the same size bounds.
#include "audit/judge/judge_outputs.hpp"

#include <algorithm>
#include <ctime>
#include <set>
#include <string>

#include <tbb/global_control.h>

#include "audit/cases/arranged.hpp"
#include "audit/contract/contract.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::judge_outputs_test {
namespace {

using audit::judgement;
using audit::thoroughness;

/// Three heads of 300 queries and keys, answered by the built-in kernel.
struct answered {
  audit::owned_problem problem =
      audit::owned_problem::of_valid(make_problem({.hk = 3, .n = 300, .m = 300, .d = 32, .dv = 32}));
  audit::owned_outputs outputs = builtin_answer(problem.draft());
  audit::contract claim = builtin_claim(problem.instance());
  std::int64_t rows = 3 * 300, of_row = 32 + 1 + 300;

  void spoil_o(std::int64_t from_row, std::int64_t to_row) {
    for (std::int64_t at = from_row * 32; at < to_row * 32; ++at)
      audit::store(*outputs.o, static_cast<std::size_t>(at), audit::load(*outputs.o, static_cast<std::size_t>(at)) + 1);
  }
  judgement judged(thoroughness how = thoroughness::report) const {
    return audit::judge(problem.instance(), outputs, claim, {}, how);
  }
};

TEST_CASE("of outputs that are wrong everywhere some rows of every head are judged, the others counted", "[unit]") {
  answered wrong;
  wrong.spoil_o(0, wrong.rows);
  std::int64_t const most = audit::most_wrong_rows(wrong.problem.size(), wrong.rows);
  REQUIRE(most < wrong.rows);
  judgement const found = wrong.judged();
  CHECK(found.failed == most * 32);
  CHECK(found.judged() == most * wrong.of_row);
  CHECK(found.not_certified == (wrong.rows - most) * wrong.of_row);
  CHECK(wrong.judged(thoroughness::verdict).failed == 1);
  // One row of each head.
  std::set<std::int64_t> heads;
  for (std::int64_t const row : {0, 300, 600}) {
    answered one;
    one.spoil_o(row, row + 1);
    CHECK(one.judged().failed == 32);
    CHECK(one.judged().not_certified == 0);
    for (audit::violation const& v : one.judged().violations) heads.insert(v.index[1]);
  }
  CHECK(heads.size() == 3);
}

TEST_CASE("outputs that are wrong everywhere are judged in at most ten times the processor time of right ones",
          "[unit]") {
  auto const problem = audit::owned_problem::of_valid(make_problem({.hk = 2, .n = 512, .m = 512, .d = 64, .dv = 64}));
  audit::contract const claim = builtin_claim(problem.instance());
  audit::owned_outputs outputs;
  auto const seconds = [&] {
    std::clock_t const before = std::clock();
    audit::judge(problem.instance(), outputs, claim, {}, thoroughness::report);
    return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  };
  outputs.o = builtin_answer(problem.draft()).o;
  seconds();  // starts the threads
  double const right = seconds();
  std::ranges::fill(outputs.o->bytes, std::byte{0});
  double const wrong = seconds();
  INFO("right " << right << " s, wrong " << wrong << " s");
  CHECK(wrong <= 10 * right);
}

TEST_CASE("right outputs are judged whole, however thoroughly", "[unit]") {
  answered const right;
  for (auto const how : {thoroughness::report, thoroughness::verdict}) {
    judgement const found = right.judged(how);
    CHECK(found.failed == 0);
    CHECK(found.not_certified == 0);
    CHECK(found.judged() == right.rows * right.of_row);
  }
}

TEST_CASE("the judgement of wrong outputs does not depend on the number of threads", "[unit]") {
  answered wrong;
  wrong.spoil_o(100, 500);
  judgement const together = wrong.judged();
  tbb::global_control const one_thread(tbb::global_control::max_allowed_parallelism, 1);
  judgement const alone = wrong.judged();
  CHECK(alone.failed == together.failed);
  CHECK(alone.judged() == together.judged());
  CHECK(alone.not_certified == together.not_certified);
  REQUIRE(alone.violations.size() == together.violations.size());
  for (std::size_t n = 0; n < alone.violations.size(); ++n)
    CHECK(alone.violations[n].index == together.violations[n].index);
}

TEST_CASE("rows that only the ball tier encloses are judged, right or wrong", "[unit]") {
  answered infinite;  // every score is NaN, so that the answers are
  audit::problem_draft draft = infinite.problem.draft();
  audit::fill(draft.q, [](auto...) { return std::numeric_limits<double>::quiet_NaN(); });
  audit::owned_problem const problem = audit::owned_problem::of_valid(std::move(draft));
  judgement const found = audit::judge(problem.instance(), infinite.outputs, infinite.claim);
  CHECK(found.not_certified == 0);
  CHECK(found.judged() == infinite.rows * infinite.of_row);
  CHECK(found.failed == infinite.rows * infinite.of_row);
}

TEST_CASE("rows that are no query of their entry are not judged, in slots and packed", "[unit]") {
  for (bool const packed : {false, true}) {
    audit::problem_draft draft = make_problem({.b = 2, .n = 5, .m = 7, .d = 8, .dv = 8});
    audit::set_lengths(draft, {5, 2}, {7, 7});
    if (packed) audit::pack_queries(draft, 0);
    audit::owned_problem const problem = audit::owned_problem::of_valid(std::move(draft));
    audit::owned_outputs const outputs = audit::zero_outputs(problem);
    std::int64_t const of_row = 8 + 1;
    for (auto const& [row, is_query] : {std::pair{audit::row_index{1, 0, 1}, true},
                                        {audit::row_index{1, 0, 2}, false},
                                        {audit::row_index{1, 0, 4}, false},
                                        {audit::row_index{0, 0, 4}, true}}) {
      CAPTURE(packed, row.b, row.i);
      for (audit::conventions::row const of_empty : {audit::conventions::row::zero, audit::conventions::row::nan}) {
        audit::contract claim = *audit::find_contract("f32");
        claim.conventions.empty_row = of_empty;
        CHECK(audit::judge_by_law(problem, outputs, claim, {&row, 1}).judged() == (is_query ? of_row : 0));
      }
    }
  }
}

TEST_CASE("an exact value of 0 is said without a sign", "[unit]") {
  audit::problem_draft draft = make_problem({});
  audit::fill(draft.q, [](auto, auto, auto, auto) { return 0.0; });
  audit::owned_outputs outputs = builtin_answer(draft);
  audit::store(*outputs.lse, 0, 1);
  auto const problem = audit::owned_problem::of_valid(std::move(draft));
  judgement const found = audit::judge(problem.instance(), outputs, *audit::find_contract("f32"));
  REQUIRE(found.violations.size() == 1);
  CHECK(found.violations[0].sentence.find("the exact value is 0; off by") != std::string::npos);
}

TEST_CASE("outputs without elements are judged at once, whatever their rows", "[unit]") {
  audit::problem_draft draft;
  std::int64_t const rows = std::int64_t{1} << 50;
  draft.q = draft.k = draft.v = audit::owned_tensor::compact(problem::element_type::f32, {1, 1, 1, 0});
  draft.q.layout.shape[2] = rows, draft.scale = 1;
  audit::owned_outputs outputs;
  outputs.o = audit::owned_tensor::compact(problem::element_type::f32, {1, 1, 1, 0});
  outputs.o->layout.shape[2] = rows;
  auto const problem = audit::owned_problem::make(std::move(draft));
  REQUIRE(problem);
  judgement const found = audit::judge(problem.value().instance(), outputs, *audit::find_contract("f32"));
  CHECK(found.judged() == 0);
  CHECK(found.returned[0] == 1);
}

TEST_CASE("a judgement says of a violation whether it would keep it", "[unit]") {
  judgement found;
  for (int n = 0; n < 200; ++n) {
    bool const narrow = n == 150;
    double const error = narrow ? 0 : (n * 37) % 101;
    audit::violation wrong{narrow ? "lse" : "o", {0, 0, n, 0}, 1, 0, 0, 1, error, {}, {}};
    std::string const name = std::to_string(n);
    bool const keeps = found.keeps(wrong);
    wrong.sentence = name;
    found.add(std::move(wrong));
    CHECK(std::ranges::any_of(found.violations, [&](auto const& v) { return v.sentence == name; }) == keeps);
  }
  CHECK(found.violations.size() == judgement::kept);
  CHECK(found.violations.back().output == "lse");
}

}  // namespace
}  // namespace attest::tests::judge_outputs_test
