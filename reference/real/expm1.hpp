// e^x − 1 on balls, accurate near 0.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "reference/real/ball.hpp"
#include "reference/real/exp.hpp"

namespace attest::reference {

/// Near 0 e^y − 1 = y·Σ_{n≤N} y^n/(n+1)!, |y| < 1/4.
template <unsigned W>
struct expm1_parameters {
  /// The series is used for |y| < 2^−2; for larger |y| the difference e^y − 1 loses at most 3 bits.
  static constexpr int near_zero = -2;
  /// N for |y| < 2^−zeros ≤ 1/4: the first omitted term is below 2^(−zeros·(N+1))/(N+2)!, the whole remainder below
  /// 1.34 times that: less than 2^−(W+8).
  static constexpr std::int64_t degree_for(std::int64_t zeros) noexcept {
    std::int64_t degree = 0, factorial_bits = 1;  // factorial_bits ≤ log2((degree + 2)!)
    while (zeros * (degree + 1) + factorial_bits < static_cast<std::int64_t>(W) + 9) {
      ++degree;
      factorial_bits += static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(degree + 2))) - 1;
    }
    return degree;
  }
};

namespace detail {

/// Is the midpoint so near to 0 that the series is used?
template <unsigned W>
constexpr bool near_zero(ball<W> const& a) noexcept {
  return a.mid.sign() == 0 || a.exponent + bit_length(a.mid) <= expm1_parameters<W>::near_zero;
}

}  // namespace detail

/// { e^x − 1 : x ∈ a } ⊆ result.
/// Requires  a.upper < 2^60
/// Ensures   radius ≤ 4·r_a + 2^(−W+6)·|e^mid − 1| for |mid| < 1/4 and r_a ≤ 1: relative accuracy near 0; otherwise the
///           radius of exp
/// Why       the slope e^x is below e^1.25 < 4 there
/// Cost      N divisions near 0, at most W/log2(1/|mid|), one exp elsewhere
template <unsigned W>
constexpr ball<W> expm1(ball<W> const& a) noexcept {
  if (!detail::near_zero(a) || (!a.is_exact() && a.radius.ceil_log2() > 0)) return exp(a) - ball<W>(1);
  ball<W> y = a;
  y.radius = {};
  ball<W> sum(1);
  // If the midpoint has an exponent near −2⁶⁰, the degree is 0 all the same.
  std::int64_t const zeros =
      std::min<std::int64_t>(-(a.exponent + bit_length(a.mid)), 2 * static_cast<std::int64_t>(W));
  std::int64_t const degree = a.mid.sign() == 0 ? 0 : expm1_parameters<W>::degree_for(zeros);
  for (std::int64_t n = degree + 1; n > 1; --n) sum = ball<W>(1) + y * sum / ball<W>(n);
  sum.radius = sum.radius + magnitude::power_of_two(-static_cast<std::int64_t>(W) - 8);
  ball<W> result = y * sum;
  result.radius = result.radius + a.radius.scaled(2);
  return result;
}

}  // namespace attest::reference
