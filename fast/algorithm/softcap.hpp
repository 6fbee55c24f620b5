// c·tanh(x/c) on scores in units of log₂: the constants and their error bounds. The loop is in
// fast/simd/softcap-inl.hpp.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "fast/algorithm/exp2.hpp"

namespace attest::fast {

/// tanh(z) = (2^t − 1)/(2^t + 1), t = 2·|z|·log₂ e = n + r, n = round(t), and
/// 2^t − 1 = (2^n − 1) + 2^n·r·(c_1 + c_2·r + …). For n = 0 the first term is 0, so nothing cancels;
/// for n ≥ 1 the second term can cancel a part of the first, which softcap_error counts.
template <std::floating_point T>
struct tanh_format;

/// c_1 is ln 2, rounded. The others minimise the largest relative error of r·(c_1 + …) as 2^r − 1 for |r| ≤ 1/2, which
/// is below 0.45u (tests/fast/softcap_test.cpp).
template <>
struct tanh_format<float> {
  static constexpr float largest = 30;  ///< t is clamped to it: beyond, tanh is 1 to u/32
  static constexpr std::array<float, 6> coefficients{0x1.62e430p-1f, 0x1.ebfbd6p-3f,  0x1.c6af78p-5f,
                                                     0x1.3b31c8p-7f, 0x1.5f0c2ep-10f, 0x1.3f2510p-13f};
};

template <>
struct tanh_format<double> {
  static constexpr double largest = 60;
  static constexpr std::array<double, 11> coefficients{
      0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58ep-3,  0x1.c6b08d704a222p-5,  0x1.3b2ab6fba3f92p-7,
      0x1.5d87fe786e422p-10, 0x1.4309130209f0ep-13, 0x1.ffcbfd354d770p-17, 0x1.62bfe7b1fa8b4p-20,
      0x1.b523b423c31fep-24, 0x1.e5e4ceea607fap-28, 0x1.eb40d4d6bd238p-32};
};

/// |capped − c·tanh(x/c)| ≤ softcap_error·|c·tanh(x/c)| if nothing underflows, in terms of u = 2^−24, 2^−53: 11u.
/// An underflow adds an absolute error of at most (1 + c)·2^−126 (2^−1022).
///
/// Why       relative errors; the first column is for targets with fused multiply-adds, the second for the others.
///             2/c, and times the score: |z·tanh'(z)| ≤ |tanh(z)|              2.00u     2.00u
///             q = c_1 + r·(c_2 + …): 0.45u of approximation, 0.86u of its
///             last rounding (below 2^−25 beside q > 0.58), 0.20u before       1.51u     1.71u
///             2^t − 1 = (2^n − 1) + 2^n·r·q: q's error, times 1.42 for n = 1
///             and r = −1/2, the worst, and the rounding (2^n·r is exact)      3.15u     4.85u
///             the quotient keeps 2/(2^t + 1) of that: 2/2.41                  2.61u     4.03u   (n = 0: 2.51u, 3.71u)
///             2^t + 1, the quotient                                           2.00u     2.00u
///             c·log₂ e, and times the quotient                                2.00u     2.00u
///           The sums are 8.6u and 10.1u, and products of such errors stay below 10^−4 u. tests/fast/softcap_test.cpp
///           measures the errors.
template <std::floating_point T>
inline constexpr double softcap_error = 5.5 / static_cast<double>(std::uint64_t{1} << exp2_format<T>::fraction_bits);

/// s·log₂ e → c·tanh(s/c)·log₂ e = 2^exponent · to_score · tanh(ln 2 / 2 · to_power · (s·log₂ e · 2^−exponent)).
///
/// The exponent is 0 unless c or 1/c is near the end of T's range.
template <std::floating_point T>
struct score_cap {
  T to_power = 0;  ///< 2/c; 0 if there is no softcap
  T to_score = 0;  ///< c·log₂ e
  int exponent = 0;

  constexpr explicit operator bool() const noexcept { return to_power != 0; }

  /// Requires  c ≥ 0, finite
  static score_cap of(double c) noexcept {
    using limits = std::numeric_limits<T>;
    // For a larger c, c·tanh(s/c) differs from every finite s by less than s·u/12.
    bool const beyond_every_score =
        std::is_same_v<T, float> && c > std::ldexp(1.0, limits::max_exponent + limits::digits / 2 + 1);
    if (c == 0 || beyond_every_score) return {};
    int exponent = 0;
    std::frexp(c, &exponent);
    constexpr int usual = limits::max_exponent - 28;
    exponent = exponent > usual ? exponent - usual : exponent < -usual ? exponent + usual : 0;
    double const scaled_c = std::ldexp(c, -exponent);
    return {static_cast<T>(2 / scaled_c), static_cast<T>(scaled_c * log2_e), exponent};
  }
};

}  // namespace attest::fast
