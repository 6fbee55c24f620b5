// Numbers a + b·√d with whole a, b: differences of scores whose scale is 1/√d, and their products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "reference/real/ball.hpp"
#include "reference/real/big_integer.hpp"
#include "reference/real/sqrt.hpp"

namespace attest::reference {

/// a + b·√d; d is given where it matters. If √d is whole, b is 0, so that the number is 0 iff a and b are.
struct quadratic_integer {
  big_integer a, b;

  constexpr bool is_zero() const noexcept { return a.sign() == 0 && b.sign() == 0; }
  constexpr std::int64_t bit_length() const noexcept { return std::max(a.bit_length(), b.bit_length()); }

  constexpr quadratic_integer& operator+=(quadratic_integer const& other) {
    a += other.a, b += other.b;
    return *this;
  }
  friend constexpr quadratic_integer operator-(quadratic_integer const& x, quadratic_integer const& y) {
    return {x.a - y.a, x.b - y.b};
  }
};

constexpr quadratic_integer product(quadratic_integer const& x, quadratic_integer const& y, std::int64_t d) {
  quadratic_integer result{x.a * y.a, {}};
  if (x.b.sign() != 0 && y.b.sign() != 0) result.a += x.b * y.b * big_integer(d);
  if (y.b.sign() != 0) result.b += x.a * y.b;
  if (x.b.sign() != 0) result.b += x.b * y.a;
  return result;
}

/// Ensures   a relative radius of at most 2^(−W+6), however much a and b·√d cancel
/// Why       a + b·√d = (a² − d·b²)/(a − b·√d); if the left side cancels, the right one does not
template <unsigned W>
constexpr ball<W> enclosure(quadratic_integer const& x, std::int64_t d) {
  ball<W> const a = x.a.template enclosure<W>(0);
  if (x.b.sign() == 0) return a;
  ball<W> const b = x.b.template enclosure<W>(0) * inverse_sqrt<W>(d) * ball<W>(d);
  if (x.a.sign() * x.b.sign() >= 0) return a + b;
  big_integer const norm = x.a * x.a - x.b * x.b * big_integer(d);
  return norm.template enclosure<W>(0) / (a - b);
}

}  // namespace attest::reference
