// The problem of a backward pass under the convention empty_row: unmasked.
#pragma once

#include <optional>

#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// A backward pass in which the queries that see no key see all of them.
struct unmasked_pass {
  owned_problem problem;
  owned_outputs outputs;  ///< with the LSE of the unmasked rows
};

/// The same backward pass with its empty rows unmasked. Returns nothing if there is no such row, or if the problem is
/// packed or has another rank than 4.
/// Cost      the oracle's for every row, if there is an empty one
std::optional<unmasked_pass> with_empty_rows_unmasked(owned_problem const& problem, owned_outputs const& outputs);

}  // namespace attest::audit
