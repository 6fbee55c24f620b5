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

inline constexpr std::string_view layout_key = "attest.layout";
inline constexpr std::array<std::string_view, 3> axis_orders{"bhnd", "bnhd", "thd"};
inline constexpr std::array<std::string_view, 2> pool_orders{"hnd", "nhd"};

/// PREFIX.key of the metadata, or else the plain key.
safetensors_metadata::const_iterator key_of(safetensors_metadata const& metadata, std::string_view prefix,
                                            std::string_view key);

/// The word of PREFIX.key, or of the plain key, as a value; the first word if neither exists.
template <class Order>
problem::result<Order> order_of(safetensors_metadata const& metadata, std::string_view prefix, std::string_view key,
                                std::span<std::string_view const> words) {
  auto const at = key_of(metadata, prefix, key);
  if (at == metadata.end()) return Order{};
  auto const found = std::ranges::find(words, at->second);
  if (found != words.end()) return static_cast<Order>(found - words.begin());
  return fault(problem::error_code::bad_value, at->first,
               fmt::format("is '{}', expected {}", printable(at->second, 60), fmt::join(words, " or ")));
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
