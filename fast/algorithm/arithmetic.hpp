// The scalar side of the kernel's arithmetic: what happens once a row, not once a score.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>

#include "fast/algorithm/exp2.hpp"
#include "fast/algorithm/online_softmax.hpp"

namespace attest::fast {

/// 2^x for x ≤ 0 or NaN: the same bits as the vector loop of weights.inc where that has fused multiply-adds.
template <std::floating_point T>
inline T exp2_of_difference(T x) noexcept {
  using format = exp2_format<T>;
  constexpr T to_low_bits = format::integer_at_low_bits + T(format::bias - 1), lowest = lowest_exponent<T>;
  T const held = x < lowest ? lowest : x;
  T const shifted = held + to_low_bits, r = held - (shifted - to_low_bits);
  T series = 0;
  for (std::size_t k = format::coefficients.size(); k-- > 0;) series = std::fma(r, series, 2 * format::coefficients[k]);
  auto const exponent = std::bit_cast<typename format::bits>(shifted) << format::fraction_bits;
  return std::fma(r, series, T(2)) * std::bit_cast<T>(exponent);
}

/// IEEE arithmetic in T, scores in units of log₂. NaN takes its course: `larger` passes over it, `weight` does not, so
/// a NaN score makes l and every column of O NaN. A +∞ score does the same through ∞ − ∞.
template <std::floating_point T>
struct machine_arithmetic {
  using number = T;

  static constexpr T minus_infinity() noexcept { return -std::numeric_limits<T>::infinity(); }
  static constexpr T larger(T a, T b) noexcept { return a < b ? b : a; }

  /// A row that has seen only −∞ subtracts 0 instead of its maximum: −∞ − −∞ would be NaN.
  static T weight(T s, T m) noexcept { return exp2_of_difference<T>(s - (m == minus_infinity() ? T(0) : m)); }

  /// LSE = m·ln 2 + ln l, in natural units again.
  ///
  /// Ensures  f32: in double, rounded once at the end. f64: one rounding at the end; before it the tail of m·ln 2 and
  ///          ln l meet with an error of 2^−52·|ln l|
  static T log_sum_exp(T m, T l) noexcept {
    constexpr double ln_2 = 0x1.62e42fefa39efp-1, ln_2_tail = 0x1.abc9e3b39803fp-56;
    double const reference = static_cast<double>(m), log = std::log(static_cast<double>(l));
    double const high = reference * ln_2;
    if (!(high - high == 0)) return one_nan(static_cast<T>(high + log));
    double const low = std::fma(reference, ln_2, -high) + reference * ln_2_tail;
    return one_nan(static_cast<T>(high + (low + log)));
  }

 private:
  /// Every NaN in an answer is the same NaN: which one an addition passes on is the compiler's choice.
  static constexpr T one_nan(T x) noexcept { return x == x ? x : std::numeric_limits<T>::quiet_NaN(); }
};

static_assert(softmax_arithmetic<machine_arithmetic<float>> && softmax_arithmetic<machine_arithmetic<double>>);

}  // namespace attest::fast
