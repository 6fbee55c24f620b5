// The contract by which a problem is judged if the user names none.
#pragma once

#include <optional>
#include <string>

#include "audit/cases/case.hpp"
#include "audit/contract/contract.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The preset of its element type. For a merge, the preset of merges, which also depends on the type of the answer.
inline contract const& default_contract(owned_problem const& problem) {
  auto const& merge = problem.draft().merge;
  return merge ? merge_contract(problem.type(), merge->answer) : default_contract(problem.type());
}

/// The contract by which the merges of a kernel are judged that claims `claim`. It is the preset that merges parts as
/// the claim says that the kernel merges its own. It has the claim's `masked_values` (of O of a part that saw nothing),
/// `nan` and `lse_base` (docs/choose_a_contract.md). `answer` is the type of O; by default, the type of the parts.
inline contract contract_of_merges(contract const& claim, std::optional<problem::element_type> answer = {}) {
  contract merging = merge_contract(claim.type, answer.value_or(claim.type),
                                    claim.builtin ? problem::split_merge::raw : claim.fixed.merge);
  merging.fixed.u_state = claim.fixed.u_state, merging.fixed.omega_state = claim.fixed.omega_state;
  merging.fixed.state_limit = claim.fixed.state_limit;
  if (problem::by_sigmoid(merging.fixed.merge)) merging.fixed.merge = claim.fixed.merge;  // one preset for both words
  // A preset of rings has as many levels as there are parts; a preset without a division has the claim's levels.
  if (merging.fixed.merge == problem::split_merge::lse_normalised)
    merging.fixed.merge_levels = claim.fixed.merge_levels;
  merging.conventions.masked_values = claim.conventions.masked_values;
  merging.conventions.nan = claim.conventions.nan;
  merging.conventions.lse_base = claim.conventions.lse_base;
  return merging;
}

/// Why a problem cannot be judged under a claim. Returns nothing if it can. A contract of attention says how merges are
/// judged, but a contract of merges says nothing of attention.
inline std::optional<std::string> why_not_under(contract const& claim, owned_problem const& problem) {
  if (problem.draft().merge || !is_of_merges(claim)) return std::nullopt;
  return claim.name + " is about merges of partial results, and this is attention; `attest list contracts` has others";
}

/// The contract by which a problem is judged if the kernel claims `claim`.
/// Requires  why_not_under() returns nothing
inline contract contract_under(contract const& claim, owned_problem const& problem) {
  auto const& merge = problem.draft().merge;
  return merge && !is_of_merges(claim) ? contract_of_merges(claim, merge->answer) : claim;
}

/// The same; if `claim` is null, the default.
/// Requires  claim, if any, is about the problem's element type
inline contract contract_of(contract const* claim, owned_problem const& problem) {
  return claim ? contract_under(*claim, problem) : default_contract(problem);
}

/// The problem as it is judged under its contract: a merge has the LSE of its parts in the base of the contract.
inline owned_problem under(contract const& claim, owned_problem const& problem) {
  return with_base(problem, claim.conventions.lse_base);
}

/// The case with all its calls in the form in which they are judged under the contract.
inline void put_under(contract const& claim, audit_case& of) {
  of.problem = under(claim, of.problem);
  for (further_call& call : of.further) call.problem = under(claim, call.problem);
}

}  // namespace attest::audit
