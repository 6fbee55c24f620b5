// The entries of a problem: which rows are queries and keys, where the row of a query lies in an output, and the same
// problem without packing and pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The queries of entry b, at most size().n. Rows behind them are no part of the problem.
std::int64_t queries_of(owned_problem const& problem, std::int64_t b) noexcept;
/// The keys of entry b, at most size().m.
std::int64_t keys_of(owned_problem const& problem, std::int64_t b) noexcept;
/// The queries of all entries.
std::int64_t queries_of(owned_problem const& problem) noexcept;

/// The row of query i of head h of entry b in a compact O, weights or LSE (whose rows are single numbers), counted over
/// all axes except the last. Outputs have the shape of problem::rows_layout: [1, hq, rows of q, ·] if q is packed.
std::size_t output_row(owned_problem const& problem, std::int64_t b, std::int64_t h, std::int64_t i) noexcept;

/// O and LSE of a problem, compact, of the shape of problem::rows_layout, all 0.
owned_outputs zero_outputs(owned_problem const& problem);

/// Sets elements that belong to no query to 0, since they are no answer. Returns what was found there, compared with
/// `before`, the bytes of the same elements before the call, if they are known.
/// Requires  a compact output of the shape of problem::rows_layout; `before` empty or of its size
padding_found clear_padding(owned_problem const& problem, owned_tensor& output, std::span<std::byte const> before = {});

/// The elements of a tensor in row-major order, without gaps.
std::vector<std::byte> compact_bytes(owned_tensor const& from);
/// The same tensor in row-major order, without gaps.
owned_tensor compacted(owned_tensor from);

/// The same problem with slots: q, k and v are [b, h, slot, width], compact; q_lengths and k_lengths say how much of
/// each is used, and dO has the slots of q. Rows that no entry uses are 0. Requires a problem of rank 4
problem_draft in_slots(owned_problem const& problem);
/// Its O, LSE and weights in slots, [b, hq, n, ·], with the padding found in them. Includes weights only if the problem
/// has no more columns in slots.
owned_outputs in_slots(owned_problem const& problem, owned_outputs const& outputs);

}  // namespace attest::audit
