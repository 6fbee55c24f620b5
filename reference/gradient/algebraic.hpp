// Gradients that are algebraic numbers, exactly: what no width of an enclosure can tell from a boundary of a format.
//
// Theorem (docs/rounding.md). A row's term of an element is Σ_{a,b} c_ab·e^(s_a + s_b)/Σ_{a,b} e^(s_a + s_b) with
// algebraic c_ab, in own and recorded mode: of dS and what it multiplies c_ab = x_a·(W_a − W_b), and of dV Σ_a
// c_a·e^(s_a)/Σ_a e^(s_a). Gather the pairs whose s_a + s_b are equal. The term is an algebraic number iff the sums of
// the c_ab of all gatherings are to their counts as one number r, which it then is (Lindemann–Weierstrass). So an
// element with one row whose term is none lies on no boundary.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "reference/attention/score_differences.hpp"
#include "reference/gradient/exact.hpp"
#include "reference/real/big_integer.hpp"

namespace attest::reference {

/// number·2^exponent/divisor, divisor > 0.
struct fraction {
  big_integer number{};
  std::int64_t exponent = 0;
  big_integer divisor{1};

  constexpr fraction& operator+=(fraction const& other) {
    if (other.number.sign() == 0) return *this;
    if (number.sign() == 0) return *this = other;
    big_integer mine = number, its = other.number;
    if (!(divisor == other.divisor)) {
      mine = mine * other.divisor, its = its * divisor;
      divisor = divisor * other.divisor;
    }
    std::int64_t const unit = std::min(exponent, other.exponent);
    number = mine.shifted_up(exponent - unit) + its.shifted_up(other.exponent - unit);
    exponent = unit;
    return *this;
  }
};

/// The sign of a·2^x − b·2^y.
constexpr int sign_of_difference(big_integer const& a, std::int64_t x, big_integer const& b, std::int64_t y) {
  std::int64_t const unit = std::min(x, y);
  return (a.shifted_up(x - unit) - b.shifted_up(y - unit)).sign();
}

namespace gradient_detail {

/// One gathering: the sum of its coefficients, in the unit of the term, and how many terms it has.
struct gathering {
  quadratic_integer exponent{};  ///< s_a + s_b − 2s_0 over the unit of the scores
  big_integer coefficient{}, count{};
};

constexpr std::strong_ordering order_of(quadratic_integer const& x, quadratic_integer const& y) {
  if (int const a = (x.a - y.a).sign(); a != 0) return a <=> 0;
  return (x.b - y.b).sign() <=> 0;
}

/// The r of the theorem, with the coefficients in units of 2^exponent. Gatherings of equal exponents may be several.
constexpr std::optional<fraction> common_ratio(std::vector<gathering> list, bool exponents_are_known,
                                               std::int64_t exponent) {
  if (exponents_are_known) {
    std::sort(list.begin(), list.end(),
              [](auto const& x, auto const& y) { return order_of(x.exponent, y.exponent) < 0; });
    std::size_t last = 0;
    for (std::size_t at = 1; at < list.size(); ++at)
      if (order_of(list[last].exponent, list[at].exponent) == 0) {
        list[last].coefficient += list[at].coefficient, list[last].count += list[at].count;
      } else {
        list[++last] = list[at];
      }
    list.resize(last + 1);
  }
  for (gathering const& each : list)
    if (!(each.coefficient * list.front().count == list.front().coefficient * each.count)) return std::nullopt;
  return fraction{list.front().coefficient, exponent, list.front().count};
}

/// The keys of one row in groups of equal scores, with their exact numbers.
template <class T>
struct exact_groups {
  std::vector<exponential_term<T>> scores;  ///< of each group
  std::vector<std::size_t> of_key;
  std::vector<big_integer> W, x;  ///< of each key: W_a without 1/(1 − p), in units of 2^dot_exponent; x_a
  std::int64_t unit_of_x = 0;
};

/// How an element multiplies dS of a key: by K, Q or 1.
template <unsigned W, class T>
constexpr element multiplier(problem::instance<T> const& p, exact_gradient_row<W, T> const& mine,
                             gradient_index const& at, std::int64_t j) {
  auto const& row = mine.row;
  element const one{number_class::finite, 1, 0}, none{number_class::finite, 0, 0};
  switch (at.which) {
    case gradient::dq: return j == sink_index ? none : value_of(p.k()(row.b, key_head(p.size(), row.h), j, at.x));
    case gradient::dk: return j == at.i ? value_of(p.q()(row.b, row.h, row.i, at.x)) : none;
    case gradient::dbias: return j == at.x ? one : none;
    case gradient::dsink: return j == sink_index ? one : none;
    case gradient::dv: return j == at.i ? one : none;
  }
  return none;
}

template <unsigned W, class T>
constexpr exact_groups<T> groups_of(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                    exact_gradient_row<W, T> const& mine, gradient_index const& at) {
  auto const& row = mine.row;
  std::size_t const n = row.keys.size();
  exact_groups<T> found;
  std::vector<std::size_t> by_score(n);
  for (std::size_t a = 0; a < n; ++a) by_score[a] = a;
  std::sort(by_score.begin(), by_score.end(), [&](std::size_t a, std::size_t b) {
    return grouping_order(row.rule, row.keys[a].score, row.keys[b].score) > 0;
  });
  found.of_key.resize(n);
  for (std::size_t const a : by_score) {
    auto const& score = row.keys[a].score;
    if (found.scores.empty() || grouping_order(row.rule, found.scores.back().exponent, score) != 0)
      found.scores.push_back({score, {}});
    found.of_key[a] = found.scores.size() - 1;
  }
  std::vector<element> x;
  for (std::size_t a = 0; a < n; ++a) {
    std::int64_t const j = row.keys[a].j;
    x.push_back(multiplier(p, mine, at, j));
    if (x.back().significand != 0) found.unit_of_x = std::min<std::int64_t>(found.unit_of_x, x.back().exponent);
    big_integer product;
    if (j != sink_index && !mine.keys[a].dropped)
      product = big_integer::from(
          exact_dot(inputs.d_o.row(row.b, row.h, row.i), p.v().row(row.b, key_head(p.size(), row.h), j), p.size().dv)
              .dot);
    found.W.push_back(std::move(product));
  }
  for (element const& each : x)
    found.x.push_back(each.significand == 0
                          ? big_integer()
                          : big_integer(each.significand).shifted_up(each.exponent - found.unit_of_x));
  return found;
}

/// Of the keys that the element multiplies: is every g′ exactly 1 (a product of 0), or one number?
enum class slopes { one, equal, different };
template <unsigned W, class T>
constexpr slopes slopes_of(exact_gradient_row<W, T> const& mine, gradient_index const& at, exact_groups<T> const& of) {
  if (!mine.row.rule.capped() || (at.which != gradient::dq && at.which != gradient::dk)) return slopes::one;
  exact_score<T> const* first = nullptr;
  for (std::size_t a = 0; a < of.x.size(); ++a) {
    if (of.x[a].sign() == 0) continue;
    auto const& score = mine.row.keys[a].score;
    if (first == nullptr) first = &score;
    if (score.saturated != first->saturated || score.dot != first->dot) return slopes::different;
  }
  return first == nullptr || (first->saturated == 0 && first->dot.sign() == 0) ? slopes::one : slopes::equal;
}

/// More groups than this make too many pairs.
inline constexpr std::size_t most_groups = 256;

/// The row's term of dV, without 1/(1 − p), if it is a rational number.
template <unsigned W, class T>
constexpr std::optional<fraction> rational_term_of_dV(exact_gradient_row<W, T> const& mine, exact_groups<T> const& of,
                                                      element const& d_o) {
  std::vector<gathering> list(of.scores.size());
  for (std::size_t a = 0; a < of.x.size(); ++a) {
    auto& each = list[of.of_key[a]];
    each.count += big_integer(1);
    if (!mine.keys[a].dropped) each.coefficient += of.x[a] * big_integer(d_o.significand);
  }
  return common_ratio(std::move(list), false, d_o.exponent);
}

/// The row's term of the element without σ and 1/(1 − p), as a rational number. Returns nothing if it is irrational;
/// or, beside a softcap, if it may be. Requires  the row contributes, its kinds are finite, not local mode
template <unsigned W, class T>
constexpr std::optional<fraction> rational_term(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                                exact_gradient_row<W, T> const& mine, gradient_index const& at) {
  exact_groups<T> const of = groups_of(p, inputs, mine, at);
  if (at.which == gradient::dv)
    return rational_term_of_dV(mine, of, value_of(inputs.d_o(mine.row.b, mine.row.h, mine.row.i, at.x)));
  std::size_t const groups = of.scores.size();
  bool const all_equal = std::ranges::all_of(of.W, [&](big_integer const& each) { return each == of.W.front(); });
  bool const no_factor = std::ranges::all_of(of.x, [](big_integer const& each) { return each.sign() == 0; });
  if (all_equal || no_factor) return fraction{};
  slopes const g = slopes_of(mine, at, of);
  if (groups > most_groups || g == slopes::different) return std::nullopt;
  std::vector<big_integer> n(groups), W_sum(groups), x_sum(groups), product(groups);
  for (std::size_t a = 0; a < of.x.size(); ++a) {
    std::size_t const to = of.of_key[a];
    n[to] += big_integer(1), W_sum[to] += of.W[a], x_sum[to] += of.x[a], product[to] += of.W[a] * of.x[a];
  }
  bool const capped = mine.row.rule.capped();
  std::vector<quadratic_integer> nodes(groups);
  if (!capped) nodes = score_differences::of_terms<T>(mine.row.rule, of.scores).nodes;
  std::vector<gathering> list;
  for (std::size_t a = 0; a < groups; ++a)
    for (std::size_t b = a; b < groups; ++b) {
      gathering pair{nodes[a], n[b] * product[a] - x_sum[a] * W_sum[b], n[a] * n[b]};
      pair.exponent += nodes[b];
      if (a != b) {
        pair.coefficient += n[a] * product[b] - x_sum[b] * W_sum[a];
        pair.count += n[a] * n[b];
      }
      list.push_back(std::move(pair));
    }
  auto const ratio = common_ratio(std::move(list), !capped, dot_exponent<T> + of.unit_of_x);
  return g == slopes::one || (ratio && ratio->number.sign() == 0) ? ratio : std::nullopt;
}

}  // namespace gradient_detail

/// An element as an exact number: σ (of dQ and dK) and 1/(1 − p) stand beside the fraction.
template <class T>
struct algebraic_gradient {
  problem::instance<T> const* p = nullptr;
  bool scaled = false;
  fraction sum{};

  /// sign(x − t). Of σ = 1/√d: sign(r − t√d), by squares.
  constexpr int sign_against(element const& t) const {
    big_integer bound(t.significand), number = sum.number;
    std::int64_t of_bound = t.exponent, of_number = sum.exponent;
    if (double const dropout = dropout_of(*p); dropout > 0) {
      element const lost = detail::canonical(value_of(dropout));
      std::int64_t const unit = std::min<std::int64_t>(lost.exponent, 0);
      bound =
          bound * (big_integer(1).shifted_up(-unit) - big_integer(lost.significand).shifted_up(lost.exponent - unit));
      of_bound += unit;
    }
    bound = bound * sum.divisor;
    exact_scale const scale = exact_scale::of(*p);
    if (!scaled) return sign_of_difference(number, of_number, bound, of_bound);
    if (scale.given) {
      number = number * big_integer(scale.given->significand);
      return sign_of_difference(number, of_number + scale.given->exponent, bound, of_bound);
    }
    int const a = number.sign(), b = bound.sign();
    if (a != b) return a < b ? -1 : 1;
    return a * sign_of_difference(number * number, 2 * of_number, bound * bound * big_integer(scale.d), 2 * of_bound);
  }
};

/// The element as an exact number. Returns nothing if a row's term is not rational, or may not be: with one such row no
/// boundary of a format is hit; with several, none is known to be.
/// Requires  the element's kind is finite; not local mode
/// Cost      every row that contributes; pairs of groups of equal scores
template <class T>
constexpr std::optional<algebraic_gradient<T>> algebraic(problem::instance<T> const& p,
                                                         gradient_inputs<T> const& inputs, gradient_index const& at) {
  problem::sizes const& s = p.size();
  algebraic_gradient<T> found{&p, at.which == gradient::dq || at.which == gradient::dk, {}};
  if (found.scaled && exact_scale::of(p).given && exact_scale::of(p).given->significand == 0) return found;
  exact_gradient_row<128, T> row;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < p.queries(b); ++i) {
        if (!gradient_detail::reaches(p, at, b, h, i)) continue;
        enclose_gradient_row(p, inputs, false, b, h, i, row);
        if (!row.kinds.contributes) continue;
        auto const term = gradient_detail::rational_term(p, inputs, row, at);
        if (!term) return std::nullopt;
        found.sum += *term;
      }
  return found;
}

}  // namespace attest::reference
