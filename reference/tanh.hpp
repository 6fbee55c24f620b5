// tanh x on balls.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/ball.hpp"
#include "reference/exp.hpp"

namespace attest::reference {

/// Near 0 tanh x = E/(E + 2) with E = e^(2x) − 1 = y·Σ_{n≤N} y^n/(n+1)!, y = 2x, |y| < 1/4.
template <unsigned W>
struct tanh_parameters {
  /// |x| < 2^−3 takes the series: above, 1 − e^(−2|x|) > 0.22 loses at most 3 bits.
  static constexpr int near_zero = -3;
  /// First omitted term below 4^−(N+1)/(N+2)!, the whole remainder below 1.34 times that: less than 2^−(W+8).
  static constexpr std::int64_t N = [] {
    std::int64_t degree = 1, factorial_bits = 2;  // factorial_bits ≤ log2((degree + 2)!)
    while (2 * (degree + 1) + factorial_bits < static_cast<std::int64_t>(W) + 9) {
      ++degree;
      factorial_bits += static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(degree + 2))) - 1;
    }
    return degree;
  }();
};

namespace detail {

/// tanh |x| of one number, a's midpoint.
template <unsigned W>
constexpr ball<W> tanh_of_size(ball<W> const& a) noexcept {
  using parameters = tanh_parameters<W>;
  ball<W> x = absolute(a);
  x.radius = {};
  if (x.mid.sign() == 0) return x;
  if (x.exponent + bit_length(x.mid) <= parameters::near_zero) {
    ball<W> const y = x.scaled_by_power_of_two(1);
    ball<W> sum(1);
    for (std::int64_t n = parameters::N + 1; n > 1; --n) sum = ball<W>(1) + y * sum / ball<W>(n);
    sum.radius = sum.radius + magnitude::power_of_two(-static_cast<std::int64_t>(W) - 8);
    ball<W> const expm1 = y * sum;
    return expm1 / (expm1 + ball<W>(2));
  }
  ball<W> const e = exp(-x.scaled_by_power_of_two(1));
  return (ball<W>(1) - e) / (ball<W>(1) + e);
}

}  // namespace detail

/// { tanh x : x ∈ a } ⊆ result.
/// Ensures   radius ≤ r_a·min(1, 4·e^(−2·⌊min|x|⌋)) + 2^(−W+6)·|tanh mid|, and [−1, 1] for r_a > 2: relative accuracy
///           near 0 too; odd in a
/// Why       the slope 1 − tanh² = 4/(e^x + e^−x)² is at most min(1, 4·e^(−2|x|))
/// Source    "Additive (Bahdanau) e = vᵀ tanh(W_s s + W_h h)", Day 11: Scaled Dot-Product Attention, section 11.1
/// Cost      one exp, or N divisions near 0
template <unsigned W>
constexpr ball<W> tanh(ball<W> const& a) noexcept {
  if (!a.is_exact() && a.radius.ceil_log2() > 1) {
    ball<W> all;
    all.radius = magnitude::power_of_two(0);
    return all;
  }
  ball<W> made = detail::tanh_of_size(a);
  if (a.mid.sign() < 0) made = -made;
  if (a.is_exact()) return made;
  magnitude const least = a.lower_size();
  std::uint64_t floor_of_least = 0;
  if (!least.is_zero() && least.exponent() > -32)
    floor_of_least = least.exponent() >= 0 ? least.mantissa() : least.mantissa() >> -least.exponent();
  // e^(−2k) = 2^(−2.885…·k), and 4 = 2².
  std::int64_t const slope_bits = static_cast<std::int64_t>(floor_of_least * 2885 / 1000) - 2;
  made.radius = made.radius + a.radius.scaled(slope_bits > 0 ? -slope_bits : 0);
  return made;
}

}  // namespace attest::reference
