// Doubles rounded outward, for the arithmetic of reference/bound/bound.hpp.
//
// Only +, −, ×, ÷ of doubles are used, each within 2⁻⁵³ relative (or 2⁻¹⁰⁷⁵ absolute) of the exact result. Every
// function states how much it adds so that its result is certainly a bound.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "reference/real/ball.hpp"
#include "reference/real/infinity.hpp"

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "reference/ must not be compiled with -ffast-math: its bounds would mean nothing"
#endif

namespace attest::reference {

/// 2^e, 0 below the subnormals, infinity above the largest double.
constexpr double power_of_two(std::int64_t e) noexcept {
  if (e > 1023) return infinity;
  if (e < -1074) return 0;
  return std::bit_cast<double>(e >= -1022 ? static_cast<std::uint64_t>(e + 1023) << 52
                                          : std::uint64_t{1} << (e + 1074));
}

constexpr double absolute(double x) noexcept { return x < 0 ? -x : x; }
constexpr double larger(double a, double b) noexcept { return a < b ? b : a; }
constexpr double smaller(double a, double b) noexcept { return b < a ? b : a; }

/// At least the next double above x ≥ 0; x for infinities.
constexpr double above(double x) noexcept {
  if (!(x < std::numeric_limits<double>::max())) return x < 0 ? x : infinity;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x) + 1);
}

/// A double that is at least (at most) the exact result of one operation on exact arguments, x being the rounded
/// result.
constexpr double rounded_up(double x) noexcept {
  if (x != x || x == infinity) return infinity;
  if (x == -infinity) return std::numeric_limits<double>::lowest();
  return x >= 0 ? above(x) : -std::bit_cast<double>(std::bit_cast<std::uint64_t>(-x) - 1);
}
constexpr double rounded_down(double x) noexcept { return -rounded_up(-x); }

/// value·2^exponent rounded down, or up: the largest double ≤ it, or the smallest ≥ it. Requires value < 2^53 for
/// exponents below −1074 (the result may then be one subnormal unit off, on the safe side).
constexpr double scaled(std::uint64_t value, std::int64_t exponent, bool up) noexcept {
  if (value == 0) return 0;
  int const excess = static_cast<int>(std::bit_width(value)) - 53;
  if (excess > 0) {
    bool const inexact = (value & ((std::uint64_t{1} << excess) - 1)) != 0;
    value = (value >> excess) + (up && inexact ? 1 : 0);
    exponent += excess;
  }
  std::int64_t const top = exponent + static_cast<std::int64_t>(std::bit_width(value));
  if (top > 1024) return up ? infinity : std::numeric_limits<double>::max();
  if (exponent < -1074) {
    std::int64_t const drop = -1074 - exponent;
    std::uint64_t const kept = drop > 63 ? 0 : value >> drop;
    return static_cast<double>(kept + (up ? 1 : 0)) * power_of_two(-1074);
  }
  // Two exact steps keep both factors inside the range of doubles.
  std::int64_t const first = exponent > 900 ? 900 : exponent < -1000 ? -1000 : exponent;
  return static_cast<double>(value) * power_of_two(first) * power_of_two(exponent - first);
}

constexpr double upper(magnitude m) noexcept {
  if (m.is_zero()) return 0;
  return m.exponent() < -4000 ? power_of_two(-1074) : scaled(m.mantissa(), m.exponent(), true);
}
constexpr double lower(magnitude m) noexcept {
  return m.is_zero() || m.exponent() < -4000 ? 0 : scaled(m.mantissa(), m.exponent(), false);
}

/// Bounds of every |x|, x ∈ a.
template <unsigned W>
constexpr double upper_size(ball<W> const& a) noexcept {
  return upper(a.upper_size());
}

/// Doubles around a ball: lower ≤ x ≤ upper for every x ∈ a, within 2⁻⁵¹ relative of its ends.
template <unsigned W>
constexpr double upper(ball<W> const& a) noexcept {
  if (a.mid.sign() == 0) return upper(a.radius);
  int const length = bit_length(a.mid);
  auto top = shifted(a.mid, 62 - length);
  if (top.sign() < 0) top.backend().negate();
  auto const size = static_cast<std::uint64_t>(top);
  std::int64_t const e = a.exponent + length - 62;
  bool const exact = length <= 53 && a.is_exact();
  double const mid = a.mid.sign() > 0 ? scaled(size + (length > 62 ? 1 : 0), e, true) : -scaled(size, e, false);
  return exact ? mid : rounded_up(mid + upper(a.radius));
}
template <unsigned W>
constexpr double lower(ball<W> const& a) noexcept {
  return -upper(-a);
}

/// √x within 2⁻⁵⁰ relative, by Newton's iteration (std::sqrt is not constexpr). Not directed: for warnings only.
constexpr double root(double x) noexcept {
  if (!(x > 0 && x < infinity)) return x > 0 ? x : 0;
  if (x < 0x1p-1000) return root(x * 0x1p200) * 0x1p-100;  // subnormals have no exponent to begin at
  double r = power_of_two((std::bit_cast<std::int64_t>(x) >> 52) / 2 - 511);
  for (int n = 0; n < 7; ++n) r = (r + x / r) / 2;
  return r;
}

/// e^x ≤ result ≤ e^x·(1 + 2⁻⁴⁰) + 2⁻¹⁰⁷⁴ for x ≤ 709; infinity above.
/// Why  x = k·ln 2 + r with |r| ≤ 0.36 (k·ln 2 in two parts, error below 2⁻⁴⁴ in r for |x| ≤ 746), Taylor to degree 13:
///      remainder below 0.36^14/14! < 2⁻⁵⁶; sums of 14 terms lose less than 2⁻⁴⁸; 2⁻⁴² covers all three
constexpr double exp_upper(double x) noexcept {
  if (x > 709) return infinity;
  if (!(x > -746)) return power_of_two(-1074);
  constexpr double ln2_high = 0x1.62e42fefp-1, ln2_low = 0x1.473de6af278edp-34;
  auto const k = static_cast<std::int64_t>(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
  double const r = (x - static_cast<double>(k) * ln2_high) - static_cast<double>(k) * ln2_low;
  double sum = 1;
  for (int n = 13; n > 0; --n) sum = 1 + sum * r / n;
  sum *= 1 + 0x1p-42;
  std::int64_t const half = k / 2;
  return rounded_up(sum * power_of_two(half) * power_of_two(k - half));
}

/// ln x ≤ result ≤ ln x + 2⁻⁴⁰·(1 + |ln x|) for x > 0; infinity for infinity, −infinity for 0.
/// Why  x = f·2^k exactly, 2·artanh of |t| ≤ 1/3 to degree 41: remainder below 3⁻⁴³; sums lose less than 2⁻⁴⁷
constexpr double log_upper(double x) noexcept {
  if (!(x < infinity)) return infinity;
  if (!(x > 0)) return -infinity;
  std::int64_t k = 0;
  while (x >= 2) x /= 2, ++k;
  while (x < 1) x *= 2, --k;
  double const t = (x - 1) / (x + 1);
  double sum = 0;
  for (int n = 41; n > 0; n -= 2) sum = 1.0 / n + sum * t * t;
  double const value = 2 * t * sum + static_cast<double>(k) * 0.6931471805599453;
  return value + (1 + absolute(value)) * 0x1p-42;
}

}  // namespace attest::reference
