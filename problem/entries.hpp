// The entries of a call, and where their rows lie: batch entries of one size, entries that are shorter than their slot,
// entries packed one behind the other, keys in the pages of a pool. docs/semantics.md, "Entries", states the rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "problem/checks.hpp"
#include "problem/result.hpp"
#include "problem/view.hpp"

namespace attest::problem {

/// The tensors that describe entries, not yet validated: int32, compact except the rows of block_table.
struct entry_tensors {
  std::optional<tensor<std::int32_t const>> q_lengths, k_lengths;  ///< [b]: queries and keys of each entry
  std::optional<tensor<std::int32_t const>> q_offsets, k_offsets;  ///< [b + 1]: where its rows begin in a packed tensor
  std::optional<tensor<std::int32_t const>> block_table;           ///< [b, width]: its pages of the pools K and V
};

/// The statement of one side of a call (the queries, or the keys) about its entries. Validated, without memory of its
/// own.
struct entry_rows {
  std::int64_t slot = 0;                  ///< the most rows of an entry: n, or m
  std::int64_t total = 0;                 ///< rows of the packed tensor; else `slot`
  std::int32_t const* lengths = nullptr;  ///< rows that are used, of each entry; null: all of its room
  std::int32_t const* offsets = nullptr;  ///< null: not packed
  row_map map{};

  constexpr bool is_packed() const noexcept { return offsets != nullptr; }
  /// Rows that entry b has memory for.
  constexpr std::int64_t room(std::int64_t b) const noexcept {
    return offsets == nullptr ? slot : std::int64_t{offsets[b + 1]} - offsets[b];
  }
  /// Rows of entry b: 0 ≤ used(b) ≤ room(b) ≤ slot.
  constexpr std::int64_t used(std::int64_t b) const noexcept { return lengths == nullptr ? room(b) : lengths[b]; }
};

/// The entries of a call: entry e has queries.used(e) queries and keys.used(e) keys.
struct entries {
  entry_rows queries{}, keys{};

  /// Is every entry as large as its slot, in tensors that strides describe?
  constexpr bool are_dense() const noexcept {
    return queries.lengths == nullptr && keys.lengths == nullptr && queries.offsets == nullptr &&
           keys.map.starts == nullptr && keys.map.table == nullptr;
  }
};

namespace checks {

inline std::string element_text(std::int64_t at, std::int64_t value) {
  return "[" + std::to_string(at) + "] = " + std::to_string(value);
}

/// The shape of a tensor of whole numbers: rank 1 and `size` elements, or any number of elements if `size` is −1.
constexpr std::optional<error> list_fault(std::string_view name, tensor<std::int32_t const> const& list,
                                          std::int64_t size) {
  if (auto why = layout_fault(name, list.layout, sizeof(std::int32_t), list.data != nullptr)) return why;
  if (list.layout.rank != 1 || (size >= 0 && list.layout.shape[0] != size))
    return fault(error_code::bad_shape, name,
                 "shape is " + text(list.layout) + ", expected " +
                     (size >= 0 ? "[" + std::to_string(size) + "], one number an entry" : std::string("rank 1")));
  return std::nullopt;
}

/// Offsets rise from 0 to at most `total`; on return `slot` is the longest span.
constexpr std::optional<error> offsets_fault(std::string_view name, std::string_view rows_of,
                                             tensor<std::int32_t const> const& offsets, std::int64_t total,
                                             std::int64_t& slot) {
  if (auto why = list_fault(name, offsets, -1)) return why;
  std::int64_t const count = offsets.layout.shape[0];
  if (count == 0)
    return fault(error_code::bad_shape, name, "is empty, expected one number more than there are entries");
  std::string const rule =
      ": offsets must rise from 0 to at most " + std::to_string(total) + ", the rows of " + std::string(rows_of);
  if (offsets.data[0] != 0) return fault(error_code::bad_value, name, element_text(0, offsets.data[0]) + rule);
  slot = 0;
  for (std::int64_t e = 1; e < count; ++e) {
    std::int64_t const from = offsets.data[e - 1], to = offsets.data[e];
    if (to < from)
      return fault(error_code::bad_value, name, element_text(e, to) + " follows " + element_text(e - 1, from) + rule);
    slot = std::max(slot, to - from);
  }
  if (std::int64_t const last = offsets.data[count - 1]; last > total)
    return fault(error_code::bad_value, name, element_text(count - 1, last) + rule);
  return std::nullopt;
}

/// Each length lies within the room of its entry. `room_text` says more about that room, or is empty.
constexpr std::optional<error> lengths_fault(std::string_view name, std::string_view what, entry_rows const& side,
                                             tensor<std::int32_t const> const& lengths, std::int64_t entries,
                                             std::string_view room_text) {
  if (auto why = list_fault(name, lengths, entries)) return why;
  for (std::int64_t e = 0; e < entries; ++e)
    if (std::int64_t const length = lengths.data[e]; length < 0 || length > side.room(e))
      return fault(error_code::bad_value, name,
                   "[" + std::to_string(e) + "] is " + std::to_string(length) + ", but entry " + std::to_string(e) +
                       " has room for " + std::to_string(side.room(e)) + " " + std::string(what) +
                       std::string(room_text));
  return std::nullopt;
}

/// Each entry of the table that is needed, ⌈m_e/page⌉ of them, lies in the pool.
constexpr std::optional<error> table_fault(tensor<std::int32_t const> const& table, entry_rows const& keys,
                                           std::int64_t pages) {
  std::int64_t const page = keys.map.page;
  for (std::int64_t e = 0; e < table.layout.shape[0]; ++e)
    for (std::int64_t at = 0; at * page < keys.used(e); ++at)
      if (std::int64_t const entry = keys.map.table[e * keys.map.width + at]; entry < 0 || entry >= pages)
        return fault(error_code::bad_value, "block_table",
                     "[" + std::to_string(e) + "][" + std::to_string(at) + "] = " + std::to_string(entry) +
                         " is needed (entry " + std::to_string(e) + " has " + std::to_string(keys.used(e)) +
                         " keys of " + std::to_string(page) + " a page), but there are " + std::to_string(pages) +
                         " pages");
  return std::nullopt;
}

/// The tensors of one call from the view of an entry: q, k and v as if every entry had a slot of its own.
struct entry_layouts {
  layout q, k, v;
  problem::entries entries{};
};

/// The rules for lengths, offsets and the table, except rules that need the number of entries of both sides. On return
/// `found` has the shapes [b, h, slot, ·], with which sizes_fault compares the sides.
/// Requires  layouts that passed layout_fault
constexpr std::optional<error> entry_shapes_fault(entry_tensors const& given, layout const& q, layout const& k,
                                                  layout const& v, entry_layouts& found) {
  found.q = q, found.k = k, found.v = v;
  bool const paged = given.block_table.has_value();
  if (given.k_offsets && paged)
    return fault(error_code::bad_value, "block_table", "it and k_offsets exclude each other");
  if (paged && !given.k_lengths) return fault(error_code::missing, "block_table", "needs k_lengths");
  auto const packed = [&](std::string_view name, std::string_view offsets_name, layout const& rows,
                          std::optional<layout> const& beside, tensor<std::int32_t const> const& offsets,
                          entry_rows& side) -> std::optional<error> {
    if (rows.rank != 4 || rows.shape[0] != 1 || (beside && (beside->rank != 4 || beside->shape[0] != 1)))
      return fault(error_code::bad_shape, name,
                   "shape is " + text(rows) + "; with " + std::string(offsets_name) + " it is [1, heads, rows, width]");
    side.total = rows.shape[2];
    if (beside && beside->shape[2] != side.total)
      return fault(error_code::bad_shape, "v",
                   "has " + std::to_string(beside->shape[2]) + " rows, k has " + std::to_string(side.total));
    if (auto why = offsets_fault(offsets_name, name, offsets, side.total, side.slot)) return why;
    side.offsets = side.map.starts = offsets.data;
    return std::nullopt;
  };
  auto const as_slots = [](layout& tensor, std::int64_t entries, std::int64_t slot) {
    tensor.shape[0] = entries, tensor.shape[2] = slot;
  };
  if (given.q_offsets) {
    if (auto why = packed("q", "q_offsets", q, std::nullopt, *given.q_offsets, found.entries.queries)) return why;
    as_slots(found.q, given.q_offsets->layout.shape[0] - 1, found.entries.queries.slot);
  }
  if (given.k_offsets) {
    if (auto why = packed("k", "k_offsets", k, v, *given.k_offsets, found.entries.keys)) return why;
    for (layout* tensor : {&found.k, &found.v})
      as_slots(*tensor, given.k_offsets->layout.shape[0] - 1, found.entries.keys.slot);
  }
  if (paged) {
    auto const& table = *given.block_table;
    if (auto why = layout_fault("block_table", table.layout, sizeof(std::int32_t), table.data != nullptr)) return why;
    if (table.layout.rank != 2)
      return fault(error_code::bad_shape, "block_table",
                   "shape is " + text(table.layout) + ", expected [entries, width]");
    if (k.rank != 4 || v.rank != 4 || k.shape[0] != v.shape[0] || k.shape[2] != v.shape[2] || k.shape[2] < 1)
      return fault(error_code::bad_shape, "k",
                   "k is " + text(k) + " and v is " + text(v) +
                       "; with block_table both are pools [pages, heads, page, width] with pages of at least 1 key");
    auto const slot = multiply_add(table.layout.shape[1], k.shape[2], 0);
    if (!slot) return fault(error_code::size_overflow, "block_table", "its width times the page size passes 2^63");
    entry_rows& keys = found.entries.keys;
    keys.slot = *slot;
    keys.map = {nullptr, table.data, table.layout.stride[0], k.shape[2]};
    for (layout* tensor : {&found.k, &found.v}) as_slots(*tensor, table.layout.shape[0], keys.slot);
  }
  // The numbers of entries, by name: sizes_fault would call them batch sizes.
  if (given.q_offsets || given.k_offsets || paged) {
    std::int64_t const of_q = found.q.rank == 4 ? found.q.shape[0] : 1, of_k = found.k.rank == 4 ? found.k.shape[0] : 1;
    if (of_q != of_k)
      return fault(error_code::bad_shape, given.q_offsets ? "q_offsets" : "q",
                   "the queries have " + std::to_string(of_q) + " entries, the keys " + std::to_string(of_k));
  }
  return std::nullopt;
}

/// The rest: lengths, and the entries of the table that they need. Requires sizes that entry_shapes_fault's layouts
/// have.
constexpr std::optional<error> entries_fault(entry_tensors const& given, sizes const& s, std::int64_t pages,
                                             entries& found) {
  if (!found.queries.is_packed()) found.queries.slot = found.queries.total = s.n;
  if (found.keys.map.starts == nullptr) found.keys.slot = found.keys.total = s.m;
  if (given.q_lengths) {
    if (auto why = lengths_fault("q_lengths", "queries", found.queries, *given.q_lengths, s.b, "")) return why;
    found.queries.lengths = given.q_lengths->data;
  }
  if (given.k_lengths) {
    std::string const columns = found.keys.map.table == nullptr || found.keys.map.page == 0
                                    ? std::string()
                                    : " (" + std::to_string(found.keys.slot / found.keys.map.page) +
                                          " table columns of " + std::to_string(found.keys.map.page) + ")";
    if (auto why = lengths_fault("k_lengths", "keys", found.keys, *given.k_lengths, s.b, columns)) return why;
    found.keys.lengths = given.k_lengths->data;
  }
  if (given.block_table) return table_fault(*given.block_table, found.keys, pages);
  return std::nullopt;
}

}  // namespace checks
}  // namespace attest::problem
