// A question that no enclosure can decide: is an output exactly t? It is decided by grouping keys of equal exact
// scores.
//
// Without softcap the scores are algebraic numbers, so by the Lindemann–Weierstrass theorem the exponentials of
// distinct scores are linearly independent over the algebraic numbers: Σ_g e^(s_g)·D_g = 0 with algebraic D_g only if
// every D_g = 0. With D_g = Σ_{j in g} (v_j − t) this means that o = t iff every D_g is 0. With softcap, equality of
// scores is still decided (docs/rounding.md), but no such theorem is known for sums of their exponentials. Then "true"
// is proven for an output, while "false" means only that it was not proven. The same holds in base 2, where powers of
// two may cancel; exponential_sums decides these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/attention/attention.hpp"

namespace attest::reference {

/// Positions in row.keys sorted by grouping_order, so that equal scores are adjacent.
template <unsigned W, class T>
constexpr std::vector<std::size_t> sorted_by_score(enclosed_row<W, T> const& row) {
  std::vector<std::size_t> at;
  for (std::size_t n = 0; n < row.keys.size(); ++n) at.push_back(n);
  std::sort(at.begin(), at.end(), [&](std::size_t a, std::size_t b) {
    return grouping_order(row.rule, row.keys[a].score, row.keys[b].score) < 0;
  });
  return at;
}

/// Is O at column c exactly the dyadic number t?
/// Requires  row made from p, row.kind finite, V finite at the row's keys
template <unsigned W, class T>
constexpr bool output_is_exactly(problem::instance<T> const& p, enclosed_row<W, T> const& row, std::int64_t c,
                                 element const& t) {
  constexpr unsigned bits = static_cast<unsigned>(largest_exponent<T> - smallest_exponent<T>) + 3400;
  element const dropped_part = value_of(dropout_of(p));  // o = t iff every Σ (v_j − (1 − p)·t) of a group is 0
  std::int64_t unit = smallest_exponent<T>;
  if (t.significand != 0 && t.exponent < unit) unit = t.exponent;
  if (dropped_part.significand != 0) unit += dropped_part.exponent;
  auto const at_unit = [&](element const& x) {
    return x.significand == 0 ? integer<bits>(0) : shifted(integer<bits>(x.significand), x.exponent - unit);
  };
  integer<bits> boundary = at_unit(t);
  if (dropped_part.significand != 0) {
    integer<bits> lost = boundary;
    lost *= dropped_part.significand;
    boundary -= shifted(lost, dropped_part.exponent);
  }
  auto const sorted = sorted_by_score(row);
  integer<bits> sum = 0;
  for (std::size_t n = 0; n < sorted.size(); ++n) {
    auto const& key = row.keys[sorted[n]];
    sum += at_unit(value_at(p, row, sorted[n], c)) - boundary;
    bool const group_ends =
        n + 1 == sorted.size() || grouping_order(row.rule, key.score, row.keys[sorted[n + 1]].score) != 0;
    if (group_ends && sum.sign() != 0) return false;
  }
  return true;
}

/// Is every weight of the row exactly 1/(number of keys, with the sink)? Iff all scores are equal.
template <unsigned W, class T>
constexpr bool weights_are_uniform(enclosed_row<W, T> const& row) noexcept {
  return std::all_of(row.keys.begin(), row.keys.end(),
                     [&](auto const& key) { return grouping_order(row.rule, key.score, row.keys.front().score) == 0; });
}

/// Do two rows have the same scores in some order? Then they have the same weights in that order, the same LSE and the
/// same entropy, exactly.
template <unsigned W, class T>
constexpr bool same_scores_in_some_order(enclosed_row<W, T> const& x, enclosed_row<W, T> const& y) {
  if (x.keys.size() != y.keys.size()) return false;
  auto const a = sorted_by_score(x), b = sorted_by_score(y);
  for (std::size_t n = 0; n < a.size(); ++n)
    if (grouping_order(x.rule, x.keys[a[n]].score, y.keys[b[n]].score) != 0) return false;
  return true;
}

}  // namespace attest::reference
