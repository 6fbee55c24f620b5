// Answers near the exact ones, judged under a preset.
#pragma once

#include <random>

#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/problem_draft.hpp"
#include "reference/machine/rows.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit {

/// One head of Gaussian q, k and v.
inline problem_draft gaussian(std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t dv,
                              problem::element_type type = problem::element_type::f32) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  auto const draw = [&](auto...) { return normal(random); };
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {1, 1, n, d}), draft.k = owned_tensor::compact(type, {1, 1, m, d});
  draft.v = owned_tensor::compact(type, {1, 1, m, dv});
  fill(draft.q, draw), fill(draft.k, draw), fill(draft.v, draw);
  return draft;
}

/// moved(o, its bound under the claim) for every output of the problem, rounded to its type.
template <class T, class Moved>
owned_outputs answer(problem_draft const& draft, contract const& claim, Moved&& moved) {
  auto const any = problem::make_instance(draft.arguments()).value();
  auto const& p = std::get<problem::instance<T>>(any);
  owned_outputs outputs;
  problem::sizes const& s = p.size();
  outputs.o = owned_tensor::compact(draft.q.type, {1, 1, s.n, s.dv});
  auto rows = reference::machine::row_source<T>::make(p, claim.fixed).value();
  rows.each(0, 0, 0, s.n, [&](reference::machine::certified_row const& row) {
    REQUIRE_FALSE(row.handed_over);
    for (std::size_t c = 0; c < row.o.size(); ++c)
      store(*outputs.o, static_cast<std::size_t>(row.i * s.dv) + c, moved(row.o[c], row.o_bound[c]));
  });
  return outputs;
}

inline judgement judged(problem_draft const& draft, owned_outputs const& outputs, char const* preset) {
  return judge(problem::make_instance(draft.arguments()).value(), outputs, *find_contract(preset));
}

}  // namespace attest::audit
