// How scores come from exact dot products: s = σ·a + b, or with a softcap c > 0: s = c·tanh(σ·a/c) + b.
//
// Without softcap scores are algebraic numbers and their order is decided exactly (score.hpp). With it no theorem orders
// two scores of different biases: their difference is enclosed, and what an enclosure leaves open stays open.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

#include "reference/score.hpp"
#include "reference/tanh.hpp"

namespace attest::reference {

/// σ and c, exactly. A softcap of 0 is none.
struct score_rule {
  exact_scale scale{};
  element softcap{};

  template <class T>
  static constexpr score_rule of(problem::instance<T> const& p) noexcept {
    return {exact_scale::of(p), value_of(p.softcap())};
  }
  constexpr bool capped() const noexcept { return softcap.significand != 0; }
};

/// Sets the score's class from those of its product, σ and bias. A softcap maps ±∞ to ±c (`saturated`).
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

/// σ and c at W bits, and scores made of them.
template <unsigned W>
class scores_at {
 public:
  constexpr explicit scores_at(score_rule const& rule) noexcept
      : scale_(rule.scale.template enclosure<W>()), softcap_(ball<W>::from(rule.softcap)), capped_(rule.capped()) {}

  /// The score without its bias. Requires x finite.
  template <class T>
  constexpr ball<W> product(exact_score<T> const& x) const noexcept {
    if (x.saturated != 0) return x.saturated > 0 ? softcap_ : -softcap_;
    ball<W> const product = scale_ * ball<W>::from(x.dot, dot_exponent<T>);
    return capped_ ? softcap_ * tanh(product / softcap_) : product;
  }

  /// x − y. Requires both finite.
  /// Ensures   exact where the products are the same, as far as the difference of the biases fits W bits; capped products
  ///           of one sign differ to W bits of their difference, however close they are
  template <class T>
  constexpr ball<W> difference(exact_score<T> const& x, exact_score<T> const& y) const noexcept {
    if (!capped_) return reference::difference(scale_, x, y);
    ball<W> made;
    if (x.saturated != y.saturated || (x.saturated == 0 && x.dot != y.dot)) made = capped_difference(x, y);
    if (x.bias.significand != 0 || y.bias.significand != 0)
      made = made + (ball<W>::from(x.bias) - ball<W>::from(y.bias));
    return made;
  }

 private:
  /// c·(tanh X − tanh Y), X = σ·x/c. Where X and Y have one sign, without cancellation by
  ///   tanh X − tanh Y = −2·e^(−2Y)·expm1(−2(X − Y)) / ((1 + e^(−2X))·(1 + e^(−2Y)))   for X > Y ≥ 0
  template <class T>
  constexpr ball<W> capped_difference(exact_score<T> const& x, exact_score<T> const& y) const noexcept {
    int const sign = sign_of(x), order = sign_of_difference(x, y);
    if (sign != sign_of(y)) return product(x) - product(y);
    if (order < 0) return -capped_difference(y, x);
    auto const& [far, near] = sign > 0 ? std::pair(x, y) : std::pair(y, x);  // from 0
    ball<W> const one(1), at_far = decay(far), at_near = decay(near);
    ball<W> fall(-1);  // e^(−2(X − Y)) − 1
    if (far.saturated == 0) {
      integer<dot_bits<T>> const dot = far.dot - near.dot;
      fall = expm1(-absolute(scale_ * ball<W>::from(dot, dot_exponent<T>) / softcap_).scaled_by_power_of_two(1));
    }
    return -(softcap_ * at_near * fall / ((one + at_far) * (one + at_near))).scaled_by_power_of_two(1);
  }
  /// e^(−2|X|)
  template <class T>
  constexpr ball<W> decay(exact_score<T> const& x) const noexcept {
    if (x.saturated != 0) return ball<W>();
    return exp(-absolute(scale_ * ball<W>::from(x.dot, dot_exponent<T>) / softcap_).scaled_by_power_of_two(1));
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

  ball<W> scale_, softcap_;
  bool capped_;
};

namespace detail {

/// Equal numbers have equal fields.
constexpr element canonical(element x) noexcept {
  if (x.significand == 0) return {};
  while (x.significand % 2 == 0) x.significand /= 2, ++x.exponent;
  return x;
}

}  // namespace detail

/// An order of finite scores in which equal ones are neighbours, and `equal` is proven. Without softcap it is the order
/// of their values. With it scores are compared by bias, then by product: those of equal bias are equal iff their
/// products are (tanh is strictly monotone), those of different biases are never called equal.
template <class T>
constexpr std::strong_ordering grouping_order(score_rule const& rule, exact_score<T> const& x,
                                              exact_score<T> const& y) noexcept {
  if (!rule.capped()) return order(rule.scale, x, y);
  element const a = detail::canonical(x.bias), b = detail::canonical(y.bias);
  if (a.exponent != b.exponent) return a.exponent <=> b.exponent;
  if (a.significand != b.significand) return a.significand <=> b.significand;
  if (x.saturated != y.saturated) return x.saturated <=> y.saturated;
  if (x.saturated != 0) return std::strong_ordering::equal;
  return order(rule.scale, exact_score<T>{.dot = x.dot}, exact_score<T>{.dot = y.dot});
}

}  // namespace attest::reference
