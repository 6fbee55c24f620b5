// Normal draws that are the same with every compiler and C library.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace attest::examples {

class normal_draws {
 public:
  explicit normal_draws(std::uint64_t seed) : bits_(seed) {}

  /// Uniform on (0, 1]: a multiple of 2⁻⁵³.
  double uniform() { return static_cast<double>((bits_() >> 11) + 1) * 0x1p-53; }

  /// N(0, 1), by the ratio of uniforms: x = v/u for (u, v) uniform on 0 < u ≤ 1, |v| ≤ √(2/e), where x² ≤ −4·ln u.
  /// The logarithm only decides whether to take x. The logarithm of another library, an ulp away, decides otherwise
  /// once in 10¹⁵ draws. (std::normal_distribution is another function in every library.)
  /// Source  Kinderman and Monahan 1977; Knuth, The Art of Computer Programming, volume 2, 3.4.1, algorithm R
  double normal() {
    for (;;) {
      double const u = uniform(), v = largest_ * (2 * uniform() - 1), x = v / u;
      if (x * x <= -4 * std::log(u)) return x;
    }
  }

  std::vector<float> normals(std::int64_t count) {
    std::vector<float> result;
    result.reserve(static_cast<std::size_t>(count));
    for (std::int64_t at = 0; at < count; ++at) result.push_back(static_cast<float>(normal()));
    return result;
  }

 private:
  static constexpr double largest_ = 0.85776388496070679648;  // √(2/e)
  static_assert(largest_ * largest_ * std::numbers::e - 2 < 1e-15 && 2 - largest_ * largest_ * std::numbers::e < 1e-15);
  std::mt19937_64 bits_;
};

}  // namespace attest::examples
