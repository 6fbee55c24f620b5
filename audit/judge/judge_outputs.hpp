// The outputs of one call against the truth: every element, by the bound of the contract.
#pragma once

#include <span>

#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/row_index.hpp"
#include "problem/erased.hpp"

namespace attest::audit {

/// How many wrong rows the ball tier judges. It costs some hundred times as much as the machine tier, which settles
/// most rows of right outputs.
enum class thoroughness : std::uint8_t {
  report,   ///< wrong rows up to most_wrong_rows; the elements of further ones are counted as not_certified
  verdict,  ///< up to the first fault: only whether there is one is asked
};

/// The number of wrong rows that cost about six times as much as the machine tier takes for all `rows`; for small
/// problems, some more.
/// Source    measured: a row of the ball tier costs what 500 of the machine tier cost (f32, 512 keys, d = dv = 64)
std::int64_t most_wrong_rows(problem::sizes const& sizes, std::int64_t rows) noexcept;

/// The judgement of no element: what exists, and which outputs were returned.
judgement unjudged(owned_outputs const& outputs);

/// Judges every element of `outputs` by docs/semantics.md and the exact values of the contract (row_law.hpp). If `rows`
/// is not empty, only elements of these rows are judged, if they are queries of their entries.
/// Requires  outputs that a kernel wrote for `problem` or that problem::make_outputs accepts for it; `rows` in
///           increasing order
/// Ensures   the same judgement for any number of threads. No fault is passed over: if elements are not_certified,
///           others are wrong
/// Cost      about m·(d + dv) exact products and m exponentials for a row of m visible keys; memory O(m) for each
///           thread
judgement judge(problem::any_instance const& problem, owned_outputs const& outputs, contract const& claim,
                std::span<row_index const> rows = {}, thoroughness how = thoroughness::report);

}  // namespace attest::audit
