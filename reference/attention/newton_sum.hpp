// Σ c_g·e^(s_g) of scores that lie near each other, by Newton's interpolation of exp: the cancellation happens in exact
// integers, which lose nothing.
//
// Theorem N (docs/rounding.md). Let s_0, …, s_(r−1) be distinct, D_i := Π_{h<i} (s_g − s_h) as a function of g, and:
//   C_i := Σ_{g≥i} c_g·D_i(g),   f_i := exp[s_0, …, s_i], the divided difference.
// Then Σ_g c_g·e^(s_g) = Σ_{i<r} C_i·f_i, and not all C_i are 0 unless all c_g are; i!·f_i = e^η for an η between the
// nodes; and the sum without its first K terms is at most max e^s/K!·Σ_{g≥K} |c_g|·|D_K(g)|.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "reference/attention/score_differences.hpp"
#include "reference/real/exp.hpp"
#include "reference/real/expm1.hpp"

namespace attest::reference {

/// A bound on the cost of the exact integers of one sum; beyond it Newton's form stops.
struct newton_budget {
  static constexpr std::int64_t bits = std::int64_t{1} << 20;  ///< of one integer
  std::int64_t limb_products = std::int64_t{1} << 27;          ///< of 64 by 64 bits that are left: 0.2 s
};

/// Newton's form of one cluster: its C_i, exactly, as far as they are asked for.
class newton_form {
 public:
  /// Requires  distinct nodes, the first 0; as many coefficients; no coefficient 0
  constexpr newton_form(score_differences differences, std::vector<big_integer> coefficients)
      : differences_(std::move(differences)), coefficients_(std::move(coefficients)) {
    for (big_integer const& c : coefficients_) {
      products_.push_back({c, {}});
      sizes_.push_back(c.enclosure<128>(0).upper_size());
    }
  }

  /// Σ_g |c_g|
  constexpr magnitude size() const {
    magnitude sum;
    for (big_integer const& c : coefficients_) sum = sum + c.enclosure<128>(0).upper_size();
    return sum;
  }

  /// Σ_g c_g·e^(s_g − s_0). Every s_g − s_0 in [−1/4, 0].
  /// Ensures   a radius of about 2^−W of the largest |C_i·f_i|, unless the budget ended before
  /// Cost      C_0 … C_K up to the first K whose remainder is below that; each costs r products of exact integers and
  ///           W/log2(1/width) products of W bits
  template <unsigned W>
  constexpr ball<W> sum(newton_budget& budget) {
    ball<W> const unit = differences_.unit<W>();
    std::vector<ball<W>> homogeneous(series_length<W>(unit.upper_size()) + 1);  // h_k(s_0 − s_0, …, s_i − s_0)
    homogeneous.front() = ball<W>(1);
    ball<W> result, power(1);  // ρ^i/i!
    magnitude largest, rest, rest_scale(1, 0);
    for (std::size_t i = 0; i < coefficients_.size() && (i < newton_.size() || extend(budget)); ++i) {
      ball<W> const node = unit * enclosure<W>(differences_.nodes[i], differences_.scale.d);
      for (std::size_t k = 1; k < homogeneous.size(); ++k) homogeneous[k] = homogeneous[k] + node * homogeneous[k - 1];
      if (!newton_[i].is_zero()) {
        ball<W> const term = enclosure<W>(newton_[i], differences_.scale.d) * power * mean_exponential(homogeneous, i);
        result = result + term;
        if (largest <= term.upper_size()) largest = term.upper_size();
      }
      ball<W> const next(static_cast<std::int64_t>(i) + 1);
      power = power * unit / next;
      rest_scale = divide_by_lower(rest_scale * unit.upper_size(), magnitude(i + 1, 0));
      rest = rests_[i] * rest_scale;
      if (rest.scaled(W) <= largest) break;
    }
    result.radius = result.radius + rest;
    return exhausted_ ? narrower(result, by_differences<W>(unit)) : result;
  }

 private:
  template <unsigned W>
  static constexpr ball<W> narrower(ball<W> const& x, ball<W> const& y) {
    return x.radius <= y.radius ? x : y;
  }

  /// The same sum as Σ c_g + Σ c_g·(e^(s_g − s_0) − 1), which needs no products.
  template <unsigned W>
  constexpr ball<W> by_differences(ball<W> const& unit) const {
    ball<W> sum = enclosure<W>(newton_.front(), differences_.scale.d);
    for (std::size_t g = 1; g < coefficients_.size(); ++g)
      sum = sum + coefficients_[g].template enclosure<W>(0) *
                      expm1(unit * enclosure<W>(differences_.nodes[g], differences_.scale.d));
    return sum;
  }

  /// The next C_i, and the sum of |c_g|·|D_(i+1)(g)| over the g behind it. False if the budget ends.
  constexpr bool extend(newton_budget& budget) {
    std::size_t const i = newton_.size();
    if (exhausted_ || !multiply(i, budget)) return false;
    quadratic_integer coefficient;
    for (std::size_t g = i; g < products_.size(); ++g) coefficient += products_[g];
    magnitude rest;
    for (std::size_t g = i + 1; g < products_.size(); ++g) {
      quadratic_integer const apart = differences_.nodes[g] - differences_.nodes[i];
      sizes_[g] = sizes_[g] * enclosure<128>(apart, differences_.scale.d).upper_size();
      rest = rest + sizes_[g];
    }
    newton_.push_back(std::move(coefficient));
    rests_.push_back(rest);
    return true;
  }

  /// products_[g] = c_g·D_i(g) for g ≥ i, from c_g·D_(i−1)(g).
  constexpr bool multiply(std::size_t i, newton_budget& budget) {
    if (i == 0) return true;
    for (std::size_t g = i; g < products_.size(); ++g) {
      quadratic_integer const apart = differences_.nodes[g] - differences_.nodes[i - 1];
      budget.limb_products -= (products_[g].bit_length() / 64 + 1) * (apart.bit_length() / 64 + 1);
      exhausted_ =
          products_[g].bit_length() + apart.bit_length() + 64 > newton_budget::bits || budget.limb_products < 0;
      if (exhausted_) return false;
      products_[g] = product(products_[g], apart, differences_.scale.d);
    }
    return true;
  }

  /// The least N ≥ 0 with w^(N+1)/(N+1)! ≤ 2^(−W−8), w ≥ |s_g − s_0|.
  template <unsigned W>
  constexpr std::size_t series_length(magnitude const& unit) {
    magnitude width;
    for (quadratic_integer const& node : differences_.nodes) {
      magnitude const apart = unit * enclosure<128>(node, differences_.scale.d).upper_size();
      if (width <= apart) width = apart;
    }
    magnitude term = width;  // w^(N+1)/(N+1)!
    std::size_t length = 0;
    while (!(term <= magnitude::power_of_two(-static_cast<std::int64_t>(W) - 8))) {
      ++length;
      term = divide_by_lower(term * width, magnitude(length + 1, 0));
    }
    return length;
  }

  /// i!·f_i·e^(−s_0) = Σ_k h_k·i!/(i + k)!, in [e^(−1/4), 1].
  /// Why       |h_k| ≤ (k + i choose k)·w^k, so the term k is at most w^k/k!, and what is left out below 2^(−W−7)
  template <unsigned W>
  static constexpr ball<W> mean_exponential(std::vector<ball<W>> const& homogeneous, std::size_t i) {
    ball<W> sum = homogeneous.back();
    for (std::size_t k = homogeneous.size() - 1; k-- > 0;)
      sum = homogeneous[k] + sum / ball<W>(static_cast<std::int64_t>(i + k + 1));
    sum.radius = sum.radius + magnitude::power_of_two(-static_cast<std::int64_t>(W) - 7);
    return sum;
  }

  score_differences differences_;
  std::vector<big_integer> coefficients_;
  std::vector<quadratic_integer> products_;  ///< c_g·D_i(g) for g ≥ i, i the last of newton_
  std::vector<magnitude> sizes_;             ///< |c_g|·|D_(i+1)(g)| for g > i, in units of ρ^(i+1)
  std::vector<quadratic_integer> newton_;    ///< C_i in units of ρ^i
  std::vector<magnitude> rests_;             ///< Σ_{g>i} |c_g|·|D_(i+1)(g)| in units of ρ^(i+1)
  bool exhausted_ = false;                   ///< the budget ended before the last C_i
};

/// Σ c_g·e^(s_g) without softcap, in clusters: each by Newton's form, the exponentials between them at W bits.
/// Clusters    runs of scores that are at most θ apart, 1/(16n) < θ ≤ 1/(8n): a cluster is at most 1/8 wide, and scores
///             in two clusters are more than 1/(16n) apart
class newton_sum {
 public:
  /// Requires  distinct scores, falling; no coefficient 0
  template <class T>
  constexpr newton_sum(score_rule const& rule, std::span<exponential_term<T> const> terms) {
    int common = trailing_zeros(terms.front().coefficient.value);
    for (auto const& term : terms) common = std::min(common, trailing_zeros(term.coefficient.value));
    coefficient_exponent_ = exact_coefficient::unit + common;
    magnitude const most = magnitude::power_of_two(-3 - static_cast<std::int64_t>(std::bit_width(terms.size())));
    for (std::size_t first = 0, end = 0; first < terms.size(); first = end) {
      for (end = first + 1; end < terms.size(); ++end) {
        score_differences const apart = score_differences::of_terms(rule, terms.subspan(end - 1, 2));
        if (!(apart.difference<128>(0, 1).upper_size() <= most)) break;
      }
      std::vector<big_integer> coefficients;
      for (auto const& term : terms.subspan(first, end - first))
        coefficients.push_back(big_integer::from(term.coefficient.value).shifted_down(common));
      std::array const ends{terms.front(), terms[first]};
      clusters_.push_back(
          {score_differences::of_terms(rule, std::span<exponential_term<T> const>(ends)),
           newton_form(score_differences::of_terms(rule, terms.subspan(first, end - first)), std::move(coefficients))});
    }
    magnitude size;
    for (std::size_t at = clusters_.size(); at-- > 0;) {
      size = size + clusters_[at].form.size();
      clusters_[at].size_from_here = size;
    }
  }

  /// Σ c_g·e^(s_g − s_0), s_0 the first score.
  template <unsigned W>
  constexpr ball<W> sum() {
    ball<W> result;
    for (cluster& part : clusters_) {
      ball<W> const below = part.below_lead.difference<W>(1, 0);
      magnitude const rest = part.size_from_here.scaled(-whole_part(below.lower_size()));  // e^−x ≤ 2^−⌊x⌋
      if (rest.scaled(W) <= result.lower_size()) {
        result.radius = result.radius + rest;
        break;
      }
      result = result + exp(below) * part.form.sum<W>(budget_);
    }
    return result.scaled_by_power_of_two(coefficient_exponent_);
  }

 private:
  struct cluster {
    score_differences below_lead;  ///< of the first score of all and the first of the cluster
    newton_form form;
    magnitude size_from_here{};  ///< Σ |c_g| of this cluster and those below
  };

  /// ⌊x⌋, or 2⁵⁸ if x is larger.
  static constexpr std::int64_t whole_part(magnitude const& x) noexcept {
    auto const mantissa = static_cast<std::int64_t>(x.mantissa());
    if (x.exponent() > 26) return std::int64_t{1} << 58;
    return x.exponent() >= 0 ? mantissa << x.exponent() : mantissa >> std::min<std::int64_t>(-x.exponent(), 62);
  }

  std::vector<cluster> clusters_;
  newton_budget budget_;
  int coefficient_exponent_ = 0;
};

}  // namespace attest::reference
