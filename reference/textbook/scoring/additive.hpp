// Score: additive attention.
#pragma once

#include <cstdint>

#include "reference/real/tanh.hpp"
#include "reference/textbook/ball_range.hpp"

namespace attest::reference {

/// wᵀ tanh(W_q·q + W_k·k)
///
/// Shapes    w [a], W_q [a, dq] and W_k [a, dk] row-major, q [dq], k [dk]
/// Ensures   result contains the exact score: radius as of a tanh and 2 multiplications an entry
/// Source    Bahdanau et al. 2015; "Additive", Scaled Dot-Product Attention, Comparison to Alternatives; Day 11, 11.1
/// Cost      a·(dq + dk + 1) multiplications, a tanhs
template <ball_range Weights, ball_range MatrixQ, ball_range Q, ball_range MatrixK, ball_range K>
constexpr ball_of<Q> additive(Weights const& w, MatrixQ const& W_q, Q const& q, MatrixK const& W_k,
                              K const& k) noexcept {
  ball_of<Q> score{};
  for (std::int64_t r = 0; r < length_of(w); ++r) {
    ball_of<Q> inside{};
    for (std::int64_t t = 0; t < length_of(q); ++t) inside = inside + at(W_q, r * length_of(q) + t) * at(q, t);
    for (std::int64_t t = 0; t < length_of(k); ++t) inside = inside + at(W_k, r * length_of(k) + t) * at(k, t);
    score = score + at(w, r) * tanh(inside);
  }
  return score;
}

}  // namespace attest::reference
