// softmax of a vector, at a temperature.
#pragma once

#include "reference/real/exp.hpp"
#include "reference/textbook/ball_range.hpp"

namespace attest::reference {

/// p_i = e^(x_i/T)/Σ_j e^(x_j/T), stable: a common shift of all scores cancels, so the largest midpoint is subtracted.
///
/// Requires  T > 0; scores above −2^60·T
/// Ensures   p_i ∈ result_i; equal exact scores give equal balls; radius about (r_i + Σ_j p_j·r_j)/T·p_i + n ulp
/// Source    "Softmax Temperature" and "Numerical Stability", Scaled Dot-Product Attention (Definition … Summary);
///           "Subtract max for numerical stability", Scaled Dot-Product Attention: The Math, Step 3
/// Cost      n exps
template <ball_range R>
constexpr R softmax(R x, ball_of<R> const& T = 1) {
  using number = ball_of<R>;
  number shift{};
  bool first = true;
  for (number const& score : x)
    if (first || certain_sign(score - shift) > 0) shift = score, first = false;
  shift.radius = {};
  number sum{};
  for (number& score : x) {
    score = exp((score - shift) / T);
    sum = sum + score;
  }
  for (number& weight : x) weight = weight / sum;
  return x;
}

}  // namespace attest::reference
