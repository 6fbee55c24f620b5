// The sign of Σ_g c_g·e^(s_g), decided exactly: correct rounding of O, weights and LSE needs nothing else.
//
// Theorem (Lindemann–Weierstrass; docs/rounding.md). Let the s_g be distinct algebraic numbers and the c_g algebraic.
// Then Σ c_g·e^(s_g) = 0 only if every c_g = 0. Scores without softcap are algebraic: σ² is rational, everything else
// dyadic. So after equal scores are grouped and zero coefficients dropped, either nothing is left and the sum is 0, or
// the sum is not 0 and some finite width shows its sign.
//
// With softcap the scores are transcendental, and no such theorem is known for sums. Equal scores are still grouped,
// which proves a sum to be 0 if all coefficients vanish (constant V, equal keys); a sum that no width separates from 0
// remains undecided.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "reference/attention/softcap.hpp"
#include "reference/real/ball.hpp"
#include "reference/real/expm1.hpp"

namespace attest::reference {

/// A coefficient c, exactly: an integer in units of 2^unit, wide enough for sums of n < 2^63 differences of values of
/// any element type, and for n·t with t a boundary of f64.
struct exact_coefficient {
  static constexpr unsigned bits = 1200 + 1024 + 64 + 144;
  static constexpr int unit = -1200;

  integer<bits> value = 0;

  static constexpr integer<bits> at_unit(element const& x) noexcept {
    return x.significand == 0 ? integer<bits>(0) : shifted(integer<bits>(x.significand), x.exponent - unit);
  }
};

template <class T>
struct exponential_term {
  exact_score<T> exponent{};
  exact_coefficient coefficient{};
};

/// The largest width that is tried before a sign remains undecided.
inline constexpr unsigned last_width = 4096;

namespace detail {

/// Sorts by score, the largest first, so that nearly equal ones are adjacent. With softcap the terms arrive in
/// grouping_order, which is not the order of the values, and are sorted by the midpoints of their enclosures.
template <class T>
constexpr void sort_by_value(score_rule const& rule, std::vector<exponential_term<T>>& terms) {
  if (!rule.capped()) return;
  scores_at<128> const scores(rule);
  std::vector<std::pair<ball<128>, std::size_t>> places;
  for (std::size_t g = 0; g < terms.size(); ++g) {
    ball<128> const score = scores.difference(terms[g].exponent, exact_score<T>{});
    places.emplace_back(ball<128>::from(score.mid, score.exponent), g);
  }
  std::sort(places.begin(), places.end(),
            [](auto const& a, auto const& b) { return (a.first - b.first).mid.sign() > 0; });
  std::vector<exponential_term<T>> sorted;
  for (auto const& place : places) sorted.push_back(std::move(terms[place.second]));
  terms = std::move(sorted);
}

/// Adjacent terms whose scores differ by at most 1/8 from the first one's, s, are summed as
/// e^s·(Σ c_g + Σ c_g·expm1(s_g − s)) with Σ c_g exact: if the coefficients cancel, the small differences that remain
/// are known to W bits.
template <unsigned W, class T>
constexpr int sign_at_width(score_rule const& rule, std::vector<exponential_term<T>> const& terms) noexcept {
  scores_at<W> const scores(rule);
  auto const coefficient = [](auto const& c) { return ball<W>::from(c, exact_coefficient::unit); };
  ball<W> sum;
  for (std::size_t g = 0; g < terms.size();) {
    exponential_term<T> const& first = terms[g];
    ball<W> const below_lead = scores.difference(first.exponent, terms.front().exponent);
    if (certain_sign(below_lead) >= 0 && !(below_lead.upper_size() <= magnitude::power_of_two(59))) return 0;
    auto whole = first.coefficient.value;
    ball<W> rest;
    for (++g; g < terms.size(); ++g) {
      ball<W> const from_first = scores.difference(terms[g].exponent, first.exponent);
      if (!(from_first.upper_size() <= magnitude::power_of_two(-3))) break;
      whole += terms[g].coefficient.value;
      rest = rest + coefficient(terms[g].coefficient.value) * expm1(from_first);
    }
    sum = sum + exp(below_lead) * (coefficient(whole) + rest);
  }
  return certain_sign(sum);
}

}  // namespace detail

/// sign(Σ c·e^s): −1, 0, 1, or nothing if no width up to last_width decides it.
///
/// Groups far below the leading one do not matter at any width, since balls have exponents of their own. The leading
/// group is the one with the largest score among those whose coefficient is not 0; it need not hold the row's maximum.
/// Cost      sort n exact scores; groups × widths exponentials
template <class T>
constexpr std::optional<int> sign_of_exponential_sum(score_rule const& rule, std::vector<exponential_term<T>> terms) {
  std::sort(terms.begin(), terms.end(),
            [&](auto const& a, auto const& b) { return grouping_order(rule, a.exponent, b.exponent) > 0; });
  std::vector<exponential_term<T>> groups;
  for (auto& term : terms) {
    if (!groups.empty() && grouping_order(rule, groups.back().exponent, term.exponent) == 0) {
      groups.back().coefficient.value += term.coefficient.value;
      continue;
    }
    if (!groups.empty() && groups.back().coefficient.value.sign() == 0) groups.pop_back();
    groups.push_back(std::move(term));
  }
  if (!groups.empty() && groups.back().coefficient.value.sign() == 0) groups.pop_back();
  if (groups.empty()) return 0;
  if (std::all_of(groups.begin(), groups.end(),
                  [&](auto const& g) { return g.coefficient.value.sign() == groups.front().coefficient.value.sign(); }))
    return groups.front().coefficient.value.sign();
  detail::sort_by_value(rule, groups);
  int sign = detail::sign_at_width<128>(rule, groups);
  if (sign == 0) sign = detail::sign_at_width<256>(rule, groups);
  if (sign == 0) sign = detail::sign_at_width<1152>(rule, groups);
  if (sign == 0) sign = detail::sign_at_width<last_width>(rule, groups);
  return sign == 0 ? std::nullopt : std::optional(sign);
}

}  // namespace attest::reference
