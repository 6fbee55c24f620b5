#include "audit/cause/ignored_field.hpp"

#include <utility>
#include <vector>

#include "audit/judge/by_law.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

/// The same problem as a kernel sees it that does not read the field of this feature; none where there is no such field,
/// or no answer without it has the same shape.
std::optional<problem_draft> without(problem_draft draft, feature one) {
  switch (row_of(one).group) {
    case feature_group::sizes: return std::nullopt;
    case feature_group::band: draft.band = {}, draft.align = {}; return draft;
    case feature_group::mask: draft.mask.reset(); return draft;
    case feature_group::bias: draft.bias.reset(); return draft;
    case feature_group::numbers: break;
    case feature_group::entries:
      if (one != feature::lengths) return std::nullopt;  // its rows have another place
      draft.q_lengths.reset(), draft.k_lengths.reset();
      return draft;
  }
  switch (one) {
    case feature::scale: draft.scale.reset(); return draft;
    case feature::softcap: draft.softcap = {}; return draft;
    case feature::sink: draft.sink.reset(); return draft;
    case feature::dropout: draft.dropout = {}, draft.keep.reset(); return draft;
    case feature::block_mask: draft.block_mask.reset(), draft.block_q = draft.block_k = 0; return draft;
    default: return std::nullopt;
  }
}

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
    auto supposed = without(asked.problem.draft(), one);
    if (supposed && is_right(asked.problem, *std::move(supposed), outputs, claim)) found = one;
  });
  return found;
}

}  // namespace attest::audit
