// 2^x for the weights of softmax: the constants and their error bounds. The loops are in fast/simd/exponential-inl.hpp.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

namespace attest::fast {

/// 2^x = 2^n·2^r, n = round(x), r = x − n exactly, |r| ≤ 1/2, and 2^r = 1 + r·(c_1 + c_2·r + …).
///
/// x is s − m in units of log₂ (fast/scale.hpp), m the row's maximum.
template <std::floating_point T>
struct exp2_format;

/// c_1, c_2, … minimise the largest relative error among polynomials with 2^0 = 1 exactly. The best real coefficients
/// of this degree have an error of 0.04u; these have exp_approximation, nearly all of it from the rounding of c_1.
template <>
struct exp2_format<float> {
  using bits = std::uint32_t;
  static constexpr int fraction_bits = 23, bias = 127;
  static constexpr float integer_at_low_bits = 0x1.8p+23f;  // adding it rounds x to an integer, in the low bits
  static constexpr std::array<float, 6> coefficients{0x1.62e432p-1f, 0x1.ebfbe2p-3f,  0x1.c6ae72p-5f,
                                                     0x1.3b270ep-7f, 0x1.5f7278p-10f, 0x1.470b50p-13f};
};

template <>
struct exp2_format<double> {
  using bits = std::uint64_t;
  static constexpr int fraction_bits = 52, bias = 1023;
  static constexpr double integer_at_low_bits = 0x1.8p+52;
  static constexpr std::array<double, 11> coefficients{
      0x1.62e42fefa39f3p-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d7048f31p-5,  0x1.3b2ab6fba1e1cp-7,
      0x1.5d87fe7bbbdaap-10, 0x1.4309130961342p-13, 0x1.ffcbee3b244eep-17, 0x1.62bfd49e6cb20p-20,
      0x1.b541676c00885p-24, 0x1.e605fa3e4b8ebp-28, 0x1.c063d7382cc2dp-32};
};

/// A weight 2^n·2^r with n ≤ −(bias − 1) becomes 0. So no weight is subnormal: 2^(2 − bias)·2^(−1/2) is normal.
template <std::floating_point T>
inline constexpr int lowest_exponent = 1 - exp2_format<T>::bias;

/// In natural units: the weight of a key is not 0 while its score is less than exp_cutoff below the row maximum.
/// Why  n ≤ −(bias − 1) needs x ≤ −(bias − 3/2); 0.6931471805 < ln 2
template <std::floating_point T>
inline constexpr double exp_cutoff = (exp2_format<T>::bias - 1.5) * 0.6931471805;

/// |weight − 2^x| ≤ exp_error·2^x above the cutoff, in terms of u = 2^−24 (f32), 2^−53 (f64): 2u.
///
/// Why       absolute errors at r = −1/2, where they are largest relative to 2^r = 0.707; |r·q| ≤ 0.293 for
///           q = c_1 + r·(c_2 + …), 0.58 < q < 0.83. The first column is for targets with fused multiply-adds, the
///           second for the others.
///             1 + r·q                         0.50u      0.50u      below 1
///             r·q                             —          0.25u      below 1/2
///             q, times r                      0.25u      0.31u      below 1; its product below 1/4
///             c_2 + …, times r²               0.07u      0.07u      below 1/2, and the rest far below
///           The sums are 0.82u and 1.13u, which relative to 2^r are 1.16u and 1.60u. With 0.39u of approximation they
///           become 1.55u and 1.99u. For r > 0 the first line is 1.00u, but 2^r ≥ 1 and the sum is largest for small r:
///           1.39u. Multiplying by 2^n is exact. Gappa proves the bound (proofs/gappa/). The largest error over every
///           f32 is 1.42u and 1.81u (tests/fast/exp_test.cpp).
template <std::floating_point T>
inline constexpr double exp_error = 1 / static_cast<double>(std::uint64_t{1} << exp2_format<T>::fraction_bits);

/// |(1 + r·(c_1 + c_2·r + …))/2^r − 1| ≤ exp_approximation for |r| ≤ 1/2 in exact arithmetic: 25/64 u.
/// Proven by proofs/fast/algorithm/exp2_polynomial_proof.cpp. The true values are 0.3561u (f32) and 0.3802u (f64).
template <std::floating_point T>
inline constexpr double exp_approximation = exp_error<T> * 25 / 128;

inline constexpr double log2_e = 0x1.71547652b82fep+0;

}  // namespace attest::fast
