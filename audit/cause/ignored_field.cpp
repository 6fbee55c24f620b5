#include "audit/cause/ignored_field.hpp"

#include <utility>

#include <tbb/task_group.h>

#include "audit/judge/by_law.hpp"
#include "audit/judge/row_law.hpp"

namespace attest::audit {
namespace {

/// Are the answers to the queries of `asked` right for `supposed`? Both have the same queries, or `supposed` has more.
bool is_right(owned_problem const& asked, problem_draft supposed, owned_outputs const& outputs, contract const& claim) {
  auto const read = owned_problem::of_valid(std::move(supposed));
  bool const fits = judge_by_law(read, outputs, claim, queries_among(asked), thoroughness::verdict).failed == 0;
  return fits && !tbb::is_current_task_group_canceling();  // else rows may be left out
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
