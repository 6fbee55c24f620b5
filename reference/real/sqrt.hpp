// √x of a ball, and 1/√n of a whole number.
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
  ball<W> result =
      ball<W>::rounded(root, exponent, root * root == radicand ? magnitude{} : magnitude::power_of_two(exponent));
  if (!a.is_exact()) {
    ball<W> const of_mid = result;
    result.radius = result.radius + divide_by_lower(a.radius, of_mid.lower_size());
  }
  return result;
}

/// The whole number r with r² = n, or −1.
constexpr std::int64_t exact_root(std::int64_t n) noexcept {
  auto const root = static_cast<std::int64_t>(floor_sqrt(integer<192>(n)));
  return root * root == n ? root : -1;
}

/// 1/√n ∈ result.
/// Requires  n > 0
/// Ensures   radius ≤ 2 ulp; exact where 1/√n fits in W bits
template <unsigned W>
constexpr ball<W> inverse_sqrt(std::int64_t n) noexcept {
  if (std::int64_t const root = exact_root(n); root > 0) return ball<W>(1) / ball<W>(root);
  // ⌊√⌊4^F/n⌋⌋ is within 2 of 2^F/√n: the inner floor moves the root by less than 1 where 4^F/n ≥ 1.
  constexpr unsigned F = W + 32;
  using fixed = integer<2 * F + 64>;
  fixed radicand = fixed(1) << (2 * F);
  radicand /= n;
  fixed const root = floor_sqrt(radicand);
  ball<W> result = ball<W>::from(root, -static_cast<std::int64_t>(F));
  result.radius = result.radius + magnitude(2, -static_cast<std::int64_t>(F));
  return result;
}

}  // namespace attest::reference
