// The differences of some scores without softcap, exactly: multiples of one unit by whole numbers of Q(√d).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/attention/exponential_term.hpp"
#include "reference/attention/softcap.hpp"
#include "reference/real/quadratic_integer.hpp"

namespace attest::reference {

/// s_g − s_0 = ρ·node_g, with ρ = factor·2^exponent, times ln 2 in base 2, and one power of two taken out of all nodes:
///   factor σ      where all biases are equal: the nodes are differences of dot products
///   factor 1      where they differ and σ is dyadic: so are the scores
///   factor 1/√d   where they differ and σ is 1/√d: √d·(s_g − s_0) = Δa + √d·Δb
struct score_differences {
  enum class factor : std::uint8_t { scale, one, inverse_root };

  exact_scale scale{};
  bool in_base_2 = false;
  factor of = factor::scale;
  std::int64_t exponent = 0;
  std::vector<quadratic_integer> nodes;

  /// Requires  finite scores, at least one
  template <class T>
  static constexpr score_differences of_terms(score_rule const& rule, std::span<exponential_term<T> const> terms) {
    score_differences result;
    result.scale = rule.scale, result.in_base_2 = rule.in_base_2();
    element const same = detail::canonical(terms.front().exponent.bias);
    std::int64_t lowest_bias = 0;
    bool biased = false, same_bias = true;
    for (auto const& term : terms) {
      element const bias = detail::canonical(term.exponent.bias);
      if (bias.significand != same.significand || bias.exponent != same.exponent) same_bias = false;
      if (bias.significand == 0) continue;
      if (!biased || bias.exponent < lowest_bias) lowest_bias = bias.exponent;
      biased = true;
    }
    if (same_bias) result.from_products(terms);
    else if (rule.scale.given) result.from_dyadic_scores(terms, lowest_bias);
    else result.from_roots(terms, lowest_bias);
    result.take_out_power_of_two();
    return result;
  }

  template <unsigned W>
  constexpr ball<W> unit() const {
    ball<W> const value = of == factor::one     ? ball<W>(1)
                          : of == factor::scale ? scale.enclosure<W>()
                                                : inverse_sqrt<W>(scale.d);
    return (in_base_2 ? ln2<W>() * value : value).scaled_by_power_of_two(exponent);
  }

  /// s_g − s_h. Ensures   relative precision, however near to each other the scores are
  template <unsigned W>
  constexpr ball<W> difference(std::size_t g, std::size_t h) const {
    return unit<W>() * enclosure<W>(nodes[g] - nodes[h], scale.d);
  }

 private:
  template <class T>
  constexpr void from_products(std::span<exponential_term<T> const> terms) {
    of = factor::scale, exponent = dot_exponent<T>;
    auto const& first = terms.front().exponent.dot;
    for (auto const& term : terms) {
      integer<dot_bits<T>> const dot = term.exponent.dot - first;
      nodes.push_back({big_integer::from(dot), {}});
    }
  }
  template <class T>
  constexpr void from_dyadic_scores(std::span<exponential_term<T> const> terms, std::int64_t lowest_bias) {
    std::int64_t const of_products = dot_exponent<T> + scale.given->exponent;
    of = factor::one, exponent = std::min(of_products, lowest_bias);
    big_integer const significand(scale.given->significand);
    std::vector<big_integer> scores;
    for (auto const& term : terms) {
      scores.push_back((big_integer::from(term.exponent.dot) * significand).shifted_up(of_products - exponent) +
                       at_exponent(term.exponent.bias));
      nodes.push_back({scores.back() - scores.front(), {}});
    }
  }
  template <class T>
  constexpr void from_roots(std::span<exponential_term<T> const> terms, std::int64_t lowest_bias) {
    of = factor::inverse_root, exponent = std::min<std::int64_t>(dot_exponent<T>, lowest_bias);
    std::int64_t const root = exact_root(scale.d);
    exact_score<T> const& first = terms.front().exponent;
    for (auto const& term : terms) {
      integer<dot_bits<T>> const dot = term.exponent.dot - first.dot;
      quadratic_integer node{big_integer::from(dot).shifted_up(dot_exponent<T> - exponent),
                             at_exponent(term.exponent.bias) - at_exponent(first.bias)};
      if (root > 0) node.a += node.b * big_integer(root), node.b = {};
      nodes.push_back(std::move(node));
    }
  }
  constexpr big_integer at_exponent(element const& x) const {
    return x.significand == 0 ? big_integer() : big_integer(x.significand).shifted_up(x.exponent - exponent);
  }
  constexpr void take_out_power_of_two() {
    std::int64_t common = -1;
    for (auto const& node : nodes)
      for (big_integer const* part : {&node.a, &node.b})
        if (part->sign() != 0 && (common < 0 || part->trailing_zeros() < common)) common = part->trailing_zeros();
    if (common <= 0) return;
    for (auto& node : nodes) node.a = node.a.shifted_down(common), node.b = node.b.shifted_down(common);
    exponent += common;
  }
};

}  // namespace attest::reference
