// The element type that a dtype of a safetensors file names.
#pragma once

#include <optional>
#include <string_view>

#include "problem/element_type.hpp"

namespace attest::audit {

inline std::optional<problem::element_type> floating_type(std::string_view dtype) {
  for (problem::element_row const& row : problem::element_table)
    if (row.is_floating() && row.dtype == dtype) return row.type;
  return std::nullopt;
}

}  // namespace attest::audit
