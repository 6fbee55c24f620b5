// The order of the axes that the metadata of a file say: attest.layout and attest.kv_layout (problem_file.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/files/merge_file.hpp"
#include "audit/files/problem_file_entry.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {

inline constexpr std::string_view layout_key = "attest.layout", kv_layout_key = "attest.kv_layout";
inline constexpr std::array<std::string_view, 4> axis_orders{"bhnd", "bnhd", "thd", "nbhd"};
inline constexpr std::array<std::string_view, 2> pool_orders{"hnd", "nhd"};

/// The word of axis_orders or pool_orders for a word of the libraries: capitals, and s, t or l for the rows. Any other
/// word is itself.
std::string order_word(std::string_view said);

/// "[b, n, h, d]", "[rows, h, d]"; without its first axis if `rank` is 3.
std::string axes_of(axis_order order, int rank = 4);

/// PREFIX.key of the metadata, or else the plain key.
safetensors_metadata::const_iterator key_of(safetensors_metadata const& metadata, std::string_view prefix,
                                            std::string_view key);

/// The word of PREFIX.key, or of the plain key, as a value; the first word if neither exists.
template <class Order>
problem::result<Order> order_of(safetensors_metadata const& metadata, std::string_view prefix, std::string_view key,
                                std::span<std::string_view const> words) {
  auto const at = key_of(metadata, prefix, key);
  if (at == metadata.end()) return Order{};
  auto const found = std::ranges::find(words, order_word(at->second));
  if (found != words.end()) return static_cast<Order>(found - words.begin());
  return fault(problem::error_code::bad_value, at->first,
               fmt::format("is '{}', expected {}{}", printable(at->second, 60), fmt::join(words, " or "),
                           words.size() > 2 ? " (bhsd, bshd and sbhd are known, too)" : ""));
}

/// The fault of the metadata about this merge, whose axes have only one order. A key without a prefix is about the
/// other problems.
std::optional<problem::error> merge_order_fault(safetensors_metadata const& metadata, std::string_view prefix);

/// Why the axes of the outputs cannot have the order that their file's metadata say. Returns nothing if they can, or if
/// no output has an order.
std::optional<problem::error> order_fault(safetensors_metadata const& outputs, tensor_group const& tensors,
                                          problem_file_entry const& entry);

/// Why a tensor that is said to have rows of tokens, [rows, heads, width], has none: no offsets say to which entry they
/// belong.
std::optional<problem::error> token_fault(std::string_view key, std::string_view prefix, problem_draft const& draft);

}  // namespace attest::audit
