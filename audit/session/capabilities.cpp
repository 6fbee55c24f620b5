#include "audit/session/capabilities.hpp"

#include <optional>
#include <utility>

#include "audit/cases/support_cases.hpp"
#include "audit/judge/conventions.hpp"
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
  return judge_by_conventions(read, outputs, claim, rows, thoroughness::verdict).failed == 0;
}

capability capability_of(isolated_kernel& kernel, audit_case const& asked, contract const& claim) {
  owned_outputs outputs;
  auto const did = kernel.run(asked.problem, {}, outputs);
  if (!did || !did.value().broken.empty()) return capability::no_answer;
  if (did.value().outcome == call_outcome::unsupported) return capability::refused;
  if (did.value().outcome != call_outcome::succeeded) return capability::no_answer;
  if (judge_by_conventions(asked.problem, outputs, claim, {}, thoroughness::verdict).failed == 0)
    return capability::supported;
  bool ignored = false;
  asked.form->features().each([&](feature one) {
    auto supposed = without(asked.problem.draft(), one);
    ignored = ignored || (supposed && is_right(asked.problem, *std::move(supposed), outputs, claim));
  });
  return ignored ? capability::ignored : capability::wrong;
}

}  // namespace

problem::result<kernel_capabilities> capabilities_of(kernel_library const& library, contract const& claim,
                                                     isolation_limits const& limits) {
  auto kernel = isolated_kernel::open(library, limits);
  if (!kernel) return kernel.why();
  kernel_capabilities found;
  if (!library.is_program() && !library.is_process())
    for (char const* name : {"attest_attention", "attest_merge", "attest_attention_backward", "attest_kernel_name"}) {
      kernel_library other = library;
      other.symbol = name;
      if (isolated_kernel::open(other, limits)) found.exports.emplace_back(name);
    }
  for (audit_case const& asked : support_cases(claim.type, 0))
    found.rows.push_back({asked.name, capability_of(kernel.value(), asked, claim)});
  return found;
}

}  // namespace attest::audit
