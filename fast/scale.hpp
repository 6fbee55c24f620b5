// σ as the kernel applies it: one multiplication of the finished dot product.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

namespace attest::fast {

/// The factor between q·k and the score.
///
/// In f32 an explicit scale that is no f32 number is applied in double, because "an explicit scale is that number
/// exactly", and 1e−50 or 1e300 must not become 0 or ∞. Then the score is rounded once, by the conversion.
template <std::floating_point T>
struct score_scale {
  double exact = 1;
  T factor = 1;
  bool in_double = false;

  /// The scale that was asked for, or 1/√d rounded to T.
  /// Requires  explicit_scale or d > 0
  /// Ensures   default: factor = 1/√d·(1 + δ), |δ| ≤ u + 2^−51 in f32 (1/√d in double, rounded again), 2u in f64
  static score_scale of(std::optional<double> explicit_scale, std::int64_t d) noexcept {
    if (!explicit_scale) {
      double const nearest = 1 / std::sqrt(static_cast<double>(d));
      return {nearest, static_cast<T>(nearest), false};
    }
    bool const fits = std::abs(*explicit_scale) <= static_cast<double>(std::numeric_limits<T>::max());
    T const factor = fits ? static_cast<T>(*explicit_scale) : T(0);
    return {*explicit_scale, factor, static_cast<double>(factor) != *explicit_scale};
  }

  /// s_j ← σ·s_j.
  void apply(T* s, std::int64_t count) const noexcept {
    if (in_double)
      for (std::int64_t j = 0; j < count; ++j) s[j] = static_cast<T>(static_cast<double>(s[j]) * exact);
    else
      for (std::int64_t j = 0; j < count; ++j) s[j] = s[j] * factor;
  }
};

}  // namespace attest::fast
