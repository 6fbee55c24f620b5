// tanh x on balls.
#pragma once

#include <cstdint>

#include "reference/real/ball.hpp"
#include "reference/real/expm1.hpp"

namespace attest::reference {

namespace detail {

/// tanh |x| of one number, the midpoint of a: E/(E + 2) near 0, with E = e^(2x) − 1.
template <unsigned W>
constexpr ball<W> tanh_of_size(ball<W> const& a) noexcept {
  ball<W> x = absolute(a);
  x.radius = {};
  ball<W> const y = x.scaled_by_power_of_two(1);
  if (near_zero(y)) {
    ball<W> const e = expm1(y);
    return e / (e + ball<W>(2));
  }
  ball<W> const e = exp(-y);  // below e^(−1/4): 1 − e > 0.22 loses at most 3 bits
  return (ball<W>(1) - e) / (ball<W>(1) + e);
}

}  // namespace detail

/// { tanh x : x ∈ a } ⊆ result.
/// Ensures   radius ≤ r_a·min(1, 4·2^−⌊2.885·⌊min|x|⌋⌋) + 2^(−W+6)·|tanh mid|, and [−1, 1] where that is above 1. So it
///           is relatively accurate near 0, and far from 0 for every r_a, however large; odd in a
/// Why       the slope 1 − tanh² = 4/(e^x + e^−x)² is at most min(1, 4·e^(−2|x|))
/// Source    "Additive (Bahdanau) e = vᵀ tanh(W_s s + W_h h)", Day 11: Scaled Dot-Product Attention, section 11.1
/// Cost      one exp, or N divisions near 0
template <unsigned W>
constexpr ball<W> tanh(ball<W> const& a) noexcept {
  ball<W> result = detail::tanh_of_size(a);
  if (a.mid.sign() < 0) result = -result;
  if (a.is_exact()) return result;
  magnitude const least = a.lower_size();
  std::uint64_t floor_of_least = 0;
  if (!least.is_zero() && least.exponent() > -32)
    floor_of_least = least.exponent() >= 0 ? least.mantissa() : least.mantissa() >> -least.exponent();
  // e^(−2k) = 2^(−2.885…·k), and 4 = 2².
  std::int64_t const slope_bits = static_cast<std::int64_t>(floor_of_least * 2885 / 1000) - 2;
  result.radius = result.radius + a.radius.scaled(slope_bits > 0 ? -slope_bits : 0);
  if (result.radius <= magnitude::power_of_two(0)) return result;
  ball<W> all;
  all.radius = magnitude::power_of_two(0);
  return all;
}

}  // namespace attest::reference
