// How softmax answers a change of one score.
#pragma once

#include <cstdint>

#include "reference/textbook/ball_range.hpp"

namespace attest::reference {

/// ∂p_i/∂x_j = p_i·(δ_ij − p_j) for p = softmax(x). At temperature T divide by T.
///
/// Requires  Σ p = 1 for the exact weights in p; i and j inside p
/// Ensures   relative accuracy also where p_i is near 1: 1 − p_i is summed from the other weights
/// Source    "The gradient … p_i(1 − p_i) vanishes when p_i ≈ 1 or p_i ≈ 0", Day 11, section 11.4
/// Cost      1 multiplication, n additions on the diagonal
template <ball_range R>
constexpr ball_of<R> softmax_jacobian(R const& p, std::int64_t i, std::int64_t j) noexcept {
  if (i != j) return -(at(p, i) * at(p, j));
  ball_of<R> others{};
  for (std::int64_t k = 0; k < length_of(p); ++k)
    if (k != i) others = others + at(p, k);
  return at(p, i) * others;
}

}  // namespace attest::reference
