// σ as the kernel applies it: folded into q together with log₂ e, so that scores come in units of log₂.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include "fast/exp2.hpp"

namespace attest::fast {

/// s_ij·log₂ e = 2^exponent · Σ_t fl((high + low)·q_t)·k_jt.
///
/// high + low is σ·log₂ e·2^−exponent to 2^−48 relative in f32, 2^−100 in f64: all that rounds is the product with q.
/// The exponent is 0 for every usual σ. It is there so that folding an explicit scale of 1e30 or 1e−300 into q neither
/// overflows nor underflows.
template <std::floating_point T>
struct score_scale {
  T high = 1, low = 0;
  int exponent = 0;

  /// The scale that was asked for, or 1/√d.
  /// Requires  explicit_scale or d > 0
  static score_scale of(std::optional<double> explicit_scale, std::int64_t d) noexcept {
    constexpr double log2_e_tail = 0x1.777d0ffda0d24p-56;
    double sigma = 0, sigma_tail = 0;
    if (explicit_scale) {
      sigma = *explicit_scale;
    } else {
      // One Newton step: σ·(1 − d·σ²)/2 is what 1/√d, rounded twice, lacks.
      double const n = static_cast<double>(d);
      sigma = 1 / std::sqrt(n);
      double const product = n * sigma, tail = std::fma(n, sigma, -product);
      sigma_tail = sigma * ((std::fma(-product, sigma, 1.0) - tail * sigma) / 2);
    }
    int exponent = 0;
    if (sigma != 0) {
      std::frexp(sigma, &exponent);
      exponent = exponent > 0 || exponent < -40 ? exponent + 1 : 0;  // log₂ e < 2
      sigma = std::ldexp(sigma, -exponent), sigma_tail = std::ldexp(sigma_tail, -exponent);
    }
    double const c = sigma * log2_e;
    double const tail = std::fma(sigma, log2_e, -c) + (sigma * log2_e_tail + sigma_tail * log2_e);
    T const high = static_cast<T>(c);
    return {high, static_cast<T>((c - static_cast<double>(high)) + tail), exponent};
  }
};

}  // namespace attest::fast
