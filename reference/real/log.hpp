// ln x on balls.
#pragma once

#include <cstdint>

#include "reference/real/ball.hpp"
#include "reference/real/constants.hpp"

namespace attest::reference {

/// { ln x : x ∈ a } ⊆ result.
/// Requires  a > 0
/// Ensures   radius ≤ r_a/a.lower + (6N + 12 + 2|k|)·2^(−W−96) + 1 ulp; ln 1 = 0 exactly
/// Why       x = f·2^k, 1/√2 < f < √2 nearly; ln f = 2·artanh(t), t = (f−1)/(f+1), |t| ≤ 0.1716 < 2^−2.5, so that N
///           odd powers leave less than t^(2N+1)·1.04 < 1 unit
template <unsigned W>
constexpr ball<W> log(ball<W> const& a) noexcept {
  constexpr unsigned F = W + 96;
  constexpr unsigned N = F / 5 + 1;
  constexpr auto bits = 2 * F + 128;
  using fixed = integer<bits>;

  int const length = bit_length(a.mid);
  std::int64_t k = a.exponent + length;
  fixed f(a.mid);
  f <<= F - static_cast<unsigned>(length);  // 1/2 ≤ f/2^F < 1, exact since length ≤ W
  fixed const one = fixed(1) << F;
  if (f * f < (fixed(1) << (2 * F - 1))) f <<= 1, --k;
  if (f == one && k == 0 && a.is_exact()) return ball<W>(0);

  fixed const t = ((f - one) << F) / (f + one);  // off by less than 1 unit
  fixed const t2 = (t * t) >> F;
  fixed power = t, sum = 0;
  for (unsigned i = 0; i < N; ++i) {
    sum += power / (2 * i + 1);
    power *= t2;
    power >>= F;
  }
  // Each power is off by less than 2 units, each quotient by less than 3; artanh has slope ≤ 1.04 here.
  std::uint64_t const units = 6 * N + 12 + 2 * static_cast<std::uint64_t>(k < 0 ? -k : k);
  fixed total = 2 * sum + fixed(ln2_fixed<F>) * k;
  magnitude radius(units, -static_cast<std::int64_t>(F));
  if (!a.is_exact()) radius = radius + divide_by_lower(a.radius, a.lower_size());
  int const excess = bit_length(total) - static_cast<int>(W);
  if (excess > 0) {
    radius = radius + magnitude::power_of_two(excess - static_cast<std::int64_t>(F));
    total = shifted(std::move(total), -excess);
  }
  return ball<W>::rounded(typename ball<W>::wide(total), (excess > 0 ? excess : 0) - static_cast<std::int64_t>(F),
                          radius);
}

}  // namespace attest::reference
