// Score: the dot product.
#pragma once

#include <cstdint>

#include "reference/textbook/ball_range.hpp"

namespace attest::reference {

/// q·k = Σ_t q_t·k_t
///
/// Shapes    q [d], k [d]
/// Ensures   exact where all balls are and every partial sum fits in W bits
/// Source    Luong et al. 2015; "Dot-product (Luong) e = sᵀh", Day 11: Scaled Dot-Product Attention, section 11.1
/// Cost      d multiplications
template <ball_range Q, ball_range K>
constexpr ball_of<Q> dot(Q const& q, K const& k) noexcept {
  ball_of<Q> sum{};
  for (std::int64_t t = 0; t < length_of(q); ++t) sum = sum + at(q, t) * at(k, t);
  return sum;
}

}  // namespace attest::reference
