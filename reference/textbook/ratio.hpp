// An exact rational number with a dyadic factor.
#pragma once

#include <cstdint>

#include "reference/real/ball.hpp"

namespace attest::reference {

/// numerator·2^exponent/denominator, not reduced. Requires denominator > 0.
template <std::size_t Bits>
struct ratio {
  integer<Bits> numerator = 0;
  integer<192> denominator = 1;
  std::int64_t exponent = 0;

  template <unsigned W>
  constexpr ball<W> enclosure() const noexcept {
    return ball<W>::from(numerator, exponent) / ball<W>::from(denominator, 0);
  }

  /// Is it over/under, exactly? Requires under > 0, exponent ≤ 0 and Bits ≥ 256 − exponent.
  constexpr bool is(std::int64_t over, std::int64_t under = 1) const noexcept {
    integer<Bits> const left = numerator * under;
    return left == shifted(integer<Bits>(denominator) * over, -exponent);
  }
};

}  // namespace attest::reference
