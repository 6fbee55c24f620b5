// The encoding by which the O of a kernel shows which keys it read.
//
// With Q = 0, each of the N visible keys has weight 1/N. V[j, j/D] = 2^(j mod D), all other elements are 0. So O·N is
// an integer in each column; its binary digits say which keys of that column are visible. It is exact in any order of
// summation while D digits fit the element type.
#pragma once

#include <cstdint>

#include "problem/element_type.hpp"

namespace attest::audit::probe {

/// D, small enough that N·|error of O| stays below 1/2 and sums are exact.
constexpr std::int64_t digits(problem::element_type type) noexcept {
  return problem::row_of(type).format.fraction_bits - 3;
}

/// The columns of V for m keys.
constexpr std::int64_t columns(problem::element_type type, std::int64_t m) noexcept {
  return (m + digits(type) - 1) / digits(type);
}

}  // namespace attest::audit::probe
