// Score: the scaled dot product.
#pragma once

#include "reference/real/sqrt.hpp"
#include "reference/textbook/scoring/dot.hpp"

namespace attest::reference {

/// q·k/√d
///
/// Shapes    q [d], k [d], d > 0
/// Ensures   exact where q·k is and √d is a power of two
/// Source    Vaswani et al. 2017, section 3.2.1; "Scaled dot-product", Day 11, section 11.1
/// Cost      d multiplications and a square root
template <ball_range Q, ball_range K>
constexpr ball_of<Q> scaled_dot(Q const& q, K const& k) noexcept {
  return dot(q, k) * inverse_sqrt<width_of<Q>>(length_of(q));
}

}  // namespace attest::reference
