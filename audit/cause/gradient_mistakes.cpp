#include "audit/cause/gradient_mistakes.hpp"

#include <array>

#include "audit/cause/gradient_fit.hpp"
#include "audit/cause/hypotheses/passes.hpp"
#include "audit/judge/by_law.hpp"

namespace attest::audit {

std::string in_backward_pass(std::string const& sentence) { return "in the backward pass, " + sentence; }

std::string gradient_mistake(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                             violation const& wrong) {
  auto const kind = problem::output_named(wrong.output);
  if (!kind || !outputs.of(*kind)) return "";
  owned_problem handed = problem;
  if (outputs.o && outputs.lse) {
    problem_draft draft = problem.draft();
    draft.handed_o = outputs.o, draft.handed_lse = outputs.lse;
    handed = owned_problem::of_valid(std::move(draft));
  }
  owned_outputs gradient;
  gradient.of(*kind) = outputs.of(*kind);
  answered_call const call = of_rank_4(handed, gradient, claim);
  if (!can_be_supposed(call.problem)) return "";
  for (bool const of_gradients : {true, false})
    for (hypothesis const& tried : hypotheses()) {
      if (tried.kind != hypothesis_kind::problem || tried.of_gradients != of_gradients) continue;
      if (!of_gradients && !tried.plain) continue;
      double worst = 0;
      if (fit_of_pass(tried, call, std::array{wrong}, worst) == fit::certified)
        return of_gradients ? tried.sentence : in_backward_pass(tried.sentence);
    }
  return "";
}

}  // namespace attest::audit
