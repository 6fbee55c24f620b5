// docs/bound.md, section 1: the relative error of several roundings.
#pragma once

#include "reference/real/infinity.hpp"

namespace attest::reference {

/// γ_k(u) = k·u/(1 − k·u), section 1; infinity from k·u = 1 on.
constexpr double gamma(double k, double u) noexcept {
  double const ku = k * u;
  return ku < 1 ? ku / (1 - ku) * (1 + 0x1p-50) : infinity;
}

/// (1 + a)(1 + b) − 1, without cancellation (E1).
constexpr double compounded(double a, double b) noexcept {
  return a < infinity && b < infinity ? (a + b + a * b) * (1 + 0x1p-50) : infinity;  // never 0·∞
}

/// u_p ⊕ u_v: of a weight and an element of V before their product; u_p itself where V is not rounded.
constexpr double compounded_factors(double u_p, double u_v) noexcept { return u_v > 0 ? compounded(u_p, u_v) : u_p; }

}  // namespace attest::reference
