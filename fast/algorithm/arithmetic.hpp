// The scalar side of the kernel's arithmetic: numbers computed once for each row, not once for each score.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>

#include "fast/algorithm/exp2.hpp"
#include "fast/algorithm/logarithm.hpp"
#include "fast/algorithm/online_softmax.hpp"

namespace attest::fast {

/// 2^x for x ≤ 0 or NaN: the same bits as exp2() of fast/simd/exponential-inl.hpp on targets that have fused
/// multiply-adds.
template <std::floating_point T>
inline T exp2_of_difference(T x) noexcept {
  using format = exp2_format<T>;
  constexpr T to_low_bits = format::integer_at_low_bits + T(format::bias - 1), lowest = lowest_exponent<T>;
  T const clamped = x < lowest ? lowest : x;
  T const shifted = clamped + to_low_bits, r = clamped - (shifted - to_low_bits);
  T series = 0;
  for (std::size_t k = format::coefficients.size(); k-- > 0;) series = std::fma(r, series, 2 * format::coefficients[k]);
  auto const exponent = std::bit_cast<typename format::bits>(shifted) << format::fraction_bits;
  return std::fma(r, series, T(2)) * std::bit_cast<T>(exponent);
}

/// IEEE arithmetic in T, with scores in units of log₂. `larger` ignores a NaN and `weight` passes it on, so a NaN score
/// makes l and every column of O NaN. A score of +∞ does the same through ∞ − ∞.
template <std::floating_point T>
struct machine_arithmetic {
  using number = T;

  static constexpr T minus_infinity() noexcept { return -std::numeric_limits<T>::infinity(); }
  static constexpr T larger(T a, T b) noexcept { return a < b ? b : a; }

  /// If every score so far was −∞, 0 is subtracted instead of the maximum, since −∞ − −∞ would be NaN.
  static T weight(T s, T m) noexcept { return exp2_of_difference<T>(s - (m == minus_infinity() ? T(0) : m)); }

  /// LSE = m·ln 2 + ln l, from units of log₂ back to natural ones.
  ///
  /// Ensures  f32: computed in double and rounded once, at the end. f64: one rounding at the end, and before it an
  ///          error of 2^−52·|ln l| where the low part of m·ln 2 is added to ln l
  static T log_sum_exp(T m, T l) noexcept {
    constexpr double ln_2 = 0x1.62e42fefa39efp-1, ln_2_tail = 0x1.abc9e3b39803fp-56;
    double const row_max = static_cast<double>(m), log = natural_log(static_cast<double>(l));
    double const high = row_max * ln_2;
    if (!(high - high == 0)) return canonical_nan(static_cast<T>(high + log));
    double const low = std::fma(row_max, ln_2, -high) + row_max * ln_2_tail;
    return canonical_nan(static_cast<T>(high + (low + log)));
  }

 private:
  /// The quiet NaN if x is any NaN: which NaN an addition passes on would depend on the compiler.
  static constexpr T canonical_nan(T x) noexcept { return x == x ? x : std::numeric_limits<T>::quiet_NaN(); }
};

static_assert(softmax_arithmetic<machine_arithmetic<float>> && softmax_arithmetic<machine_arithmetic<double>>);

}  // namespace attest::fast
