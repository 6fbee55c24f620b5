// The code by which a kernel's O tells which keys it read.
//
// With Q = 0 every visible key weighs 1/N. V[j, j/D] = 2^(j mod D), all else 0: out·N is an integer whose binary digits
// are the keys of a column, exact in any order of summation while D digits fit the element type.
#pragma once

#include <cstdint>

#include "problem/element_type.hpp"

namespace attest::audit::probe {

/// D: so few that N·|error of out| stays below 1/2 and sums are exact.
constexpr std::int64_t digits(problem::element_type type) noexcept {
  return problem::row_of(type).format.fraction_bits - 3;
}

constexpr std::int64_t columns(problem::element_type type, std::int64_t m) noexcept {
  return (m + digits(type) - 1) / digits(type);
}

}  // namespace attest::audit::probe
