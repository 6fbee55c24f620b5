// How many rows a tensor without elements may have. The bytes of a file bound the work and the memory that it causes,
// but such rows have no bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace attest::audit {

inline constexpr std::int64_t most_empty_rows = std::int64_t{1} << 20;

/// The rows of a tensor without elements: the product of its axes other than 0, or a number above most_empty_rows.
inline std::int64_t empty_rows(std::span<std::int64_t const> shape) {
  std::int64_t rows = 1;
  for (std::int64_t const extent : shape)
    if (extent > 0) rows = std::min(rows, most_empty_rows) * std::min(extent, 2 * most_empty_rows);
  return rows;
}

}  // namespace attest::audit
