// Balls: a binary floating-point midpoint of W bits and a rigorous radius. Integers only, so the same code runs in a
// static_assert and at run time and cannot depend on compiler flags.
//
// Containment is the one rule: for every x ∈ a, y ∈ b the exact x∘y lies in a∘b.
// Source: midpoint-radius arithmetic as in van der Hoeven, "Ball arithmetic" (2009), and Johansson, "Arb" (2017).
#pragma once

#include <cstdint>

#include "reference/real/decision.hpp"
#include "reference/real/element.hpp"
#include "reference/real/integer.hpp"
#include "reference/real/magnitude.hpp"

namespace attest::reference {

/// Exponents stay within ±2⁶⁰: if e^x would need a smaller one, exp returns the ball [0, 2^(−2^60)].
inline constexpr std::int64_t exponent_limit = std::int64_t{1} << 60;

/// { x : |x − mid·2^exponent| ≤ radius }, |mid| < 2^W.
/// Requires  W ≥ 64
template <unsigned W>
struct ball {
  static_assert(W >= 64, "a ball needs at least 64 bits");
  /// Holds a product of two midpoints, and a sum of two whose leading bits are up to W + 32 binary places apart.
  using wide = integer<2 * W + 64>;

  wide mid = 0;
  std::int64_t exponent = 0;
  magnitude radius{};

  constexpr ball() noexcept = default;
  constexpr ball(std::int64_t value) noexcept : mid(value) {}

  /// value·2^exponent ± radius, rounded to W bits. Exact where it fits.
  static constexpr ball rounded(wide value, std::int64_t exponent, magnitude radius = {}) noexcept {
    ball result;
    result.radius = radius;
    int const excess = bit_length(value) - static_cast<int>(W);
    if (excess > 0) {
      if (trailing_zeros(value) < excess) result.radius = result.radius + magnitude::power_of_two(exponent + excess);
      value = shifted(std::move(value), -excess);
      exponent += excess;
    }
    result.mid = std::move(value);
    result.exponent = result.mid.sign() == 0 ? 0 : exponent;
    return result;
  }

  /// The integer x·2^exponent of another width, rounded to W bits.
  template <std::size_t Bits>
  static constexpr ball from(integer<Bits> const& x, std::int64_t exponent) noexcept {
    int const excess = bit_length(x) - static_cast<int>(W) - 1;
    if (excess <= 0) return rounded(wide(x), exponent);
    bool const exact = trailing_zeros(x) >= excess;
    return rounded(wide(shifted(x, -excess)), exponent + excess,
                   exact ? magnitude{} : magnitude::power_of_two(exponent + excess));
  }

  /// Requires x finite.
  static constexpr ball from(element const& x) noexcept { return rounded(wide(x.significand), x.exponent); }

  constexpr bool is_exact() const noexcept { return radius.is_zero(); }

  /// An upper bound of |x| over the ball.
  constexpr magnitude upper_size() const noexcept { return upper_size_of_mid() + radius; }

  constexpr magnitude upper_size_of_mid() const noexcept {
    if (mid.sign() == 0) return {};
    int const length = bit_length(mid);
    int const drop = length > 62 ? length - 62 : 0;
    wide top = shifted(mid, -drop);
    if (top.sign() < 0) top.backend().negate();
    return {static_cast<std::uint64_t>(top) + (drop > 0 ? 1 : 0), exponent + drop};
  }

  /// A lower bound of |x| over the ball, as an exact magnitude; zero if the ball contains 0 or comes within 2^−30·|mid|
  /// of it.
  constexpr magnitude lower_size() const noexcept {
    if (mid.sign() == 0) return {};
    int const length = bit_length(mid);
    wide top = shifted(mid, -(length - 32));
    if (top.sign() < 0) top.backend().negate();
    auto size = static_cast<std::uint64_t>(top);
    std::int64_t const e = exponent + (length - 32);
    if (radius.is_zero()) return {size, e};
    if (radius.exponent() > e) return {};
    std::int64_t const gap = e - radius.exponent();
    std::uint64_t const less = gap > 32 ? 1 : (radius.mantissa() >> gap) + 1;
    if (less >= size) return {};
    return {size - less, e};
  }

  constexpr ball operator-() const noexcept {
    ball result = *this;
    result.mid.backend().negate();
    return result;
  }

  friend constexpr ball operator+(ball const& a, ball const& b) noexcept {
    magnitude const r = a.radius + b.radius;
    if (a.mid.sign() == 0) return rounded(b.mid, b.exponent, r);
    if (b.mid.sign() == 0) return rounded(a.mid, a.exponent, r);
    ball const& high = a.exponent >= b.exponent ? a : b;
    ball const& low = a.exponent >= b.exponent ? b : a;
    std::int64_t const gap = high.exponent - low.exponent;
    if (gap <= static_cast<std::int64_t>(2 * W) + 32 - bit_length(high.mid))
      return rounded(shifted(high.mid, gap) + low.mid, low.exponent, r);
    // |low.mid| < 2^W: below 2^−32 of high's last place at W bits. It goes into the radius.
    return rounded(high.mid, high.exponent, r + magnitude::power_of_two(low.exponent + bit_length(low.mid)));
  }
  friend constexpr ball operator-(ball const& a, ball const& b) noexcept { return a + (-b); }

  friend constexpr ball operator*(ball const& a, ball const& b) noexcept {
    magnitude r{};
    if (!a.is_exact() || !b.is_exact())
      r = a.upper_size_of_mid() * b.radius + b.upper_size_of_mid() * a.radius + a.radius * b.radius;
    return rounded(a.mid * b.mid, a.exponent + b.exponent, r);
  }

  /// |a/b − â/b̂| ≤ (r_a + |â/b̂|·r_b)/(|b̂| − r_b).
  /// Requires  certain_sign(b) ≠ 0
  friend constexpr ball operator/(ball const& a, ball const& b) noexcept {
    if (a.mid.sign() == 0 && a.is_exact()) return a;
    int const length_a = bit_length(a.mid), length_b = bit_length(b.mid);
    int const up =
        static_cast<int>(W) + 2 + length_b - length_a > 0 ? static_cast<int>(W) + 2 + length_b - length_a : 0;
    wide quotient, remainder;
    divide_qr(shifted(a.mid, up), b.mid, quotient, remainder);
    std::int64_t const e = a.exponent - b.exponent - up;
    ball result = rounded(quotient, e, remainder.sign() == 0 ? magnitude{} : magnitude::power_of_two(e));
    if (!a.is_exact() || !b.is_exact())
      result.radius = result.radius + divide_by_lower(a.radius + result.upper_size() * b.radius, b.lower_size());
    return result;
  }

  constexpr ball scaled_by_power_of_two(std::int64_t by) const noexcept {
    ball result = *this;
    if (result.mid.sign() != 0) result.exponent += by;
    result.radius = result.radius.scaled(by);
    return result;
  }
};

/// The sign of every element of the ball, or 0 if the ball may contain 0 or is exactly 0: |mid·2^exponent| is compared
/// with the radius.
template <unsigned W>
constexpr int certain_sign(ball<W> const& x) noexcept {
  if (x.is_exact()) return x.mid.sign();
  return x.lower_size().is_zero() ? 0 : x.mid.sign();
}

/// Is every element of a at most every element of b? `undecided` if the balls overlap.
template <unsigned W>
constexpr decision at_most(ball<W> const& a, ball<W> const& b) noexcept {
  ball<W> const gap = b - a;
  if (gap.is_exact()) return gap.mid.sign() >= 0 ? decision::yes : decision::no;
  int const sign = certain_sign(gap);
  return sign > 0 ? decision::yes : sign < 0 ? decision::no : decision::undecided;
}

template <unsigned W>
constexpr ball<W> absolute(ball<W> const& x) noexcept {
  return x.mid.sign() < 0 ? -x : x;
}

/// May a and b enclose the same number? False proves that they differ.
template <unsigned W>
constexpr bool overlap(ball<W> const& a, ball<W> const& b) noexcept {
  ball<W> const gap = a - b;
  return gap.is_exact() ? gap.mid.sign() == 0 : certain_sign(gap) == 0;
}

/// The same set at another width, or a superset of it if the midpoint loses bits.
template <unsigned To, unsigned From>
constexpr ball<To> widened(ball<From> const& x) noexcept {
  ball<To> result = ball<To>::from(x.mid, x.exponent);
  result.radius = result.radius + x.radius;
  return result;
}

}  // namespace attest::reference
