// The entropy of a distribution.
#pragma once

#include <cstdint>

#include "reference/real/log.hpp"
#include "reference/textbook/ball_range.hpp"

namespace attest::reference {

/// −p·ln p in nats, 0·ln 0 = 0.
///
/// Requires  the exact p in [0, 1]
/// Why       where the ball reaches 0: −p·ln p rises on [0, 1/e], so for p ≤ u = m·2^e ≤ 1/4 it is at most
///           −u·ln u ≤ u·(−log2 u) ≤ u·(−e − 31), as m ≥ 2^31; and it is below 1/2 everywhere
template <unsigned W>
constexpr ball<W> surprise(ball<W> const& p) noexcept {
  if (p.is_exact() && p.mid.sign() == 0) return p;
  if (certain_sign(p) > 0) return -(p * log(p));
  magnitude const u = p.upper_size();
  ball<W> result;
  result.radius = u <= magnitude::power_of_two(-2) ? u * magnitude(static_cast<std::uint64_t>(-u.exponent() - 31), 0)
                                                   : magnitude::power_of_two(-1);
  return result;
}

/// H = −Σ p_i·ln p_i in nats, 0·ln 0 = 0.
///
/// Requires  the exact p_i in [0, 1]
/// Ensures   H ∈ result
/// Source    "Entropy (unscaled): …" (11.7) and "Plots the entropy of the attention distribution" (E11.2), Day 11
/// Cost      n logarithms
template <ball_range R>
constexpr ball_of<R> entropy(R const& p) noexcept {
  ball_of<R> sum{};
  for (auto const& weight : p) sum = sum + surprise(weight);
  return sum;
}

}  // namespace attest::reference
