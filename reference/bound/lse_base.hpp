// The LSE in the base that a contract declares: log2 Σ exp(s) = LSE·log2 e, and its bound, which scales with it
// (section 4 of docs/bound.md, Corollary L).
#pragma once

#include <cmath>

#include "problem/kernel_model.hpp"
#include "reference/bound/bound.hpp"
#include "reference/real/constants.hpp"

namespace attest::reference {

/// log2 e = log2_e + log2_e_low within 2⁻¹⁰⁹.
inline constexpr double log2_e = 0x1.71547652b82fep+0, log2_e_low = 0x1.777d0ffda0d24p-56;

/// The bound of the LSE in `base`, from the bound of the natural LSE; rounded up.
inline error_bound in_base(problem::log_base base, error_bound bound) noexcept {
  if (base == problem::log_base::e) return bound;
  bound.size *= log2_e * (1 + 0x1p-51);
  return bound;
}

/// An LSE in two words: middle + low within radius.
struct lse_in_words {
  double middle, low, radius;
};

/// Ensures   |low| ≤ 2⁻⁵³|middle|, where that holds of `lse`
/// Why       the product with log2_e and its rest are exact, and so is the last sum in two words. The roundings between
/// are of
///           numbers below 2⁻⁵¹|LSE|, and log2_e lacks less than 2⁻¹⁰⁹: together less than 2⁻¹⁰⁰|LSE|
inline lse_in_words in_base(problem::log_base base, lse_in_words const& lse) noexcept {
  if (base == problem::log_base::e) return lse;
  double const middle = lse.middle * log2_e, rest = std::fma(lse.middle, log2_e, -middle);
  double const small = rest + (lse.middle * log2_e_low + lse.low * log2_e), whole = middle + small;
  return {whole, small - (whole - middle),
          (lse.radius * log2_e + std::abs(lse.middle) * 0x1p-100) * (1 + 0x1p-50) + 0x1p-1022};
}

}  // namespace attest::reference
