// Answers of the built-in kernel, judged by the bound of its own model: a test of it needs no tolerance.
#pragma once

#include "audit/judge/tiered_judge.hpp"
#include "fast/algorithm/model.hpp"
#include "tests/fast/case.hpp"

namespace attest::tests {

/// Judges O, LSE and weights by the kernel's own model.
template <class T>
audit::judgement judged_by_model(problem::instance<T> const& problem, owned_answer<T> const& answer) {
  auto lse = answer.lse.in();
  lse.layout = problem::with_last_axis(lse.layout);
  audit::output_views<T> const outputs{problem::lifted(answer.o.in()), problem::lifted(lse),
                                       problem::lifted(answer.weights.in())};
  audit::tiered_judge<T> judge(problem, outputs, fast::model(problem));
  audit::judgement found;
  problem::sizes const& s = problem.size();
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      judge.certify(b, h, 0, problem.queries(b), found,
                    [&](std::int64_t i, bool) { judge.judge_exactly({b, h, i}, found); });
  return found;
}

}  // namespace attest::tests
