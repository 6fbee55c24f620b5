#include "audit/cause/ignored_field.hpp"

#include <utility>

#include "audit/judge/by_law.hpp"
#include "audit/judge/row_law.hpp"

namespace attest::audit {
namespace {

/// Are the answers to the queries of `asked` right for `supposed`? Both have the same queries, or `supposed` has more.
bool is_right(owned_problem const& asked, problem_draft supposed, owned_outputs const& outputs, contract const& claim) {
  return is_right_by_law(owned_problem::of_valid(std::move(supposed)), outputs, claim, queries_among(asked));
}

}  // namespace

std::optional<feature> ignored_field(audit_case const& asked, owned_outputs const& outputs, contract const& claim) {
  std::optional<feature> found;
  asked.form->features().each([&](feature one) {
    if (found) return;
    problem_draft supposed = asked.problem.draft();
    if (row_of(one).remove(supposed) && is_right(asked.problem, std::move(supposed), outputs, claim)) found = one;
  });
  return found;
}

}  // namespace attest::audit
