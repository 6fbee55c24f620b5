// Rows of dK and dV among the rows of a backward pass that are judged.
#pragma once

#include <span>
#include <vector>

#include "audit/tensors/row_index.hpp"
#include "problem/checks.hpp"

namespace attest::audit {

/// Row j of dK and dV of key-value head g: the heads of keys count on behind the query heads.
constexpr row_index row_of_key(problem::sizes const& s, std::int64_t b, std::int64_t g, std::int64_t j) noexcept {
  return {b, s.hq + g, j};
}
constexpr bool is_row_of_key(problem::sizes const& s, row_index const& row) noexcept { return row.h >= s.hq; }

/// The rows of queries among them.
inline std::vector<row_index> rows_of_queries(problem::sizes const& s, std::span<row_index const> rows) {
  std::vector<row_index> queries;
  for (row_index const& row : rows)
    if (!is_row_of_key(s, row)) queries.push_back(row);
  return queries;
}

}  // namespace attest::audit
