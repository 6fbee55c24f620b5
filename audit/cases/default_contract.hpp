// The contract by which a problem is judged where nobody names one.
#pragma once

#include "audit/contract/contract.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The preset of its element type; for a merge that of merges, which also depends on the type of the answer.
inline contract const& default_contract(owned_problem const& problem) {
  auto const& merge = problem.draft().merge;
  return merge ? default_merge_contract(problem.type(), merge->answer) : default_contract(problem.type());
}

/// The named contract; that of the problem where there is none.
inline contract const& contract_of(contract const* named, owned_problem const& problem) {
  return named ? *named : default_contract(problem);
}

}  // namespace attest::audit
