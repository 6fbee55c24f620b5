// Matrices in memory.
#pragma once

#include <cstdint>

#include <hwy/base.h>

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

/// The same where each row lies elsewhere: element (i, j) is rows[i][j].
template <class N>
struct row_list {
  N* const* rows = nullptr;

  constexpr N* row(std::int64_t i) const noexcept { return rows[i]; }
  constexpr row_list from(std::int64_t i) const noexcept { return {rows + i}; }
};

/// `count` rows at one stride, a multiple of 4. Their addresses are those of every fourth and up to three strides: a processor
/// has too few registers for sixteen, and a compiler that knows where `data` comes from keeps sixteen, most of them in memory.
/// (The empty statement is what it cannot see through.)
template <class N, std::int64_t count>
struct neighbour_rows {
  N* every_fourth[count / 4];
  std::int64_t stride, three;

  HWY_INLINE neighbour_rows(N* data, std::int64_t row_stride) noexcept : stride(row_stride), three(3 * row_stride) {
    asm("" : "+r"(data));
    for (std::int64_t i = 0; i < count / 4; ++i) every_fourth[i] = data + 4 * i * stride;
  }
  HWY_INLINE N* row(std::int64_t i) const noexcept {
    N* const from = every_fourth[i / 4];
    return i % 4 == 3 ? from + three : from + i % 4 * stride;
  }
};

/// Rows and the rows that are prefetched beside them, as many: those themselves where there are none.
template <class N>
constexpr matrix<N> or_itself(N* next, matrix<N> const& rows) noexcept {
  return next == nullptr ? rows : matrix<N>{next, rows.stride};
}
template <class N>
constexpr row_list<N> or_itself(N* const* next, row_list<N> const& rows) noexcept {
  return next == nullptr ? rows : row_list<N>{next};
}

}  // namespace attest::fast
