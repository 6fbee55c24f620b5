// Kernels that document other conventions than docs/semantics.md are judged by theirs, and refuted where they break them.
#include <cmath>
#include <limits>

#include "audit/cases/case.hpp"
#include "audit/judge/conventions.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests {
namespace {

using audit::conventions;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// Two query heads on one kv head; query 1 of head 1 sees no key.
struct answered_draft {
  static constexpr std::size_t n = 3, m = 5, dv = 4, row = n + 1;
  audit::problem_draft draft;
  audit::owned_outputs answer;

  explicit answered_draft(problem::element_type type) {
    recipe r;
    r.type = type, r.groups = 2, r.n = n, r.m = m, r.d = 6, r.dv = dv, r.seed = 3;
    draft = make_problem(r);
    draft.mask = audit::owned_tensor::compact(problem::element_type::u8, {1, 2, n, m});
    audit::fill(*draft.mask, [](auto, auto h, auto i, auto) { return h == 1 && i == 1 ? 0.0 : 1.0; });
    answer = builtin_answer(draft);
  }
  void set_o(double x) {
    for (std::size_t c = 0; c < dv; ++c) audit::store(*answer.o, row * dv + c, x);
  }
  void set_mean() {
    for (std::size_t c = 0; c < dv; ++c) {
      double sum = 0;
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(m); ++j)
        sum += audit::load(draft.v, audit::offset_of(draft.v, 0, 0, j, static_cast<std::int64_t>(c)));
      audit::store(*answer.o, row * dv + c, sum / m);
    }
  }
  audit::judgement judged(conventions const& how) const {
    audit::contract claim = *audit::find_contract(draft.q.type == problem::element_type::f64 ? "f64" : "f32");
    claim.conventions = how;
    return audit::judge_by_conventions(audit::owned_problem::of_valid(draft), answer, claim);
  }
  /// Refuted, in so many elements, all in the empty row.
  void breaks(conventions const& how, std::int64_t elements) const {
    audit::judgement const found = judged(how);
    CHECK(found.failed == elements);
    for (audit::violation const& v : found.violations) {
      CHECK(v.bug_class == audit::bug_class::empty_row);
      CHECK(v.index[1] == 1);
      CHECK(v.index[2] == 1);
    }
  }
};

}  // namespace

TEST_CASE("the row of a query that sees no key is what the contract says: 0, NaN or the mean of V", "[unit]") {
  for (auto const type : {problem::element_type::f32, problem::element_type::f64}) {
    answered_draft answered(type);
    conventions zero, not_a_number, mean;
    not_a_number.empty_row = conventions::row::nan, mean.empty_row = conventions::row::mean;
    CHECK(answered.judged(zero).failed == 0);
    answered.breaks(not_a_number, answered.dv);
    answered.breaks(mean, answered.dv);
    answered.set_o(nan);
    answered.breaks(zero, answered.dv);
    CHECK(answered.judged(not_a_number).failed == 0);
    answered.breaks(mean, answered.dv);
    answered.set_mean();
    answered.breaks(zero, answered.dv);
    answered.breaks(not_a_number, answered.dv);
    audit::judgement const held = answered.judged(mean);
    CHECK(held.failed == 0);
    // The mean is computed, so a bound judges it; the others are rules.
    CHECK(held.by_theorem == answered.judged(not_a_number).by_theorem + static_cast<std::int64_t>(answered.dv));
    audit::store(*answered.answer.o, answered.row * answered.dv,
                 1.001 * audit::load(*answered.answer.o, answered.row * answered.dv));
    answered.breaks(mean, 1);
  }
}

TEST_CASE("the LSE of a query that sees no key is what the contract says: -inf or 0", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  conventions zero;
  zero.empty_lse = conventions::log::zero;
  CHECK(answered.judged({}).failed == 0);
  answered.breaks(zero, 1);
  audit::store(*answered.answer.lse, answered.row, 0);
  answered.breaks({}, 1);
  CHECK(answered.judged(zero).failed == 0);
}

TEST_CASE("parts whose keys are all hidden are merged as the contract says their LSE and O are", "[unit]") {
  int empty_rows = 0;
  for (audit::audit_case const& split : audit::generated_cases({.seed = 5})) {
    if (split.check != "split-and-merge") continue;
    audit::contract claim = *audit::find_contract("f32");
    claim.conventions.empty_lse = conventions::log::zero, claim.conventions.empty_row = conventions::row::nan;
    audit::case_outputs outputs;
    for (std::size_t call = 0; call <= split.further.size(); ++call) {
      auto& answer = outputs.emplace_back(builtin_answer(split.call(call).draft()));
      for (std::size_t row = 0; row < answer->lse->bytes.size() / sizeof(float); ++row) {
        if (audit::load(*answer->lse, row) != -infinity) continue;
        ++empty_rows;
        audit::store(*answer->lse, row, 0);
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

TEST_CASE("where NaN is unspecified anything may come of it, and only of it", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  audit::store(answered.draft.q, 0, nan);                         // query 0 of head 0
  audit::store(answered.draft.v, 2 * answered.dv + 3, infinity);  // every row that sees key 2, in column 3
  answered.answer = builtin_answer(answered.draft);
  conventions unspecified;
  unspecified.nan = conventions::invalid::unspecified;
  CHECK(answered.judged({}).failed == 0);
  CHECK(answered.judged(unspecified).failed == 0);
  for (std::size_t c = 0; c < answered.dv; ++c) audit::store(*answered.answer.o, c, 7);
  audit::store(*answered.answer.lse, 0, 7);
  for (std::size_t j = 0; j < answered.m; ++j) audit::store(*answered.answer.weights, j, 0.2);
  audit::store(*answered.answer.o, 2 * answered.dv + 3, -1);  // query 2 of head 0, the column of the infinity
  CHECK(answered.judged({}).failed == static_cast<std::int64_t>(answered.dv + 1 + answered.m + 1));
  CHECK(answered.judged(unspecified).failed == 0);
  audit::store(*answered.answer.o, 2 * answered.dv + 2, 7);
  CHECK(answered.judged(unspecified).failed == 1);
}

}  // namespace attest::tests
