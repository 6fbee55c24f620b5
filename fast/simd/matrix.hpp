// Matrices in memory.
#pragma once

#include <cstdint>

namespace attest::fast {

/// Element (i, j) is data[i·stride + j].
template <class N>
struct matrix {
  N* data = nullptr;
  std::int64_t stride = 0;

  constexpr N* row(std::int64_t i) const noexcept { return data + i * stride; }
  /// The rows from row i on.
  constexpr matrix from(std::int64_t i) const noexcept { return {row(i), stride}; }
};

/// The same if each row lies elsewhere: element (i, j) is rows[i][j].
template <class N>
struct row_list {
  N* const* rows = nullptr;

  constexpr N* row(std::int64_t i) const noexcept { return rows[i]; }
  constexpr row_list from(std::int64_t i) const noexcept { return {rows + i}; }
};

/// Rows, and as many rows that are prefetched meanwhile; the rows themselves if there are no others.
template <class N>
constexpr matrix<N> or_itself(N* next, matrix<N> const& rows) noexcept {
  return next == nullptr ? rows : matrix<N>{next, rows.stride};
}
template <class N>
constexpr row_list<N> or_itself(N* const* next, row_list<N> const& rows) noexcept {
  return next == nullptr ? rows : row_list<N>{next};
}

}  // namespace attest::fast
