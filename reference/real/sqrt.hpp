// √n and 1/√n for whole n, on balls.
#pragma once

#include <cstdint>

#include "reference/real/ball.hpp"

namespace attest::reference {

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
  ball<W> made = ball<W>::from(root, -static_cast<std::int64_t>(F));
  made.radius = made.radius + magnitude(2, -static_cast<std::int64_t>(F));
  return made;
}

}  // namespace attest::reference
