// e^x on balls.
#pragma once

#include <cstdint>

#include "reference/real/ball.hpp"
#include "reference/real/constants.hpp"

namespace attest::reference {

/// Parameters of exp at W bits: fixed point with F fraction bits, argument halved H times, Taylor degree N.
template <unsigned W>
struct exp_parameters {
  static constexpr unsigned F = W + 96;
  /// A halving costs one squaring and saves terms: at 1152 bits 24 halvings and 45 terms do what 8 and 97 do.
  static constexpr unsigned H = W < 1024 ? 8 : 24;
  /// r < ln 2 halved H times is below 2^−H: the first omitted term is below 2^(−H(N+1))/(N+1)!, and the whole
  /// remainder below twice that (a geometric series of ratio 2^−H).
  static constexpr unsigned N = [] {
    unsigned degree = 1, factorial_bits = 0;  // factorial_bits ≤ log2((degree + 1)!)
    while (H * (degree + 1) + factorial_bits < F + 1) {
      ++degree;
      factorial_bits += static_cast<unsigned>(std::bit_width(degree + 1)) - 1;
    }
    return degree;
  }();
  /// Rounding and truncation error of the mantissa in units of 2^−F: argument 2, Horner 4, remainder 1, so at most 7
  /// before the squarings; each of H squarings doubles the error, multiplies it by the value and adds 1, and the
  /// values' product is below 2: 7·2^H·2 + 2^(H+1) = 16·2^H.
  static constexpr unsigned error_units = 16u << H;
};

/// { e^x : x ∈ a } ⊆ result.
/// Requires  a.upper < 2^60
/// Ensures   radius ≤ 2·e^mid·(r_a + r_a²) + 2^(−W+2)·e^mid for |mid| < 2^30 and r_a ≤ 1; [0, 2^(−2^58)] for
///           mid ≤ −2^60 and r_a ≤ |mid|/4
/// Why       x = k·ln 2 + r, 0 ≤ r < ln 2; e^(r/2^H) by Taylor to degree N (Horner), then H squarings
/// Cost      N + H multiplications of F bits
template <unsigned W>
constexpr ball<W> exp(ball<W> const& a) noexcept {
  using parameters = exp_parameters<W>;
  constexpr unsigned F = parameters::F;
  using fixed = integer<2 * F + 128>;

  if (a.mid.sign() == 0 && a.is_exact()) return ball<W>(1);
  std::int64_t const top = a.mid.sign() == 0 ? -1 : a.exponent + bit_length(a.mid);
  ball<W> far;  // [0, 2^(−2^58)]
  far.radius = magnitude::power_of_two(-(std::int64_t{1} << 58));
  ball<W> unknown;  // a.upper < 2^60: e^a < 2^(1.443·2^60)
  unknown.radius = magnitude::power_of_two(2 * exponent_limit);
  if (top > 60) {  // a.upper < 2^60 leaves only the negative side: mid ≤ −2^(top − 1) ≤ −2^60
    if (a.is_exact() || a.radius.ceil_log2() <= top - 2) return far;  // a.upper ≤ −2^(top − 2) ≤ −2^59
    return unknown;
  }
  bool const wide_radius = !a.is_exact() && a.radius.ceil_log2() > 0;

  // X = 2^F·mid, truncated: off by less than 1 unit.
  fixed X(a.mid);
  X = shifted(std::move(X), a.exponent + static_cast<std::int64_t>(F));
  fixed const ln2(ln2_fixed<F>);
  fixed quotient, r;
  divide_qr(X, ln2, quotient, r);
  auto k = static_cast<std::int64_t>(quotient);
  if (r.sign() < 0) r += ln2, --k;
  // 2^F·r: off by less than 1 (X) + 2|k| (ln 2).
  std::uint64_t const argument_units = 1 + 2 * static_cast<std::uint64_t>(k < 0 ? -k : k);

  if (wide_radius) {  // radius above 1: only the upper end says anything
    std::int64_t const log2_radius = a.radius.ceil_log2();
    if (log2_radius > 59) return unknown;
    ball<W> result;
    result.radius = magnitude::power_of_two(k + 2 + (std::int64_t{2} << log2_radius));
    return result;
  }

  r >>= parameters::H;
  fixed const one = fixed(1) << F;
  fixed t = one;
  for (unsigned i = parameters::N; i > 0; --i) {
    t *= r;
    t >>= F;
    t /= i;
    t += one;
  }
  for (unsigned i = 0; i < parameters::H; ++i) {
    t *= t;
    t >>= F;
  }
  // 1 ≤ t/2^F < 2: e^(r + δ) differs from e^r by at most 2·1.01·|δ|.
  std::int64_t const e = k - static_cast<std::int64_t>(F);
  magnitude radius = magnitude(parameters::error_units, e) + magnitude(3, e) * magnitude(argument_units, 0);
  if (!a.is_exact()) radius = radius + magnitude(1, k + 1) * (a.radius + a.radius * a.radius);  // e^r − 1 ≤ r + r²
  int const excess = bit_length(t) - static_cast<int>(W);
  using wide = typename ball<W>::wide;
  return ball<W>::rounded(wide(shifted(std::move(t), -excess)), e + excess,
                          radius + magnitude::power_of_two(e + excess));
}

}  // namespace attest::reference
