// The sign of Σ_j c_j·e^(s_j) over the keys of a row, decided exactly: correct rounding of O, weights and LSE needs
// nothing else.
//
// Theorem (Lindemann–Weierstrass; docs/rounding.md). Let the s_g be distinct algebraic numbers and the c_g algebraic.
// Then Σ c_g·e^(s_g) = 0 only if every c_g = 0. Scores without softcap are algebraic: σ² is rational, everything else
// dyadic. So after equal scores are grouped and zero coefficients dropped, either nothing is left and the sum is 0, or
// the sum is not 0. Theorem N (newton_sum.hpp) then shows its sign with no width at all, unless terms of different
// orders cancel.
//
// With softcap the scores are transcendental, and no such theorem is known for sums. Equal scores are still grouped,
// which proves a sum to be 0 if all coefficients vanish (constant V, equal keys). If the order of the scores is known
// exactly, it alone may decide (order_decides). A sum that no width separates from 0 remains undecided.
//
// In base 2, e^(s_g) is a power of two. Theorem T6 (powers_of_two.hpp) says which sums are 0: sums without a term that
// is left once the powers of one residue are gathered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "reference/attention/exponential_term.hpp"
#include "reference/attention/newton_sum.hpp"
#include "reference/attention/powers_of_two.hpp"
#include "reference/attention/softcap.hpp"
#include "reference/real/any_function.hpp"
#include "reference/real/ball.hpp"
#include "reference/real/expm1.hpp"
#include "reference/real/log.hpp"

namespace attest::reference {

/// The largest widths that are tried before a sign remains undecided: without softcap, and with softcap, for which
/// every exponential of a row needs that width (at 4096 bits, twelve keys would take 0.1 s).
inline constexpr unsigned last_width = 4096, last_capped_width = 1152;

/// A group of equal scores, and the sum of its coefficients, not 0.
struct group_term {
  std::size_t group;
  integer<exact_coefficient::bits> coefficient;
};

/// The sums over one row. What depends on the scores alone is computed once, whatever the coefficients: the groups of
/// equal scores, their order, and at each width the exponentials of their differences.
template <class T>
class exponential_sums {
 public:
  using exact = integer<exact_coefficient::bits>;

  /// Requires  finite scores
  /// Cost      sorts them
  constexpr exponential_sums(score_rule const& rule, std::vector<exact_score<T>> const& scores)
      : rule_(rule), group_of_(scores.size()) {
    std::vector<std::size_t> by_group(scores.size());
    for (std::size_t j = 0; j < scores.size(); ++j) by_group[j] = j;
    std::sort(by_group.begin(), by_group.end(),
              [&](std::size_t a, std::size_t b) { return grouping_order(rule, scores[a], scores[b]) > 0; });
    for (std::size_t const j : by_group) {
      if (groups_.empty() || grouping_order(rule, groups_.back(), scores[j]) != 0) groups_.push_back(scores[j]);
      group_of_[j] = groups_.size() - 1;
    }
    if (rule.capped()) sort_by_value();
    if (rule.in_base_2()) find_powers();
    unsure_steps_.assign(groups_.size(), 0);
    for (std::size_t g = 1; g < groups_.size(); ++g) unsure_steps_[g] = unsure_steps_[g - 1] + !surely_falls_to(g);
  }

  /// sign(Σ_j c_j·e^(s_j)), c_j = coefficient(j) as an integer of exact_coefficient's unit: −1, 0, 1, or nothing if
  /// neither the order of the scores, nor theorem N, nor a width up to the last one decides it.
  ///
  /// Groups far below the leading one do not matter at any width, since balls have exponents of their own. The leading
  /// group has the largest score among groups whose coefficient is not 0; it need not hold the row's maximum.
  template <class Coefficient>
  constexpr std::optional<int> sign(Coefficient const& coefficient) {
    return sign_of(terms_of(calls<exact(std::size_t), Coefficient>(coefficient)));
  }

  /// Σ_j c_j·e^(s_j)/Σ_j e^(s_j).
  /// Ensures   relative precision 2^−W if the coefficients cancel to the first order, and without softcap to any
  template <unsigned W, class Coefficient>
  constexpr ball<W> mean(Coefficient const& coefficient) {
    return mean_of<W>(terms_of(calls<exact(std::size_t), Coefficient>(coefficient)));
  }

  /// ln Σ_j e^(s_j).
  template <unsigned W>
  constexpr ball<W> log_sum() {
    std::vector<group_term> const whole = all();
    return at_width<W>().scores.difference(groups_[whole.front().group], exact_score<T>{}) + log(sum<W>(whole));
  }

 private:
  constexpr std::optional<int> sign_of(std::vector<group_term> const& terms) {
    if (terms.empty()) return 0;
    if (order_decides(terms)) return terms.front().coefficient.sign();
    int found = certain_sign(sum<128>(terms));
    if (found == 0) found = certain_sign(sum<256>(terms));
    if (found == 0 && !rule_.capped()) {
      newton_sum newton = newton_sum_of(terms);
      found = certain_sign(newton.template sum<128>());
      if (found == 0) found = certain_sign(newton.template sum<1152>());
      if (found == 0) found = certain_sign(newton.template sum<last_width>());
    } else if (found == 0) {
      found = certain_sign(sum<last_capped_width>(terms));
    }
    return found == 0 ? std::nullopt : std::optional(found);
  }

  template <unsigned W>
  constexpr ball<W> mean_of(std::vector<group_term> const& terms) {
    if (terms.empty()) return {};
    ball<W> total = sum<W>(terms);
    if (certain_sign(total) == 0 && !rule_.capped()) total = newton_sum_of(terms).template sum<W>();
    std::vector<group_term> const whole = all();
    return total * at_width<W>().below_lead(*this, terms.front().group, whole.front().group) / sum<W>(whole);
  }

  /// The values that the scores give at W bits. Each value is kept with the group against which it was computed, since
  /// most sums of a row need the same.
  template <unsigned W>
  struct width {
    struct value {
      std::size_t against;
      bool near;  ///< the scores differ by at most 1/8
      ball<W> of;
    };
    static constexpr std::size_t nothing = ~std::size_t{0};

    scores_at<W> scores;
    std::vector<value> rises{}, ratios{};

    constexpr width(exponential_sums const& row)
        : scores(row.rule_),
          rises(row.groups_.size(), {nothing, false, {}}),
          ratios(row.groups_.size(), {nothing, false, {}}) {}

    /// e^(s_g − s_first) − 1, if the two are near each other.
    constexpr value const& rise(exponential_sums const& row, std::size_t g, std::size_t first) {
      value& kept = rises[g];
      if (kept.against == first) return kept;
      kept.against = first;
      ball<W> const apart = scores.difference(row.groups_[g], row.groups_[first]);
      kept.near = apart.upper_size() <= magnitude::power_of_two(-3);
      if (kept.near) kept.of = expm1(apart);
      return kept;
    }
    /// e^(s_g − s_lead); anything if the enclosure of the difference reaches too far above 0.
    constexpr ball<W> const& below_lead(exponential_sums const& row, std::size_t g, std::size_t lead) {
      value& kept = ratios[g];
      if (kept.against == lead) return kept.of;
      kept.against = lead;
      ball<W> const below = scores.difference(row.groups_[g], row.groups_[lead]);
      if (certain_sign(below) >= 0 && !(below.upper_size() <= magnitude::power_of_two(59))) {
        kept.of = {};
        kept.of.radius = magnitude::power_of_two(2 * exponent_limit);
      } else {
        kept.of = exp(below);
      }
      return kept.of;
    }
  };

  template <unsigned W>
  constexpr width<W>& at_width() {
    auto& kept = std::get<std::vector<width<W>>>(widths_);
    if (kept.empty()) kept.emplace_back(*this);
    return kept.front();
  }

  constexpr std::vector<group_term> terms_of(any_function<exact(std::size_t)> const& coefficient) const {
    std::vector<exact> sums(groups_.size());
    for (std::size_t j = 0; j < group_of_.size(); ++j) sums[group_of_[j]] += coefficient(j);
    std::vector<group_term> terms;
    if (powers_) {
      powers_->gather([&](std::size_t g) -> exact const& { return sums[g]; },
                      [&](std::size_t g, exact const& c) { terms.push_back({g, c}); });
      std::sort(terms.begin(), terms.end(), [](group_term const& a, group_term const& b) { return a.group < b.group; });
      return terms;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (sums[g].sign() != 0) terms.push_back({g, std::move(sums[g])});
    return terms;
  }

  constexpr std::vector<group_term> all() const {
    auto const one = [](std::size_t) { return exact_coefficient::at_unit({number_class::finite, 1, 0}); };
    return terms_of(calls<exact(std::size_t), decltype(one)>(one));
  }

  constexpr newton_sum newton_sum_of(std::vector<group_term> const& terms) const {
    std::vector<exponential_term<T>> scored;
    for (group_term const& t : terms) scored.push_back({groups_[t.group], {t.coefficient}});
    return newton_sum(rule_, std::span<exponential_term<T> const>(scored));
  }

  constexpr void find_powers() {
    if (groups_.empty()) return;
    std::vector<exponential_term<T>> all;
    for (exact_score<T> const& score : groups_) all.push_back({score, {}});
    powers_.emplace(rule_, std::span<exponential_term<T> const>(all));
  }

  /// Σ c_g·e^(s_g − s_lead), s_lead the first score of the terms. Adjacent terms whose scores differ by at most 1/8
  /// from the first one's, s, are summed as e^s·(Σ c_g + Σ c_g·expm1(s_g − s)) with Σ c_g exact: if the coefficients
  /// cancel, the small differences that remain are known to W bits.
  template <unsigned W>
  constexpr ball<W> sum(std::vector<group_term> const& terms) {
    width<W>& known = at_width<W>();
    auto const coefficient = [](exact const& c) { return ball<W>::from(c, exact_coefficient::unit); };
    ball<W> result;
    for (std::size_t at = 0; at < terms.size();) {
      std::size_t const first = terms[at].group;
      exact whole = terms[at].coefficient;
      ball<W> rest;
      for (++at; at < terms.size(); ++at) {
        auto const& rise = known.rise(*this, terms[at].group, first);
        if (!rise.near) break;
        whole += terms[at].coefficient;
        rest = rest + coefficient(terms[at].coefficient) * rise.of;
      }
      result = result + known.below_lead(*this, first, terms.front().group) * (coefficient(whole) + rest);
    }
    return result;
  }

  /// Does the order of the scores alone give the sum the sign of its first coefficient?
  /// Why       s_1 > s_2 > …, S_i := c_1 + … + c_i: Σ c_i·e^(s_i) = Σ_{i<r} S_i·(e^(s_i) − e^(s_(i+1))) + S_r·e^(s_r)
  ///           (Abel). If no S_i has the other sign, no term has. If S_i = 0, the order of s_i and s_(i+1) does not
  ///           matter
  constexpr bool order_decides(std::vector<group_term> const& terms) const noexcept {
    int const sign = terms.front().coefficient.sign();
    exact sum = 0;
    for (std::size_t at = 0; at < terms.size(); ++at) {
      sum += terms[at].coefficient;
      if (sum.sign() == -sign) return false;
      if (sum.sign() != 0 && at + 1 < terms.size() &&
          unsure_steps_[terms[at].group] != unsure_steps_[terms[at + 1].group])
        return false;
    }
    return true;
  }

  /// With softcap the groups arrive in grouping_order, which is not the order of the values. They are sorted by the
  /// midpoints of their enclosures; scores of one bias whose midpoints agree are sorted by their products.
  constexpr void sort_by_value() {
    scores_at<128> const scores(rule_);
    std::vector<ball<128>> middles;
    for (exact_score<T> const& score : groups_) {
      ball<128> const enclosure = scores.difference(score, exact_score<T>{});
      middles.push_back(ball<128>::from(enclosure.mid, enclosure.exponent));
    }
    std::vector<std::size_t> places(groups_.size());
    for (std::size_t g = 0; g < places.size(); ++g) places[g] = g;
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      if (int const above = (middles[a] - middles[b]).mid.sign(); above != 0) return above > 0;
      element const x = detail::canonical(groups_[a].bias), y = detail::canonical(groups_[b].bias);
      if (x.exponent != y.exponent) return x.exponent > y.exponent;
      if (x.significand != y.significand) return x.significand > y.significand;
      return order_of_products(rule_, groups_[a], groups_[b]) > 0;
    });
    std::vector<exact_score<T>> sorted;
    std::vector<std::size_t> place_of(places.size());
    for (std::size_t g = 0; g < places.size(); ++g) {
      sorted.push_back(std::move(groups_[places[g]]));
      place_of[places[g]] = g;
    }
    groups_ = std::move(sorted);
    for (std::size_t& group : group_of_) group = place_of[group];
  }

  /// Is s_(g−1) > s_g proven?
  constexpr bool surely_falls_to(std::size_t g) const noexcept {
    if (!rule_.capped()) return true;
    exact_score<T> const &above = groups_[g - 1], &below = groups_[g];
    element const x = detail::canonical(above.bias), y = detail::canonical(below.bias);
    if (x.exponent == y.exponent && x.significand == y.significand) return order_of_products(rule_, above, below) > 0;
    return certain_sign(scores_at<128>(rule_).difference(above, below)) > 0;
  }

  score_rule rule_;
  std::vector<exact_score<T>> groups_{};  ///< distinct scores; without softcap they fall
  std::vector<std::size_t> group_of_;     ///< of each key
  std::vector<std::size_t>
      unsure_steps_{};  ///< steps from one group to the next, up to this one, that are not proven to fall
  std::optional<powers_of_two> powers_{};  ///< in base 2
  std::tuple<std::vector<width<128>>, std::vector<width<256>>, std::vector<width<last_capped_width>>> widths_{};
};

}  // namespace attest::reference
