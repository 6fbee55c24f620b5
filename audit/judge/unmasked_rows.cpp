#include "audit/judge/unmasked_rows.hpp"

#include <set>
#include <utility>
#include <variant>

#include "audit/judge/forward_answers.hpp"
#include "audit/judge/row_law.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {

std::optional<unmasked_pass> with_empty_rows_unmasked(owned_problem const& problem, owned_outputs const& outputs) {
  if (problem.rank() != 4 || !problem.draft().has_slots()) return std::nullopt;
  auto const empty = empty_rows_of(problem);
  if (empty.empty()) return std::nullopt;
  std::set<row_index> const rows(empty.begin(), empty.end());
  problem::sizes const& s = problem.size();
  problem_draft draft = problem.draft();
  draft.mask = owned_tensor::compact(problem::element_type::u8, {s.b, s.hq, s.n, s.m});
  std::visit(
      [&](auto const& p) {
        fill(*draft.mask, [&](auto b, auto h, auto i, auto j) {
          bool const is_query = i < p.queries(b), is_key = j < p.keys(b);
          return is_query && is_key && (rows.contains({b, h, i}) || reference::visible(p, b, h, i, j)) ? 1.0 : 0.0;
        });
      },
      problem.instance());
  draft.band = {}, draft.align = 0;
  draft.block_mask.reset(), draft.block_q = draft.block_k = 0;
  draft.handed_o.reset(), draft.handed_lse.reset();
  unmasked_pass pass{with_forward(owned_problem::of_valid(std::move(draft))), outputs};
  auto const& handed_lse = problem.draft().handed_lse;
  if (!pass.outputs.lse && !handed_lse) return pass;
  owned_tensor lse = pass.outputs.lse ? *pass.outputs.lse : *handed_lse;
  for (auto const& [b, h, i] : empty) {
    std::size_t const at = output_row(problem, b, h, i);
    store(lse, at, load(*pass.problem.draft().handed_lse, at));
  }
  if (pass.outputs.lse) {
    pass.outputs.lse = std::move(lse);
    if (!pass.outputs.o) pass.outputs.o = problem.draft().handed_o;
    return pass;
  }
  problem_draft handed = pass.problem.draft();
  handed.handed_lse = std::move(lse), handed.handed_o = problem.draft().handed_o;
  pass.problem = owned_problem::of_valid(std::move(handed));
  return pass;
}

}  // namespace attest::audit
