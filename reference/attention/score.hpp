// Scores, exactly: s = σ·a + b with a = q·k, and σ a given number or 1/√d. Nothing is rounded.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "problem/instance.hpp"
#include "reference/real/ball.hpp"
#include "reference/real/element.hpp"
#include "reference/real/sqrt.hpp"

namespace attest::reference {

/// Every dot product of T's is an integer of this many bits in units of 2^dot_exponent<T> (Kulisch): two factors below
/// 2^largest, summed at most 2⁶³ times.
template <class T>
inline constexpr int dot_exponent = 2 * smallest_exponent<T>;
template <class T>
inline constexpr unsigned dot_bits = static_cast<unsigned>(2 * (largest_exponent<T> - smallest_exponent<T>)+64);

/// A score, exactly: σ·dot·2^dot_exponent + bias if kind is finite. With a softcap c (softcap.hpp) the first term is
/// capped, and saturated ≠ 0 says that it is ±c, because the product is infinite.
template <class T>
struct exact_score {
  number_class kind = number_class::finite;
  integer<dot_bits<T>> dot = 0;
  element bias{};
  int saturated = 0;
};

/// σ if the problem gives it as a number, nothing if it is 1/√d. Both tiers use this.
template <class T>
constexpr std::optional<double> given_scale(problem::instance<T> const& p) noexcept {
  return p.scale();
}

/// The scale σ, exactly: a dyadic number, or 1/√d.
struct exact_scale {
  std::optional<element> given;
  std::int64_t d = 0;

  template <class T>
  static constexpr exact_scale of(problem::instance<T> const& p) noexcept {
    exact_scale scale{.given = {}, .d = p.size().d};
    if (auto const given = given_scale(p)) scale.given = value_of(*given);
    return scale;
  }
  constexpr int sign() const noexcept {
    return !given ? 1 : given->significand > 0 ? 1 : given->significand < 0 ? -1 : 0;
  }
  template <unsigned W>
  constexpr ball<W> enclosure() const noexcept {
    return given ? ball<W>::from(*given) : inverse_sqrt<W>(d);
  }
};

/// Σ_t q_t·k_t exactly; if an element is infinite or NaN, the class of the sum in IEEE arithmetic without rounding.
template <class T>
constexpr exact_score<T> exact_dot(T const* q, T const* k, std::int64_t d) noexcept {
  exact_score<T> sum;
  for (std::int64_t t = 0; t < d; ++t) {
    element const x = value_of(q[t]), y = value_of(k[t]);
    if (x.is_finite() && y.is_finite()) {
      if (sum.kind != number_class::finite || x.significand == 0 || y.significand == 0) continue;
      integer<dot_bits<T>> product = x.significand;
      product *= y.significand;
      product <<= static_cast<unsigned>(x.exponent + y.exponent - dot_exponent<T>);
      sum.dot += product;
      continue;
    }
    bool const nan = x.kind == number_class::not_a_number || y.kind == number_class::not_a_number ||
                     (x.is_finite() && x.significand == 0) || (y.is_finite() && y.significand == 0);  // 0·∞
    auto const negative = [](element const& e) {
      return e.is_finite() ? e.significand < 0 : e.kind == number_class::minus_infinity;
    };
    number_class const term = nan                          ? number_class::not_a_number
                              : negative(x) == negative(y) ? number_class::plus_infinity
                                                           : number_class::minus_infinity;
    sum.kind = sum.kind == number_class::finite || sum.kind == term ? term : number_class::not_a_number;
  }
  return sum;
}

/// The class of σ·dot + bias. Requires a bias that is 0 if there is none.
template <class T>
constexpr number_class class_of(exact_score<T> const& dot, int sign_of_scale, element const& bias) noexcept {
  number_class scaled = dot.kind;
  if (dot.kind == number_class::plus_infinity || dot.kind == number_class::minus_infinity) {
    if (sign_of_scale == 0) scaled = number_class::not_a_number;
    else if (sign_of_scale < 0)
      scaled = dot.kind == number_class::plus_infinity ? number_class::minus_infinity : number_class::plus_infinity;
  }
  if (scaled == number_class::not_a_number || bias.kind == number_class::not_a_number)
    return number_class::not_a_number;
  if (scaled == number_class::finite) return bias.kind;
  if (bias.is_finite() || bias.kind == scaled) return scaled;
  return number_class::not_a_number;  // ∞ − ∞
}

/// The bias at (b, h, i, j) exactly; 0 if there is none.
template <class T>
constexpr element bias_at(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                          std::int64_t j) noexcept {
  if (p.bias().present) return value_of(p.bias()(b, h, i, j));
  if (p.bias_f32().present) return value_of(p.bias_f32()(b, h, i, j));
  return {};
}

/// x − y as a ball. Requires both finite.
template <unsigned W, class T>
constexpr ball<W> difference(ball<W> const& scale, exact_score<T> const& x, exact_score<T> const& y) noexcept {
  integer<dot_bits<T>> const dot = x.dot - y.dot;
  ball<W> result = scale * ball<W>::from(dot, dot_exponent<T>);
  if (x.bias.significand != 0 || y.bias.significand != 0)
    result = result + (ball<W>::from(x.bias) - ball<W>::from(y.bias));
  return result;
}

namespace detail {

/// sign(a·2^ea + b·2^eb − c·2^ec), exactly, in integers of `Bits` bits.
template <std::size_t Bits, std::size_t A>
constexpr int sign_of_sum(integer<A> const& a, std::int64_t ea, element const& b, element const& c) noexcept {
  std::int64_t unit = ea;
  if (b.significand != 0 && b.exponent < unit) unit = b.exponent;
  if (c.significand != 0 && c.exponent < unit) unit = c.exponent;
  auto const term = [&](integer<Bits> x, std::int64_t e) { return x.sign() == 0 ? x : shifted(x, e - unit); };
  integer<Bits> const sum = term(integer<Bits>(a), ea) + term(integer<Bits>(b.significand), b.exponent) -
                            term(integer<Bits>(c.significand), c.exponent);
  return sum.sign();
}

}  // namespace detail

/// The order of two finite scores, decided exactly: sign(σ·Δa + Δb).
///
/// σ rational: one integer. σ = 1/√d irrational: equal iff Δa = Δb = 0; else, if the signs differ, Δa² against d·Δb².
template <class T>
constexpr std::strong_ordering order(exact_scale const& scale, exact_score<T> const& x,
                                     exact_score<T> const& y) noexcept {
  auto const as_ordering = [](int sign) {
    return sign < 0   ? std::strong_ordering::less
           : sign > 0 ? std::strong_ordering::greater
                      : std::strong_ordering::equal;
  };
  constexpr unsigned bits =
      dot_bits<T> + 2 * 2098 + 256;  // a double scale and a bias of any type beside the dot product
  using wide = integer<bits>;
  integer<dot_bits<T>> const dot = x.dot - y.dot;
  if (x.bias.significand == 0 && y.bias.significand == 0) return as_ordering(dot.sign() * scale.sign());
  if (scale.given) {
    wide scaled(dot);
    scaled *= scale.given->significand;
    return as_ordering(detail::sign_of_sum<bits>(scaled, dot_exponent<T> + scale.given->exponent, x.bias, y.bias));
  }
  // Multiply by √d > 0: sign(Δa + √d·Δb).
  std::int64_t unit = dot_exponent<T>;
  for (element const& b : {x.bias, y.bias})
    if (b.significand != 0 && b.exponent < unit) unit = b.exponent;
  auto const at_unit = [&](wide value, std::int64_t e) { return value.sign() == 0 ? value : shifted(value, e - unit); };
  wide const a = at_unit(wide(dot), dot_exponent<T>);
  wide const b =
      at_unit(wide(x.bias.significand), x.bias.exponent) - at_unit(wide(y.bias.significand), y.bias.exponent);
  if (a.sign() * b.sign() >= 0) return as_ordering(a.sign() != 0 ? a.sign() : b.sign());
  using squared = integer<2 * bits + 64>;
  squared const a2 = squared(a) * squared(a), b2 = squared(b) * squared(b) * scale.d;
  return as_ordering(a2 == b2 ? 0 : (a2 > b2) == (a.sign() > 0) ? 1 : -1);
}

}  // namespace attest::reference
