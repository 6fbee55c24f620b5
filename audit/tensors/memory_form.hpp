// Where the tensors of a call lie in memory. The problem stays the same; the descriptors that a kernel gets differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// By default each tensor has memory of its own: an input with the strides of its draft, an output without gaps.
struct memory_form {
  bool v_in_k = false;        ///< V is the first dv columns of K, in the same memory
  bool shared_batch = false;  ///< K and V have stride 0 over the batch
  bool shared_heads = false;  ///< K and V have stride 0 over the heads
  std::int64_t overlap = 0;   ///< elements that a row of K or V shares with the next: row stride = d − overlap
  bool heads_inside = false;  ///< Q, K, V and O lie in the order [b, n, h, d]
  bool o_inside = false;      ///< O alone lies in the order [b, n, h, d]
  bool unaligned = false;     ///< byte_offset is not 0 and data + byte_offset is aligned to one element only
  std::int64_t row_gap = 0;   ///< elements after each row of O and the weights, and after each head of LSE
  std::int64_t head_gap = 0;  ///< elements after each head of O and the weights
  /// Elements between the batch entries, heads and rows of all tensors, in addition to the elements that they need. The
  /// memory between them is inaccessible if it is more than some pages, and costs address space only.
  std::int64_t far_batch = 0, far_head = 0, far_row = 0;

  friend bool operator==(memory_form const&, memory_form const&) = default;

  /// "V is the first columns of K; byte_offset is not 0"; empty for the default.
  std::string text() const;
};

/// Why a problem cannot have this form. Returns nothing if it can. Packed or paged tensors cannot, since they have the
/// strides of their own draft. Numbers can be out of range: row_gap, head_gap ≤ 2^20, far ≤ 2^40, overlap ≤ min(d, dv),
/// and no overlap with heads_inside or far_row. Or elements would share a place in memory and differ in their bits.
/// Cost      one pass over K and V if they share memory
std::optional<problem::error> memory_fault(owned_problem const& problem, memory_form const& form);

/// The tensors of a call. `beside` is a tensor that has neither rows nor columns of scores: a sink, lengths, offsets, a
/// table, a block mask.
enum class call_tensor : std::uint8_t { q, k, v, mask, bias, keep, beside, o, lse, weights };

/// Whether the tensor gets other strides than by default.
bool moves(memory_form const& form, call_tensor which) noexcept;

/// The layout of a tensor in the descriptor of the C interface under this form.
/// Requires  `usual`: the layout by default, of rank 4 (LSE: 3); a form in which memory_fault finds no fault
/// Ensures   the shape of `usual`; nothing if an offset exceeds 2^59 elements
std::optional<problem::layout> formed(problem::layout const& usual, call_tensor which, memory_form const& form);

}  // namespace attest::audit
