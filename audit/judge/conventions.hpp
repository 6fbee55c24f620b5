// Judging by the conventions of a contract where they differ from docs/semantics.md.
#pragma once

#include <optional>

#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The conventions that differ from docs/semantics.md: "empty_row: nan".
std::vector<std::string> relaxed(conventions const& how);

/// What a contract says of a query that sees no key and has no sink; where it says nothing, O is 0 and LSE −∞.
struct empty_row_rule {
  bool unmasked = false;        ///< O, LSE and weights of the same query with every key visible
  bool mean = false;            ///< O is the mean of V
  bool nan = false;             ///< O is NaN
  std::optional<double> lse{};  ///< LSE: 0 or +∞
};

/// Requires  `keys`, visible or not, in the problem
empty_row_rule empty_rows_of(conventions const& how, std::int64_t keys) noexcept;

/// Judges as judge() does, except the rows for which a convention of the contract prescribes other outputs: these are
/// judged by the convention.
judgement judge_by_conventions(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                               std::span<row_index const> rows = {}, thoroughness how = thoroughness::report);

/// The outputs as docs/semantics.md has them, in the rows for which the contract prescribes others.
owned_outputs translated(owned_problem const& problem, owned_outputs const& outputs, contract const& claim);

}  // namespace attest::audit
