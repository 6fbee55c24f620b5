// The steps from which hypotheses about backward passes are made: the pass that a kernel with a mistake computes
// rightly.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {

using gradient_kinds = std::vector<output_kind>;
using enum problem::output_kind;

/// What dS enters, and every gradient.
inline gradient_kinds const of_dS{dq, dk, dbias}, all_gradients{dq, dk, dv, dbias, dsink};

/// One rounding of a type.
double unit_of(problem::element_type type);

/// f(b, h, i) for every query.
template <class F>
void each_query(owned_problem const& p, F const& f) {
  for (std::int64_t b = 0; b < p.size().b; ++b)
    for (std::int64_t h = 0; h < p.size().hq; ++h)
      for (std::int64_t i = 0; i < queries_of(p, b); ++i) f(b, h, i);
}

/// Can hypotheses be tried on the backward call? It is small; of_rank_4 made it.
bool can_be_supposed(owned_problem const& problem);

/// Changes the problem, the O and LSE that it was handed, or the claim. Returns false where the mistake does not
/// concern the call.
using pass_change = std::function<bool(answered_call&)>;
using draft_question = std::function<bool(problem_draft&)>;

/// The gradients `which` are what `change` makes of the pass, as functions of its O and LSE; the others are right.
/// Where the kernel was handed no O and LSE, these are what a forward pass of its own may have given.
supposition gradients_from(gradient_kinds which, pass_change change);
/// The same for a change of the draft alone, its handed_o and handed_lse among it.
supposition gradients_of(gradient_kinds which, draft_question change);
/// The gradients `which` are factor(problem) times the right ones.
supposition gradients_times(gradient_kinds which, std::function<double(owned_problem const&)> factor);
/// The gradients `which` have the factor scale(problem) in the place of σ; the scores are right.
supposition gradients_at_scale(gradient_kinds which, std::function<double(owned_problem const&)> scale);
/// The gradients `which` take the pairs of `taken` alone, where `concerned`.
using pair_of_problem =
    std::function<bool(owned_problem const&, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)>;
supposition gradients_over(gradient_kinds which, problem_question concerned, pair_of_problem taken);
/// The backward pass of a problem that `forward` supposes, from the O and LSE of the right one, as far as `which`.
/// Gradients whose input has another shape there are taken as right.
std::vector<answered_call> pass_of(supposition const& forward, gradient_kinds const& which, answered_call const& call);

/// What `first` supposes; and of the gradients that it takes as right, what `then` supposes.
supposition in_turn(supposition first, supposition then);
/// The call with an O and an LSE: the ones that the kernel was handed, or what a forward pass of its own may have
/// given.
answered_call with_handed(answered_call call);

/// Takes the draft as the call's problem. Returns false if it is not valid.
bool take(answered_call& call, problem_draft draft);

/// The draft has no softcap, and a bias that makes the scores of visible keys `wanted`.
/// Requires  can_be_supposed; scores that are not finite may be any
void set_scores(problem_draft& draft, pair_number const& wanted);
/// x/c of each pair, x the score before the softcap c. Requires  a softcap
pair_number over_cap(owned_problem const& problem);
/// ln of the derivative of the softcap, 1 − tanh²(x/c); 0 without a softcap.
pair_number log_slope(owned_problem const& problem);

/// The O that is handed becomes f(draft, b, h, i, c, O) where `concerned`.
using output_change = std::function<double(problem_draft const&, std::int64_t b, std::int64_t h, std::int64_t i,
                                           std::int64_t c, double o)>;
supposition with_output(gradient_kinds which, problem_question concerned, output_change change);
/// The LSE that is handed becomes f(problem, row, LSE) where it is finite.
using lse_change = std::function<double(owned_problem const&, row_index const&, double lse)>;
supposition with_handed_lse(gradient_kinds which, problem_question concerned, lse_change change);
/// The problem without a softcap whose scores are the capped ones. `factor(x/c)` takes the place of the derivative: a
/// weight that forms dS has it as a factor. Requires  factor ≥ 0
supposition with_slope(gradient_kinds which, std::function<double(double over_cap)> factor);

/// The call with another gradient model.
void widen_gradients(answered_call& call, std::function<void(problem::gradient_model&)> const& widen);

/// A function that adds hypotheses of gradients.
inline auto adds_gradients_to(hypothesis_list& to) {
  return [&to](std::string name, std::string sentence, supposition how) {
    to.push_back({.name = std::move(name),
                  .sentence = std::move(sentence),
                  .bug_class = any_class,
                  .suppose = std::move(how),
                  .of_gradients = true});
  };
}

}  // namespace attest::audit
