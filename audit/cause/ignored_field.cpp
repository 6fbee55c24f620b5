#include "audit/cause/ignored_field.hpp"

#include <utility>
#include <vector>

#include "audit/judge/by_law.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

/// Are the answers to the queries of `asked` right for `supposed`? Both have the same queries, or `supposed` has more.
bool is_right(owned_problem const& asked, problem_draft supposed, owned_outputs const& outputs, contract const& claim) {
  auto const read = owned_problem::of_valid(std::move(supposed));
  std::vector<row_index> rows;
  for (std::int64_t b = 0; b < asked.size().b; ++b)
    for (std::int64_t h = 0; h < asked.size().hq; ++h)
      for (std::int64_t i = 0; i < queries_of(asked, b); ++i) rows.push_back({b, h, i});
  return judge_by_law(read, outputs, claim, rows, thoroughness::verdict).failed == 0;
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
