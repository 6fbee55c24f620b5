// The matrix product inside a tile: S = Q·Kᵀ and O = P·V are the same loop.
#pragma once

#include <cstdint>

namespace attest::fast {

/// A matrix in memory: element (i, j) is data[i·stride + j].
template <class N>
struct matrix {
  N* data = nullptr;
  std::int64_t stride = 0;

  constexpr N* row(std::int64_t i) const noexcept { return data + i * stride; }
};

namespace detail {

/// C0 ← C0 + A0·B, C1 ← C1 + A1·B for four rows of B: four additions to an element of C, in the order of the rows.
template <class N>
constexpr void add_4_rows_twice(N const* A0, N const* A1, matrix<N const> B, N* __restrict C0, N* __restrict C1,
                                std::int64_t width) {
  N const *const B0 = B.row(0), *const B1 = B.row(1), *const B2 = B.row(2), *const B3 = B.row(3);
  N const a00 = A0[0], a01 = A0[1], a02 = A0[2], a03 = A0[3];
  N const a10 = A1[0], a11 = A1[1], a12 = A1[2], a13 = A1[3];
  for (std::int64_t c = 0; c < width; ++c) {
    C0[c] = C0[c] + a00 * B0[c] + a01 * B1[c] + a02 * B2[c] + a03 * B3[c];
    C1[c] = C1[c] + a10 * B0[c] + a11 * B1[c] + a12 * B2[c] + a13 * B3[c];
  }
}

template <class N>
constexpr void add_4_rows(N const* A, matrix<N const> B, N* __restrict C, std::int64_t width) {
  N const *const B0 = B.row(0), *const B1 = B.row(1), *const B2 = B.row(2), *const B3 = B.row(3);
  N const a0 = A[0], a1 = A[1], a2 = A[2], a3 = A[3];
  for (std::int64_t c = 0; c < width; ++c) C[c] = C[c] + a0 * B0[c] + a1 * B1[c] + a2 * B2[c] + a3 * B3[c];
}

}  // namespace detail

/// C ← C + a·B for one row B.
template <class N>
constexpr void add_row(N const& a, N const* B, N* __restrict C, std::int64_t width) {
  for (std::int64_t c = 0; c < width; ++c) C[c] = C[c] + a * B[c];
}

/// C_ic = Σ_t A_it·B_tc.
///
/// Shapes    A [rows, depth], B [depth, width], C [rows, width]; C overlaps neither
/// Ensures   each element is the plain sum ((0 + A_i0·B_0c) + A_i1·B_1c) + …, whatever the tiling: `depth` products and
///           depth − 1 additions, each rounded once; a sum that starts from +0 never becomes −0
/// Cost      rows·depth·width multiply-adds; the inner loop runs along the rows of B and C
template <class N>
constexpr void product(matrix<N const> A, matrix<N const> B, matrix<N> C, std::int64_t rows, std::int64_t depth,
                       std::int64_t width) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t c = 0; c < width; ++c) C.row(i)[c] = N{};
  std::int64_t const fours = depth - depth % 4, pairs = rows - rows % 2;
  for (std::int64_t i = 0; i < pairs; i += 2)
    for (std::int64_t t = 0; t < fours; t += 4)
      detail::add_4_rows_twice<N>(A.row(i) + t, A.row(i + 1) + t, {B.row(t), B.stride}, C.row(i), C.row(i + 1), width);
  if (pairs < rows)
    for (std::int64_t t = 0; t < fours; t += 4)
      detail::add_4_rows<N>(A.row(pairs) + t, {B.row(t), B.stride}, C.row(pairs), width);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t t = fours; t < depth; ++t) add_row<N>(A.row(i)[t], B.row(t), C.row(i), width);
}

}  // namespace attest::fast
