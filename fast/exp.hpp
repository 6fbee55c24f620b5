// e^x for the weights of softmax: x ≤ 0, because scores are shifted by their maximum first.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace attest::fast {

/// The constants of exp in one format. `natural_log_of_2` is cut in two so that n·high is exact for every exponent n.
template <std::floating_point T>
struct exp_format;

template <>
struct exp_format<float> {
  using bits = std::uint32_t;
  static constexpr int fraction_bits = 23, bias = 127;
  static constexpr int degree = 7;
  static constexpr float cutoff = 87.25f;                // e^−87.25 > 1.08·2^−126: no result is subnormal
  static constexpr float log2_e = 0x1.715476p+0f;
  static constexpr float ln_2_high = 0x1.62e4p-1f;       // 15 bits; n takes 7
  static constexpr float ln_2_low = 0x1.7f7d1cp-20f;
  static constexpr float integer_at_low_bits = 0x1.8p+23f;  // x + this rounds x to an integer, in the low bits
};

template <>
struct exp_format<double> {
  using bits = std::uint64_t;
  static constexpr int fraction_bits = 52, bias = 1023;
  static constexpr int degree = 13;
  static constexpr double cutoff = 708.25;                // e^−708.25 > 1.15·2^−1022
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double ln_2_high = 0x1.62e42fefa38p-1;  // 42 bits; n takes 10
  static constexpr double ln_2_low = 0x1.ef35793c7673p-45;
  static constexpr double integer_at_low_bits = 0x1.8p+52;
};

/// 1/k! + r/(k+1)! + … + r^(N−k)/N!, N = exp_format<T>::degree, by Horner's rule.
template <std::floating_point T, int k>
constexpr T exp_series(T r) noexcept {
  constexpr double factorial = [] {
    double product = 1;
    for (int factor = 2; factor <= k; ++factor) product *= factor;
    return product;
  }();
  constexpr T coefficient = static_cast<T>(1 / factorial);
  if constexpr (k == exp_format<T>::degree) return coefficient;
  else return coefficient + r * exp_series<T, k + 1>(r);
}

/// exp(x) is 0 for x < −exp_cutoff. A kernel that uses exp declares it as x0.
template <std::floating_point T>
inline constexpr double exp_cutoff = static_cast<double>(exp_format<T>::cutoff);

/// |exp(x) − e^x| ≤ exp_error·e^x for −exp_cutoff ≤ x ≤ 0, in terms of u = 2^−24 (f32), 2^−53 (f64): 2u.
template <std::floating_point T>
inline constexpr double exp_error = 1 / static_cast<double>(std::uint64_t{1} << exp_format<T>::fraction_bits);

/// e^x.
///
/// Requires  x ≤ 0, −∞ or NaN
/// Ensures   |result − e^x| ≤ 2u·e^x for x ≥ −exp_cutoff; 0 below; exp(0) = 1 exactly; NaN for NaN
/// Why       x = n·ln 2 + r with |r| ≤ 0.34660 (a shade over ln 2/2: n is rounded from a rounded x/ln 2), and
///           e^r = 1 + (r + r²·q(r)) with the Taylor coefficients 1/2!, 1/3!, …. Absolute errors for r > 0, where they
///           are largest beside e^r ≥ 1:
///             Taylor's remainder             |r|^8/8! < 0.09u   (f64: |r|^14/14! < 0.04u)
///             r: n·low and the difference    0.25u + 0.01u      x − n·high is exact, and |r| < 1/2
///             r²·q: r², q and the product    0.04u + 0.09u + 0.07u      r² < 1/8, q < 1
///             r + r²·q                       0.25u                      below 1/2
///             1 + …                          1.00u                      below 2
///           Together 1.80u. For r < 0 the last line is 0.50u, and the sum 1.30u/e^r < 1.85u. Scaling by 2^n is exact.
///           Measured over every f32: 1.44u (tests/fast_exp_test.cpp).
/// Cost      no branch, no table, no fused operation: a loop over exp vectorises (g++: with -fno-trapping-math)
template <std::floating_point T>
constexpr T exp(T x) noexcept {
  using format = exp_format<T>;
  using bits = typename format::bits;
  T const held = x < -format::cutoff ? -format::cutoff : x;  // NaN stays

  T const shifted = held * format::log2_e + format::integer_at_low_bits;
  T const n = shifted - format::integer_at_low_bits;
  T const r = (held - n * format::ln_2_high) - n * format::ln_2_low;

  T const q = exp_series<T, 2>(r);
  T const power = T(1) + (r + (r * r) * q);

  // The low bits of `shifted` are n; moved into the exponent field of 1 they make 2^n.
  bits const exponent = std::bit_cast<bits>(shifted) << format::fraction_bits;
  T const two_to_n = std::bit_cast<T>(exponent + (static_cast<bits>(format::bias) << format::fraction_bits));
  return x < -format::cutoff ? T(0) : power * two_to_n;
}

}  // namespace attest::fast
