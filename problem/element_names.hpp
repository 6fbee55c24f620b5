// Element types in sentences: "f32, f64, bf16 or f16".
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "problem/element_type.hpp"

namespace attest::problem {

/// The floating types with IEEE 754's own formats first.
constexpr auto ieee_rows_first() noexcept {
  auto made = floating_rows;
  std::size_t at = 0;
  for (bool const ieee : {true, false})
    for (element_row const& row : floating_rows)
      if ((row.dlpack == dlpack_code::floating) == ieee) made[at++] = row;
  return made;
}

/// "a, b and c" from a column of the rows.
inline std::string listed(std::span<element_row const> rows, std::string_view conjunction,
                          std::string_view element_row::* column = &element_row::name) {
  std::string made;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (at > 0) made += at + 1 < rows.size() ? ", " : " " + std::string(conjunction) + " ";
    made += rows[at].*column;
  }
  return made;
}

}  // namespace attest::problem
