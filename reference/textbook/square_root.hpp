// √x on balls.
#pragma once

#include <cstdint>

#include "reference/real/ball.hpp"

namespace attest::reference {

/// { √x : x ∈ a, x ≥ 0 } ⊆ result.
/// Requires  a's midpoint > 0, or a exactly 0
/// Ensures   radius ≤ r_a/√mid + 2 ulp; exact where a is exact and √a has at most W bits
/// Why       |√x − √mid| = |x − mid|/(√x + √mid) ≤ r_a/√mid; the integer root of 2W + 32 bits is one unit below at most
/// Cost      one integer square root of 2W bits
template <unsigned W>
constexpr ball<W> square_root(ball<W> const& a) noexcept {
  if (a.mid.sign() == 0) return a;
  using wide = typename ball<W>::wide;
  std::int64_t up = static_cast<std::int64_t>(2 * W + 32) - bit_length(a.mid);
  if ((a.exponent - up) % 2 != 0) --up;
  wide const radicand = shifted(a.mid, up);
  wide const root = floor_sqrt(radicand);
  std::int64_t const exponent = (a.exponent - up) / 2;
  ball<W> made =
      ball<W>::rounded(root, exponent, root * root == radicand ? magnitude{} : magnitude::power_of_two(exponent));
  if (!a.is_exact()) {
    ball<W> const of_mid = made;
    made.radius = made.radius + divide_by_lower(a.radius, of_mid.lower_size());
  }
  return made;
}

}  // namespace attest::reference
