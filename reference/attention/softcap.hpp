// How scores come from exact dot products: s = σ·a + b, or with a softcap c > 0: s = c·tanh(σ·a/c) + b. Logarithms to
// the base 2, as the LSEs of parts may be in a merge, are the scores s = ln 2·(σ·a + b), in the same order.
//
// Without softcap, scores are algebraic numbers and their order is decided exactly (score.hpp). With softcap they are
// transcendental, but a theorem still decides whether two of them are equal (docs/rounding.md), and their difference is
// enclosed without cancellation: far from 0 a score is the exact number b ± c minus a small tail.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

#include "problem/log_base.hpp"
#include "reference/attention/score.hpp"
#include "reference/real/constants.hpp"
#include "reference/real/tanh.hpp"

namespace attest::reference {

/// σ and c, exactly, and the base. c = 0 means no softcap; base 2 has none, and a σ that is given.
struct score_rule {
  exact_scale scale{};
  element softcap{};
  problem::log_base base = problem::log_base::e;

  template <class T>
  static constexpr score_rule of(problem::instance<T> const& p) noexcept {
    return {exact_scale::of(p), value_of(p.softcap()), p.base()};
  }
  constexpr bool capped() const noexcept { return softcap.significand != 0; }
  constexpr bool in_base_2() const noexcept { return base == problem::log_base::two; }
};

/// Sets the class of the score from the classes of its product, σ and bias. A softcap maps ±∞ to ±c (`saturated`).
/// Requires  score made by exact_dot, with its bias
template <class T>
constexpr void classify(score_rule const& rule, exact_score<T>& score) noexcept {
  if (!rule.capped()) {
    score.kind = class_of(score, rule.scale.sign(), score.bias);
    return;
  }
  number_class const product = class_of(score, rule.scale.sign(), element{});
  score.saturated = product == number_class::plus_infinity ? 1 : product == number_class::minus_infinity ? -1 : 0;
  score.kind = product == number_class::not_a_number ? product : score.bias.kind;
}

namespace detail {

/// Sums and differences of a few biases, boundaries and softcaps, exactly, in units of 2^unit.
struct exact_sum {
  static constexpr int unit = -1080;
  integer<1080 + 1024 + 64> value = 0;

  constexpr exact_sum& add(element const& x, int times = 1) noexcept {
    if (x.significand != 0 && times != 0)
      value += shifted(integer<1080 + 1024 + 64>(x.significand * times), x.exponent - unit);
    return *this;
  }
};

/// Is σ·a/c of a finite score 0 or infinite? If so, the score is the dyadic number b, b + c or b − c; if not, it is
/// transcendental.
template <class T>
constexpr bool is_dyadic(score_rule const& rule, exact_score<T> const& x) noexcept {
  return x.saturated != 0 || x.dot.sign() == 0 || rule.scale.sign() == 0;
}

}  // namespace detail

/// σ and c at W bits, and scores computed from them.
template <unsigned W>
class scores_at {
 public:
  constexpr explicit scores_at(score_rule const& rule) noexcept
      : scale_(rule.scale.template enclosure<W>()),
        softcap_(ball<W>::from(rule.softcap)),
        ln2_(rule.in_base_2() ? ln2<W>() : ball<W>()),
        cap_(rule.softcap),
        capped_(rule.capped()),
        in_base_2_(rule.in_base_2()) {}

  /// The score without its bias. Requires x finite, and the base e.
  template <class T>
  constexpr ball<W> product(exact_score<T> const& x) const noexcept {
    if (x.saturated != 0) return x.saturated > 0 ? softcap_ : -softcap_;
    return capped_ ? softcap_ * tanh(inner(x)) : scale_ * ball<W>::from(x.dot, dot_exponent<T>);
  }

  /// x − y. Requires both finite.
  /// Ensures   with softcap: exactly 0 if the scores are equal; otherwise relative precision 2^−W, however close they
  ///           are. Exceptions: (i) |σ·a/c| > 2^58, where e^(−2|σ·a/c|) is below the exponent range; (ii) |σ·a/c|² <
  ///           2^−W where the biases differ by the difference of the σ·a: at 1152 bits, with c < 2^400, only biases
  ///           below 2^−176 reach it
  template <class T>
  constexpr ball<W> difference(exact_score<T> const& x, exact_score<T> const& y) const noexcept {
    if (in_base_2_) return ln2_ * reference::difference(scale_, x, y);
    if (!capped_) return reference::difference(scale_, x, y);
    int const side_of_x = sign_of(x), side_of_y = sign_of(y);
    detail::exact_sum limits;
    limits.add(x.bias).add(y.bias, -1);
    ball<W> tails;
    if (side_of_x != side_of_y) {
      if (is_far(x)) limits.add(cap_, side_of_x);
      if (is_far(y)) limits.add(cap_, -side_of_y);
      tails = tail(x) - tail(y);
    } else if (sign_of_difference(x, y) != 0) {
      tails = capped_difference(x, y);
    }
    return limits.value.sign() == 0 ? tails : tails + ball<W>::from(limits.value, detail::exact_sum::unit);
  }

 private:
  /// c·(tanh X − tanh Y), for X = σ·x/c and Y of one sign and different. It is computed without cancellation, for X > Y
  /// ≥ 0:
  ///   tanh X − tanh Y = −2·e^(−2Y)·expm1(−2(X − Y)) / ((1 + e^(−2X))·(1 + e^(−2Y)))
  template <class T>
  constexpr ball<W> capped_difference(exact_score<T> const& x, exact_score<T> const& y) const noexcept {
    if (sign_of_difference(x, y) < 0) return -capped_difference(y, x);
    auto const& [far, near] = sign_of(x) > 0 ? std::pair(x, y) : std::pair(y, x);  // from 0
    ball<W> const one(1), at_far = decay(far), at_near = decay(near);
    ball<W> fall(-1);  // e^(−2(X − Y)) − 1
    if (far.saturated == 0) {
      exact_score<T> apart;
      apart.dot = far.dot - near.dot;
      fall = expm1(-absolute(inner(apart)).scaled_by_power_of_two(1));
    }
    return -(softcap_ * at_near * fall / ((one + at_far) * (one + at_near))).scaled_by_power_of_two(1);
  }
  /// X = σ·x/c. Requires a product that is not saturated
  template <class T>
  constexpr ball<W> inner(exact_score<T> const& x) const noexcept {
    return scale_ * ball<W>::from(x.dot, dot_exponent<T>) / softcap_;
  }
  /// |X| ≥ 1, where c·tanh X is ±c less a tail.
  template <class T>
  constexpr bool is_far(exact_score<T> const& x) const noexcept {
    return x.saturated != 0 || magnitude::power_of_two(0) <= inner(x).lower_size();
  }
  /// c·tanh X, less ±c where X is far: ∓2c·e^(−2|X|)/(1 + e^(−2|X|)).
  template <class T>
  constexpr ball<W> tail(exact_score<T> const& x) const noexcept {
    if (!is_far(x)) return product(x);
    ball<W> const e = decay(x), size = (softcap_ * e / (ball<W>(1) + e)).scaled_by_power_of_two(1);
    return sign_of(x) > 0 ? -size : size;
  }
  /// e^(−2|X|)
  template <class T>
  constexpr ball<W> decay(exact_score<T> const& x) const noexcept {
    if (x.saturated != 0) return ball<W>();
    return exp(-absolute(inner(x)).scaled_by_power_of_two(1));
  }
  template <class T>
  constexpr int sign_of(exact_score<T> const& x) const noexcept {
    return x.saturated != 0 ? x.saturated : x.dot.sign() * certain_sign(scale_);
  }
  template <class T>
  constexpr int sign_of_difference(exact_score<T> const& x, exact_score<T> const& y) const noexcept {
    if (x.saturated != y.saturated) return x.saturated > y.saturated ? 1 : -1;
    return (x.dot < y.dot ? -1 : x.dot > y.dot ? 1 : 0) * certain_sign(scale_);
  }

  ball<W> scale_, softcap_, ln2_;
  element cap_;
  bool capped_, in_base_2_;
};

namespace detail {

/// x with an odd significand, so that equal numbers have equal fields.
constexpr element canonical(element x) noexcept {
  if (x.significand == 0) return {};
  while (x.significand % 2 == 0) x.significand /= 2, ++x.exponent;
  return x;
}

}  // namespace detail

/// The order of σ·a for two finite scores, infinite products included. Scores of one bias have this order too, with
/// softcap and without: c·tanh(x/c) rises.
template <class T>
constexpr std::strong_ordering order_of_products(score_rule const& rule, exact_score<T> const& x,
                                                 exact_score<T> const& y) noexcept {
  if (x.saturated != y.saturated || x.saturated != 0) return x.saturated <=> y.saturated;
  return order(rule.scale, exact_score<T>{.dot = x.dot}, exact_score<T>{.dot = y.dot});
}

/// An order of finite scores that compares equal exactly the equal ones. Without softcap it is the order of their
/// values. With softcap the dyadic scores come first, by value, then the transcendental ones by bias and product: two
/// of these are equal iff their biases and their products are, and none equals a dyadic number.
/// Why       docs/rounding.md, "Equal scores with softcap"
template <class T>
constexpr std::strong_ordering grouping_order(score_rule const& rule, exact_score<T> const& x,
                                              exact_score<T> const& y) noexcept {
  if (!rule.capped()) return order(rule.scale, x, y);
  bool const dyadic = detail::is_dyadic(rule, x);
  if (dyadic != detail::is_dyadic(rule, y)) return dyadic ? std::strong_ordering::less : std::strong_ordering::greater;
  if (dyadic) {
    detail::exact_sum apart;
    apart.add(x.bias).add(y.bias, -1).add(rule.softcap, x.saturated - y.saturated);
    return apart.value.sign() <=> 0;
  }
  element const a = detail::canonical(x.bias), b = detail::canonical(y.bias);
  if (a.exponent != b.exponent) return a.exponent <=> b.exponent;
  if (a.significand != b.significand) return a.significand <=> b.significand;
  return order_of_products(rule, x, y);
}

}  // namespace attest::reference
