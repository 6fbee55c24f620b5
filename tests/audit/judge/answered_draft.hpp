// A small problem whose last head has a query that sees no key, and the built-in kernel's answer to it.
#pragma once

#include "audit/judge/by_law.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests {

using audit::conventions;

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
    return audit::judge_by_law(audit::owned_problem::of_valid(draft), answer, claim);
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

}  // namespace attest::tests
