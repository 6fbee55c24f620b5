// The kinds of gradients: what NaN and infinities in the inputs make of them (docs/semantics.md, "Gradients"). Both
// tiers decide them here.
#pragma once

#include <cstdint>

#include "problem/instance.hpp"
#include "reference/attention/attention.hpp"

namespace attest::reference {

/// The kind of a sum of two terms: NaN stays NaN; what is not finite stays so; an open term leaves the rest open.
constexpr value_kind sum_of_kinds(value_kind a, value_kind b) noexcept {
  for (value_kind const kind : {value_kind::nan, value_kind::not_finite, value_kind::unspecified})
    if (a == kind || b == kind) return kind;
  return value_kind::finite;
}

/// The kind of one number as a factor: NaN, not finite, or finite.
constexpr value_kind kind_of(element const& x) noexcept {
  return x.kind == number_class::not_a_number ? value_kind::nan
         : x.is_finite()                      ? value_kind::finite
                                              : value_kind::not_finite;
}

/// The kind of the sum of a row of numbers.
template <class T>
constexpr value_kind kind_of_row(T const* x, std::int64_t count) noexcept {
  value_kind kind = value_kind::finite;
  for (std::int64_t c = 0; c < count && kind != value_kind::nan; ++c)
    kind = sum_of_kinds(kind, kind_of(value_of(x[c])));
  return kind;
}

/// How a visible key takes part in its row.
enum class key_part : std::uint8_t {
  weighted,   ///< it has a weight, and dropout keeps it
  dropped,    ///< it has a weight, and dropout drops it
  weightless  ///< its score is −∞
};

/// The kind of W_ij at a visible key, from the kinds of dO_i and v_j. 0·NaN at a dropped key is formed or skipped; so
/// is 0·∞ at a key without weight, where a NaN is never dropped.
constexpr value_kind kind_of_product(value_kind d_o, value_kind v, key_part part) noexcept {
  value_kind const product = sum_of_kinds(d_o, v);
  if (product == value_kind::finite || part == key_part::weighted) return product;
  return part == key_part::weightless && v == value_kind::nan ? product : value_kind::unspecified;
}

/// The kinds that one row gives to gradients. `row` is the kind of dS at its keys with a weight: of dQ, of dSink, of dK
/// at every key that the row sees.
struct gradient_kinds {
  bool contributes = false;   ///< false: the row has no term, and nothing of it is read
  bool nan_scores = false;    ///< every weight is NaN too
  bool open_weights = false;  ///< local mode without a finite LSE: nothing is asked of the row
  value_kind row = value_kind::finite;
};

/// The same in local mode, which rests on the O and the LSE that were handed over for the row.
constexpr gradient_kinds with_recorded(gradient_kinds kinds, bool lse_is_finite, value_kind of_o) noexcept {
  if (!kinds.contributes || kinds.nan_scores) return kinds;
  kinds.open_weights = !lse_is_finite;
  if (!lse_is_finite || of_o != value_kind::finite) kinds.row = value_kind::unspecified;
  return kinds;
}

/// The kind of dBias_ij and of the row's term of dK_j at a visible key, before k and q.
constexpr value_kind kind_of_dS(gradient_kinds const& kinds, key_part part) noexcept {
  if (part == key_part::weightless && kinds.row == value_kind::not_finite) return value_kind::unspecified;
  return kinds.row;
}
/// The kind of the row's term of dV_jc at a visible key, from the kind of dO_ic.
constexpr value_kind kind_of_dV(gradient_kinds const& kinds, value_kind d_o, key_part part) noexcept {
  // Beside a NaN, a kernel may form e^(−∞ − NaN), or skip a score of −∞.
  if (kinds.nan_scores) return part == key_part::weightless ? value_kind::unspecified : value_kind::nan;
  if (kinds.open_weights) return value_kind::unspecified;
  if (d_o == value_kind::finite || part == key_part::weighted) return d_o;
  return part == key_part::weightless && d_o == value_kind::nan ? d_o : value_kind::unspecified;
}

/// How key j, visible to the row, takes part.
template <class T>
constexpr key_part part_of(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                           std::int64_t j, bool has_weight) noexcept {
  if (!has_weight) return key_part::weightless;
  return is_dropped(p, b, h, i, j) ? key_part::dropped : key_part::weighted;
}

/// In a NaN row: is the score of key j, visible to it, −∞?
template <class T>
constexpr bool is_without_weight(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                                 std::int64_t j) noexcept {
  exact_score<T> score = exact_dot(p.q().row(b, h, i), p.k().row(b, key_head(p.size(), h), j), p.size().d);
  score.bias = bias_at(p, b, h, i, j);
  classify(score_rule::of(p), score);
  return score.kind == number_class::minus_infinity;
}

/// The kinds of row.
/// Requires  row made from p by enclose_row (any width)
template <unsigned W, class T>
constexpr gradient_kinds kinds_of(problem::instance<T> const& p, problem::view<T const> const& d_o,
                                  enclosed_row<W, T> const& row) noexcept {
  gradient_kinds kinds;
  if (row.kind == row_kind::nan) return {true, true, false, value_kind::nan};
  if (row.real_keys().empty() && row.without_weight.empty()) return kinds;
  problem::sizes const& s = p.size();
  std::int64_t const g = key_head(s, row.h);
  kinds.contributes = !row.real_keys().empty();
  value_kind const of_dO = kind_of_row(d_o.row(row.b, row.h, row.i), s.dv);
  auto const add = [&](std::int64_t j, bool has_weight) {
    key_part const part = part_of(p, row.b, row.h, row.i, j, has_weight);
    kinds.row = sum_of_kinds(kinds.row, kind_of_product(of_dO, kind_of_row(p.v().row(row.b, g, j), s.dv), part));
  };
  for (auto const& key : row.real_keys()) add(key.j, true);
  for (std::int64_t const j : row.without_weight) add(j, false);
  if (kinds.contributes) return kinds;
  // Every score is −∞, and 0·∞ is formed or skipped.
  value_kind all = sum_of_kinds(kinds.row, kind_of_row(p.q().row(row.b, row.h, row.i), s.d));
  for (std::int64_t const j : row.without_weight) all = sum_of_kinds(all, kind_of_row(p.k().row(row.b, g, j), s.d));
  if (all != value_kind::finite) kinds.row = value_kind::unspecified;
  return kinds;
}

}  // namespace attest::reference
