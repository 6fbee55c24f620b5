// How the kernel applies σ: it multiplies q by σ·log₂ e, so that scores are in units of log₂.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include "fast/algorithm/exp2.hpp"
#include "fast/simd/operations.hpp"

namespace attest::fast {

/// s_j ← 2^k·s_j, by factors that T can represent.
template <class T>
void multiply_by_power(operations<T> const& ops, T* s, int k, std::int64_t count) noexcept {
  while (k != 0) {
    int const now = std::clamp(k, -100, 100);
    ops.multiply(s, std::ldexp(T(1), now), count);
    k -= now;
  }
}

/// σ·log₂ e = (high + low)·2^exponent with a relative error of 2^−48 in f32, 2^−100 in f64. Either 1 ≤ |high| ≤ 2,
/// or σ = 0 and high = 0.
template <std::floating_point T>
struct score_scale {
  T high = 0, low = 0;
  int exponent = 0;
  T scaled_high = 0, scaled_low = 0;  ///< (high, low)·2^exponent, if T can represent them
  bool fits = true;                   ///< whether T can

  /// The explicit scale, or 1/√d if there is none.
  /// Requires  explicit_scale or d > 0
  static score_scale of(std::optional<double> explicit_scale, std::int64_t d) noexcept {
    constexpr double log2_e_tail = 0x1.777d0ffda0d24p-56;
    double sigma = 0, sigma_tail = 0;
    if (explicit_scale) {
      sigma = *explicit_scale;
    } else {
      // One Newton step: the error of 1/√d, which was rounded twice, is σ·(1 − d·σ²)/2.
      double const n = static_cast<double>(d);
      sigma = 1 / std::sqrt(n);
      double const product = n * sigma, tail = std::fma(n, sigma, -product);
      sigma_tail = sigma * ((std::fma(-product, sigma, 1.0) - tail * sigma) / 2);
    }
    if (sigma == 0) return {};
    int exponent = 0;
    double const fraction = std::frexp(sigma, &exponent);
    exponent -= std::abs(fraction) * log2_e < 1 ? 1 : 0;
    sigma = std::ldexp(sigma, -exponent), sigma_tail = std::ldexp(sigma_tail, -exponent);
    double const c = sigma * log2_e;
    double const tail = std::fma(sigma, log2_e, -c) + (sigma * log2_e_tail + sigma_tail * log2_e);
    T const high = static_cast<T>(c), low = static_cast<T>((c - static_cast<double>(high)) + tail);
    constexpr int usual = std::numeric_limits<T>::max_exponent - 28;
    if (exponent < -usual || usual < exponent) return {high, low, exponent, 0, 0, false};
    return {high, low, exponent, std::ldexp(high, exponent), std::ldexp(low, exponent), true};
  }

  /// to_t ← fl((high + low)·q_t·2^(exponent − left)).
  ///
  /// Returns  left: the scores still lack the factor 2^left. It is 0 unless a product would leave T's range
  /// Ensures  one rounding, and an error of 2^−126 (2^−1022) where that underflows, which is 2^−126·ln 2·2^left in
  ///          units of s/k. So as much of the scale goes into q as fits: with left = 0 that error is below the ω of
  ///          docs/bound.md, and with 2^left ≤ |σ|·log₂ e, from |q| ≥ 2^126 on, it is below its |σ|·ω
  int fold(operations<T> const& ops, T const* q, std::int64_t count, T* to) const noexcept {
    using limits = std::numeric_limits<T>;
    if (fits && ops.scale(q, scaled_high, scaled_low, count, to)) return 0;
    int largest = limits::min_exponent;  // every finite |q_t| < 2^largest
    for (std::int64_t t = 0; t < count; ++t) {
      int size = limits::min_exponent;
      if (q[t] - q[t] == 0 && q[t] != 0) std::frexp(q[t], &size);
      largest = std::max(largest, size);
    }
    int const now = std::min(exponent, limits::max_exponent - 1 - largest);
    // Pre-multiply by 2^(now + 1) and fold (high/2, low/2): with the spare bit the pre-multiplication loses nothing
    // that the product would keep.
    std::copy_n(q, count, to);
    multiply_by_power(ops, to, now + 1, count);
    ops.scale(to, high / 2, low / 2, count, to);
    return exponent - now;
  }
};

}  // namespace attest::fast
