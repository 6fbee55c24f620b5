// The built-in kernel against the certified reference: the properties that the user asked for, on problems that
// RapidCheck makes and shrinks.
#include <cmath>

#include "audit/judge/judge_outputs.hpp"
#include "reference/bound/bound.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/bf16_arithmetics.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_recipe.hpp"

namespace attest::tests::kernel_against_reference_test {
namespace {

audit::contract claim_of(recipe const& r) {
  return builtin_claim(problem::make_instance(make_problem(r).arguments()).value());
}

/// Calls f(row of weights as doubles, b, h, i) for every query of the recipe's answer.
template <class F>
void for_each_row(recipe const& r, audit::owned_outputs const& answer, F&& f) {
  auto const& weights = *answer.weights;
  std::vector<double> row(static_cast<std::size_t>(r.m));
  for (std::int64_t b = 0; b < r.b; ++b)
    for (std::int64_t h = 0; h < r.groups * r.hk; ++h)
      for (std::int64_t i = 0; i < r.n; ++i) {
        for (std::int64_t j = 0; j < r.m; ++j) {
          row[static_cast<std::size_t>(j)] = audit::load(weights, audit::offset_of(weights, b, h, i, j));
        }
        f(row, b, h, i);
      }
}

bool is_visible(audit::problem_draft const& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  // By hand, not by the reference's own function: −left ≤ j − (i + diagonal) ≤ right.
  std::int64_t const at = j - (i + p.band.diagonal);
  if (p.band.left >= 0 && at < -p.band.left) return false;
  if (p.band.right >= 0 && at > p.band.right) return false;
  if (!p.mask) return true;
  auto const& n = p.mask->layout.shape;
  return p.mask->as<std::uint8_t>()[audit::offset_of(*p.mask, n[0] == 1 ? 0 : b, n[1] == 1 ? 0 : h, n[2] == 1 ? 0 : i,
                                                     j)] != 0;
}

TEST_CASE("every element of O, LSE and weights is within the kernel's own bound", "[property]") {
  auto const holds = [](recipe const& r) {
    audit::problem_draft const draft = make_problem(r);
    audit::owned_outputs const answer = builtin_answer(draft);
    RC_ASSERT(answer.o.has_value());
    audit::judgement const judged =
        audit::judge(problem::make_instance(draft.arguments()).value(), answer, claim_of(r));
    for (audit::violation const& wrong : judged.violations) RC_LOG() << wrong.sentence << '\n';
    RC_ASSERT(judged.failed == 0);
    RC_ASSERT(judged.undecided == 0);
  };
  property("fast::model holds", [&](recipe const& r) { holds(r); });
  property("fast::model holds for entries, sinks and block masks", [&](recipe const& r) { holds(with_entries(r)); });
}

TEST_CASE("every element by dot products of bf16 is within their own bound", "[property]") {
  auto const here = bf16_arithmetics();
  if (here.empty()) return;
  auto const holds = [&](recipe r) {
    r.type = problem::element_type::bf16;
    audit::problem_draft const draft = make_problem(r);
    audit::owned_outputs const answer = builtin_answer(draft, {.bf16_arithmetic = *rc::gen::elementOf(here)});
    RC_ASSERT(answer.o.has_value());
    auto const instance = problem::make_instance(draft.arguments()).value();
    audit::judgement const judged = audit::judge(instance, answer, dot_product_claim(instance));
    for (audit::violation const& wrong : judged.violations) RC_LOG() << wrong.sentence << '\n';
    RC_ASSERT(judged.failed == 0);
    RC_ASSERT(judged.undecided == 0);
  };
  property("fast::dot_product_model holds", [&](recipe const& r) { holds(r); });
  property("fast::dot_product_model holds for entries, sinks and block masks",
           [&](recipe const& r) { holds(with_entries(r)); });
}

TEST_CASE("rows of weights sum to 1, or to 0 where no key is visible", "[property]") {
  property("|sum - 1| is within the sum of the weights' own bounds", [](recipe const& r) {
    audit::problem_draft const draft = make_problem(r);
    auto const instance = problem::make_instance(draft.arguments()).value();
    problem::kernel_model const model = claim_of(r).model_for(instance);
    for_each_row(r, builtin_answer(draft), [&](std::vector<double> const& row, auto b, auto h, auto i) {
      double sum = 0;
      for (double const w : row) sum += w;
      std::visit(
          [&]<class T>(problem::instance<T> const& p) {
            reference::enclosed_row<128, T> truth;
            reference::compiled::enclose_row(p, b, h, i, truth);
            if (truth.kind == reference::row_kind::empty) RC_ASSERT(sum == 0);
            if (truth.kind != reference::row_kind::finite) return;
            reference::row_facts facts;
            reference::compiled::collect_facts(p, truth, facts);
            reference::row_bound bound;
            reference::compiled::evaluate(bound, model, facts);
            // This sum of m numbers in [0, 2] is itself rounded at most m times.
            RC_ASSERT(std::abs(sum - 1) <= bound.row_sum().size + static_cast<double>(r.m) * 0x1p-52);
          },
          instance);
    });
  });
}

TEST_CASE("weights are never negative", "[property]") {
  property("every weight is at least 0", [](recipe const& r) {
    for_each_row(r, builtin_answer(make_problem(r)), [&](std::vector<double> const& row, auto...) {
      for (double const w : row) RC_ASSERT(w >= 0);
    });
  });
}

TEST_CASE("masked positions have weight exactly zero", "[property]") {
  property("no visible key, no weight", [](recipe const& r) {
    audit::problem_draft const draft = make_problem(r);
    for_each_row(r, builtin_answer(draft), [&](std::vector<double> const& row, auto b, auto h, auto i) {
      for (std::int64_t j = 0; j < r.m; ++j)
        if (!is_visible(draft, b, h, i, j)) RC_ASSERT(row[static_cast<std::size_t>(j)] == 0);
    });
  });
}

TEST_CASE("masked keys are never read", "[property]") {
  property("NaN at keys that no query sees changes no bit", [](recipe const& r) {
    audit::problem_draft const clean = make_problem(r);
    audit::problem_draft poisoned = clean;
    for (std::int64_t b = 0; b < r.b; ++b)
      for (std::int64_t hk = 0; hk < r.hk; ++hk)
        for (std::int64_t j = 0; j < r.m; ++j) {
          bool seen = false;
          for (std::int64_t h = hk * r.groups; h < (hk + 1) * r.groups; ++h)
            for (std::int64_t i = 0; i < r.n; ++i) seen = seen || is_visible(clean, b, h, i, j);
          if (seen) continue;
          for (std::int64_t t = 0; t < r.d; ++t)
            audit::store(poisoned.k, audit::offset_of(poisoned.k, b, hk, j, t), NAN);
          for (std::int64_t c = 0; c < r.dv; ++c)
            audit::store(poisoned.v, audit::offset_of(poisoned.v, b, hk, j, c), NAN);
        }
    audit::owned_outputs const x = builtin_answer(clean), y = builtin_answer(poisoned);
    RC_ASSERT(x.o->bytes == y.o->bytes);
    RC_ASSERT(x.lse->bytes == y.lse->bytes);
    RC_ASSERT(x.weights->bytes == y.weights->bytes);
  });
}

TEST_CASE("scores to 1e30 give finite answers inside the values", "[property]") {
  property("stable under large scores", [](recipe r) {
    r.scores = score_regime::huge;
    r.scale = 1;
    r.bias = false;
    r.m = std::max<std::int64_t>(r.m, 1);
    audit::problem_draft const draft = make_problem(r);
    audit::owned_outputs const answer = builtin_answer(draft);
    for (std::size_t at = 0; at < answer.o->spanned_elements(); ++at) {
      double const o = audit::load(*answer.o, at);
      RC_ASSERT(std::isfinite(o));
    }
    audit::judgement const judged =
        audit::judge(problem::make_instance(draft.arguments()).value(), answer, claim_of(r));
    for (audit::violation const& wrong : judged.violations) RC_LOG() << wrong.sentence << '\n';
    RC_ASSERT(judged.failed == 0);
  });
}

TEST_CASE("a number that may be flushed, times an infinity, is not judged; what cannot be flushed is", "[property]") {
  // A key is −∞: its exact score is −∞, it has no weight; a kernel that reads q as 0 makes NaN of it.
  for (auto const& [tiny, m] : {std::pair{true, 1}, std::pair{true, 2}, std::pair{false, 1}, std::pair{false, 2}}) {
    recipe r;
    r.m = m, r.scale = 1;
    audit::problem_draft draft = make_problem(r);
    audit::store(draft.q, 0, tiny ? 0x1p-140 : 0x1p-40);
    audit::store(draft.k, 0, -INFINITY);
    auto const instance = problem::make_instance(draft.arguments()).value();
    audit::owned_outputs const answer = builtin_answer(draft);
    audit::judgement const judged = audit::judge(instance, answer, claim_of(r));
    CHECK(judged.failed == 0);
    CHECK(judged.not_judged() == (tiny ? 1 + 1 + m : 0));
    CHECK(std::isnan(audit::load(*answer.o, 0)) == tiny);
  }
  // A scale may be folded alone or with log₂ e: 1.37·2⁻¹²⁶·½·log₂ e is flushed too.
  recipe r;
  r.m = 2, r.scale = 1;
  audit::problem_draft draft = make_problem(r);
  draft.scale = 0.5;
  audit::store(draft.q, 0, 1.37 * 0x1p-126);
  audit::store(draft.k, 0, -INFINITY);
  audit::judgement const judged =
      audit::judge(problem::make_instance(draft.arguments()).value(), builtin_answer(draft), claim_of(r));
  CHECK(judged.failed == 0);
  CHECK(judged.not_judged() == 1 + 1 + 2);
}

TEST_CASE("a row that biases of -inf empty is judged only where its scores cannot overflow", "[property]") {
  for (bool const overflows : {true, false}) {
    recipe r;
    r.m = 2, r.scale = 1, r.bias = true;
    audit::problem_draft draft = make_problem(r);
    audit::store(draft.q, 0, overflows ? 0x1p127 : 0x1p60);
    for (std::size_t j = 0; j < 2; ++j) audit::store(draft.k, j, 4), audit::store(*draft.bias, j, -INFINITY);
    audit::owned_outputs const answer = builtin_answer(draft);
    audit::judgement const judged =
        audit::judge(problem::make_instance(draft.arguments()).value(), answer, claim_of(r));
    CHECK(judged.failed == 0);
    CHECK(judged.not_judged() == (overflows ? 1 + 1 + 2 : 0));
    CHECK(std::isnan(audit::load(*answer.lse, 0)) == overflows);
  }
}

TEST_CASE("a NaN in V is missed only where scores may overflow to -inf", "[property]") {
  for (bool const overflows : {true, false}) {
    recipe r;
    r.m = 2, r.scale = 1;
    audit::problem_draft draft = make_problem(r);
    audit::store(draft.q, 0, overflows ? -0x1p127 : -0x1p60);
    for (std::size_t j = 0; j < 2; ++j) audit::store(draft.k, j, 4), audit::store(draft.v, j, NAN);
    audit::owned_outputs answer = builtin_answer(draft);
    auto const judged = [&] {
      return audit::judge(problem::make_instance(draft.arguments()).value(), answer, claim_of(r));
    };
    CHECK(judged().failed == 0);
    CHECK(std::isnan(audit::load(*answer.o, 0)) != overflows);
    audit::store(*answer.o, 0, 0);
    CHECK((judged().failed == 0) == overflows);
  }
}

TEST_CASE("a wrong answer is refuted: mean(V), a dropped key, a shifted LSE, a weight at a masked key", "[property]") {
  property("the judge can say no", [](recipe r, bool drop) {
    r.m = std::max<std::int64_t>(r.m, 2);
    r.mask = mask_regime::random;
    r.diagonal = 0, r.left = r.right = -1;
    r.scores = score_regime::gaussian;
    r.values = value_regime::gaussian;
    r.bias = false;
    r.scale = 1;
    audit::problem_draft const draft = make_problem(r);
    audit::owned_outputs answer = builtin_answer(draft);
    bool any_visible = false;
    for (std::int64_t j = 0; j < r.m; ++j) any_visible = any_visible || is_visible(draft, 0, 0, 0, j);
    RC_PRE(any_visible && r.dv > 0);
    if (drop) audit::store(*answer.lse, 0, 1e3);
    else audit::store(*answer.o, 0, 12.5);  // outside every Gaussian value here (at most 6)
    audit::judgement const judged =
        audit::judge(problem::make_instance(draft.arguments()).value(), answer, claim_of(r));
    RC_ASSERT(judged.failed > 0);
    RC_ASSERT(!judged.violations.empty());
    RC_ASSERT(judged.violations.front().output == (drop ? "lse" : "o"));
  });
}

}  // namespace
}  // namespace attest::tests::kernel_against_reference_test
