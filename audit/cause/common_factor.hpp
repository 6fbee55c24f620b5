// Rows of O that are a multiple of the exact ones: the weights do not sum to 1.
#pragma once

#include <optional>

#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// A number that every output of a row is a multiple by.
struct common_factor {
  double factor = 1;
  int digits = 1;  ///< significant ones, as the bounds of the outputs allow
};

/// f > 0 with |ô_c − f·o_c| ≤ f·(B_c + B_k·|o_c/o_k|) for every column c, where column k has the smallest B_k/|o_k| and
/// f = ô_k/o_k: the outputs of a kernel whose weights sum to f, if its outputs would be within B_c were the sum 1.
/// Ensures   returns nothing unless two columns, or one column whose visible values are all equal, tell f from 1 by
///           more than four times that tolerance
/// Requires  a violation of "o" that was found in these outputs, which are compact, under this claim
/// Cost      one row
std::optional<common_factor> find_common_factor(owned_problem const& problem, owned_outputs const& outputs,
                                                violation const& wrong, contract const& claim);

}  // namespace attest::audit
