// Rounding a real number to a binary format: nearest, ties to even, subnormals, overflow to infinity.
//
// Every value of a format has an ordinal: 0 is 0, 1 the smallest positive subnormal, −1 the negative number next to 0,
// …, and +∞ has the largest ordinal. Between the values of ordinals n and n + 1 lies the boundary where rounding
// changes.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <type_traits>

#include "reference/real/any_function.hpp"
#include "reference/real/ball.hpp"
#include "reference/real/element.hpp"
#include "reference/real/outward.hpp"

namespace attest::reference {

/// The ordinal of +∞. The ordinal of −∞ is its negative.
template <class T>
inline constexpr std::int64_t infinity_ordinal =
    static_cast<std::int64_t>((std::uint64_t{1} << float_format<T>::exponent) - 1) << float_format<T>::fraction;

/// The value with ordinal n, |n| ≤ infinity_ordinal<T>; for n = 0 it is −0 if negative_zero is set.
template <class T>
constexpr T value_of_ordinal(std::int64_t n, bool negative_zero = false) noexcept {
  using bits = typename float_format<T>::bits;
  auto const size = static_cast<std::uint64_t>(n < 0 ? -n : n);
  std::uint64_t const sign = n < 0 || (n == 0 && negative_zero)
                                 ? std::uint64_t{1} << (float_format<T>::fraction + float_format<T>::exponent)
                                 : 0;
  return std::bit_cast<T>(static_cast<bits>(size | sign));
}

/// A quiet NaN.
template <class T>
constexpr T quiet_nan() noexcept {
  return value_of_ordinal<T>(infinity_ordinal<T> + (std::int64_t{1} << (float_format<T>::fraction - 1)));
}

/// The boundary between the values of ordinals n and n + 1: their midpoint, or next to an infinity the overflow
/// threshold (2 − 2^−p)·2^(largest − 1), p the precision.
/// Requires  −infinity_ordinal<T> ≤ n < infinity_ordinal<T>
template <class T>
constexpr element boundary_above(std::int64_t n) noexcept {
  std::int64_t const inner = n >= 0 ? n : -(n + 1);  // distance from 0 of the value nearer to it
  // The midpoint of inner and inner + 1 has the significand 2s + 1 at half the unit of `inner`'s binade; that holds up
  // to and past the last finite value, whose upper neighbour would be 2^largest.
  element const below = value_of(value_of_ordinal<T>(inner));
  std::int64_t const size = 2 * below.significand + 1;
  return {number_class::finite, n >= 0 ? size : -size, below.exponent - 1};
}

/// The ordinal of the value nearest to x (ties to even), for a double that is not NaN.
template <class T>
constexpr std::int64_t nearest_ordinal(double x) noexcept {
  if (x == infinity || x == -infinity) return x > 0 ? infinity_ordinal<T> : -infinity_ordinal<T>;
  element const size = value_of(x < 0 ? -x : x);
  if (size.significand == 0) return 0;
  constexpr int fraction = float_format<T>::fraction, smallest = smallest_exponent<T>;
  int const top = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size.significand))) + size.exponent;
  int const unit = top - 1 - fraction > smallest ? top - 1 - fraction : smallest;
  int const drop = unit - size.exponent;
  std::int64_t significand = 0;
  if (drop <= 0) {
    significand = size.significand << -drop;
  } else if (drop < 62) {
    std::int64_t const half = std::int64_t{1} << (drop - 1), rest = size.significand & (2 * half - 1);
    significand = size.significand >> drop;
    if (rest > half || (rest == half && significand % 2 != 0)) ++significand;
  }
  // Counting up from the first value of the binade carries into the next binade, and into infinity, by itself.
  std::int64_t const first = static_cast<std::int64_t>(unit - smallest) << fraction;
  std::int64_t const ordinal = first + significand;
  std::int64_t const bounded = ordinal < infinity_ordinal<T> ? ordinal : infinity_ordinal<T>;
  return x < 0 ? -bounded : bounded;
}

/// A correctly rounded value. Nothing if a comparison remained undecided.
template <class T>
using rounded_value = std::optional<T>;

/// The value to which every real number within `radius` of high + low rounds. Returns nothing if the outward ends of
/// that interval round to different values, or to a zero whose sign is not decided. An exact 0 (all three 0) is +0.
/// Requires  doubles that round to nearest
/// Why       the ends low ∓ radius are taken outward; adding them to high rounds correctly to f64, which rises with its
///           argument; for a narrower T the sum is taken outward too, and nearest_ordinal rises with its argument
template <class T>
constexpr rounded_value<T> nearest_of_all(double high, double low, double radius) noexcept {
  if (!(radius < infinity)) return std::nullopt;
  double first = high, last = high;
  if (low != 0 || radius != 0) {
    first = high + rounded_down(low - radius), last = high + rounded_up(low + radius);
    if constexpr (!std::is_same_v<T, double>) first = rounded_down(first), last = rounded_up(last);
  }
  std::int64_t const ordinal = nearest_ordinal<T>(first);
  if (ordinal != nearest_ordinal<T>(last)) return std::nullopt;
  if (ordinal != 0) return value_of_ordinal<T>(ordinal);
  if (first > 0 || (first == 0 && last == 0)) return value_of_ordinal<T>(0);
  return last < 0 ? rounded_value<T>(value_of_ordinal<T>(0, true)) : std::nullopt;
}

/// The sign of a real number x − t for a dyadic t. Returns nothing if it remains undecided.
using sign_against_dyadic = any_function<std::optional<int>(element const&)>;

namespace detail {

template <class T, unsigned W>
constexpr rounded_value<T> nearest_in(ball<W> const& enclosure, sign_against_dyadic const& sign_against) {
  std::int64_t low = nearest_ordinal<T>(lower(enclosure)), high = nearest_ordinal<T>(upper(enclosure));
  while (low < high) {
    std::int64_t const middle = std::midpoint(low, high);  // towards low; f64's high − low may pass 2⁶³
    element const t = boundary_above<T>(middle);
    std::optional<int> sign = certain_sign(enclosure - ball<W>::from(t));
    if (*sign == 0) sign = sign_against(t);
    if (!sign) return std::nullopt;
    if (*sign == 0) low = high = middle % 2 == 0 ? middle : middle + 1;
    else if (*sign < 0) high = middle;
    else low = middle + 1;
  }
  if (low != 0) return value_of_ordinal<T>(low);
  std::optional<int> sign = certain_sign(enclosure);
  if (*sign == 0) sign = sign_against(element{});
  if (!sign) return std::nullopt;
  return value_of_ordinal<T>(0, *sign < 0);
}

}  // namespace detail

/// Rounds the real number x ∈ `enclosure` to T. `sign_against(t)` returns the sign of x − t for a dyadic t, as
/// std::optional<int>; it is called only if the enclosure contains a boundary, or does not decide the sign of a zero.
template <class T, unsigned W, class SignAgainst>
constexpr rounded_value<T> nearest(ball<W> const& enclosure, SignAgainst const& sign_against) {
  return detail::nearest_in<T>(enclosure, calls<std::optional<int>(element const&), SignAgainst>(sign_against));
}

}  // namespace attest::reference
