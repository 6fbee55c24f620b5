// The floating-point arithmetic that the kernel runs the online softmax over.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "fast/exp.hpp"
#include "fast/online_softmax.hpp"

namespace attest::fast {

/// IEEE arithmetic in T. NaN takes its course: `larger` passes over it, `weight` does not, so a NaN score makes l and
/// every column of O NaN. A +∞ score does the same through ∞ − ∞.
template <std::floating_point T>
struct machine_arithmetic {
  using number = T;

  static constexpr T zero() noexcept { return 0; }
  static constexpr T minus_infinity() noexcept { return -std::numeric_limits<T>::infinity(); }
  static constexpr T larger(T a, T b) noexcept { return a < b ? b : a; }

  /// A row that has seen only −∞ subtracts 0 instead of its maximum: −∞ − −∞ would be NaN.
  static constexpr T weight(T s, T m) noexcept { return exp(s - (m == minus_infinity() ? T(0) : m)); }

  /// Every NaN in an answer is the same NaN: which one an addition passes on is the compiler's choice.
  static constexpr T quotient(T x, T l) noexcept { return one_nan(x / l); }

  /// In double, then rounded once.
  static T plus_log(T m, T l) noexcept {
    return one_nan(static_cast<T>(static_cast<double>(m) + std::log(static_cast<double>(l))));
  }

 private:
  static constexpr T one_nan(T x) noexcept { return x == x ? x : std::numeric_limits<T>::quiet_NaN(); }
};

static_assert(softmax_arithmetic<machine_arithmetic<float>> && softmax_arithmetic<machine_arithmetic<double>>);

}  // namespace attest::fast
