// RapidCheck draws balls, and numbers inside them.
#pragma once

#include "tests/support/mp.hpp"
#include "tests/support/property.hpp"

namespace attest::tests {

/// A signed integer of up to `most` bits, any length equally likely.
template <std::size_t Bits>
reference::integer<Bits> drawn_integer(int most) {
  int const length = *rc::gen::inRange(0, most + 1);
  reference::integer<Bits> x = 0;
  for (int n = 0; n < length; n += 32) {
    x <<= 32;
    x += *rc::gen::arbitrary<std::uint32_t>();
  }
  if (length % 32 != 0) x >>= static_cast<unsigned>(32 - length % 32);
  if (*rc::gen::arbitrary<bool>()) x.backend().negate();
  return x;
}

/// Exact in one case of three; otherwise any radius, even above the midpoint.
template <unsigned W>
reference::ball<W> drawn_ball(int exponents = 300) {
  auto a = reference::ball<W>::rounded(typename reference::ball<W>::wide(drawn_integer<W + 64>(static_cast<int>(W))),
                                       *rc::gen::inRange(-exponents, exponents));
  if (*rc::gen::inRange(0, 3) != 0)
    a.radius = reference::magnitude(
        *rc::gen::arbitrary<std::uint32_t>(),
        *rc::gen::inRange<std::int64_t>(-static_cast<int>(W) - 64, 8) + a.exponent + reference::bit_length(a.mid) - 32);
  return a;
}

/// An end, the middle, or another number of a.
template <unsigned W>
real drawn_point(reference::ball<W> const& a) {
  int const where = *rc::gen::inRange(-4, 5);  // quarters of the radius
  return middle(a) + radius(a) * real(where / 4.0);
}

}  // namespace attest::tests
