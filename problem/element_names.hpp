// The names of element types as part of a sentence: "f32, f64, bf16 or f16".
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "problem/element_type.hpp"

namespace attest::problem {

/// The rows of the floating types: first the formats of IEEE 754, then the others.
constexpr auto ieee_rows_first() noexcept {
  auto sorted = floating_rows;
  std::size_t at = 0;
  for (bool const ieee : {true, false})
    for (element_row const& row : floating_rows)
      if ((row.dlpack == dlpack_code::floating) == ieee) sorted[at++] = row;
  return sorted;
}

/// The names (or another column) of some rows, as a list in a sentence: "a, b and c" for the conjunction "and".
inline std::string listed(std::span<element_row const> rows, std::string_view conjunction,
                          std::string_view element_row::* column = &element_row::name) {
  std::string text;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (at > 0) text += at + 1 < rows.size() ? ", " : " " + std::string(conjunction) + " ";
    text += rows[at].*column;
  }
  return text;
}

}  // namespace attest::problem
