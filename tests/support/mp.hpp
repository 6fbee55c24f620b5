// MPFR and the balls: the reference's numbers as MPFR's, and "is this number inside that ball?".
#pragma once

#include "oracles/real.hpp"
#include "reference/real/ball.hpp"

namespace attest::tests {

using oracles::real;

/// The integer x·2^exponent. Exact for |x| < 2^real::default_bits.
template <std::size_t Bits>
real as_real(reference::integer<Bits> const& x, std::int64_t exponent) {
  real sum;
  auto const& limbs = x.backend();
  for (std::size_t n = limbs.size(); n-- > 0;) sum = scaled(std::move(sum), 64) + real::whole(limbs.limbs()[n]);
  return scaled(x.sign() < 0 ? real(0) - sum : sum, exponent);
}
inline real as_real(reference::magnitude m) { return scaled(real::whole(m.mantissa()), m.exponent()); }
/// Requires x finite.
inline real as_real(reference::element const& x) {
  return scaled(real(static_cast<double>(x.significand)), x.exponent);
}

template <unsigned W>
real middle(reference::ball<W> const& a) {
  return as_real(a.mid, a.exponent);
}
template <unsigned W>
real radius(reference::ball<W> const& a) {
  return as_real(a.radius);
}

/// Is x, known to 2^−3000 relative, inside a?
template <unsigned W>
bool contains(reference::ball<W> const& a, real const& x) {
  return abs(x - middle(a)) <= radius(a) + scaled(abs(x), -3000);
}

/// One unit in the last place of a's midpoint at W bits.
template <unsigned W>
real last_place(reference::ball<W> const& a) {
  return scaled(real(1), a.exponent + reference::bit_length(a.mid) - static_cast<int>(W));
}

}  // namespace attest::tests
