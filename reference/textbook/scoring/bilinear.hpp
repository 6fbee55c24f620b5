// Score: bilinear, also called multiplicative or general.
#pragma once

#include <cstdint>

#include "reference/textbook/ball_range.hpp"

namespace attest::reference {

/// qᵀ·W·k = Σ_s q_s·Σ_t W_st·k_t
///
/// Shapes    q [dq], W [dq, dk] row-major, k [dk]
/// Ensures   exact where all balls are and every partial sum fits in W bits; W = I gives dot(q, k)
/// Source    Luong et al. 2015, "general"; "Multiplicative", Scaled Dot-Product Attention, Comparison to Alternatives
/// Cost      dq·(dk + 1) multiplications
template <ball_range Q, ball_range Matrix, ball_range K>
constexpr ball_of<Q> bilinear(Q const& q, Matrix const& W, K const& k) noexcept {
  ball_of<Q> score{};
  for (std::int64_t s = 0; s < length_of(q); ++s) {
    ball_of<Q> row{};
    for (std::int64_t t = 0; t < length_of(k); ++t) row = row + at(W, s * length_of(k) + t) * at(k, t);
    score = score + at(q, s) * row;
  }
  return score;
}

}  // namespace attest::reference
