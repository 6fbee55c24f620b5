// The angle between a query and a key.
#pragma once

#include "reference/real/sqrt.hpp"
#include "reference/textbook/scoring/dot.hpp"

namespace attest::reference {

/// ‖x‖ = √(x·x). Requires x·x exact or certainly positive.
template <ball_range R>
constexpr ball_of<R> norm(R const& x) noexcept {
  return square_root(dot(x, x));
}

/// cos θ = q·k/(‖q‖·‖k‖)
///
/// Shapes    q [d], k [d]
/// Requires  q ≠ 0 and k ≠ 0 for certain
/// Ensures   exactly ±1, 0 or another dyadic number where it is one and ‖q‖²·‖k‖² is a square of few bits
/// Source    "qᵀk = ‖q‖‖k‖cosθ", Scaled Dot-Product Attention, Geometric Interpretation; Day 11, "Connection to the
///           Thread"
/// Cost      3·d multiplications and one square root
template <ball_range Q, ball_range K>
constexpr ball_of<Q> cosine(Q const& q, K const& k) noexcept {
  return dot(q, k) / square_root(dot(q, q) * dot(k, k));
}

}  // namespace attest::reference
