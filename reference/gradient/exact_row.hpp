// The gradient terms of one query row, in balls:
//
//   W_j = [keep_j]/(1 − p)·Σ_c dO_c·v_jc     Δ = Σ_j π_j·W_j     dS_j = π_j·(W_j − Δ)     dX_j = dS_j·g′_j
//
// with g′_j = 1 − tanh²(x_j/c) beside a softcap c, else 1. A sink has W = 0. In local mode π_j = e^(s_j − L̂) and
// Δ = Σ_c dO_c·Ô_c, of the LSE L̂ and the output Ô that were handed over.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/gradient/gradients.hpp"
#include "reference/gradient/kinds.hpp"

namespace attest::reference {

/// The numbers of one key of the row.
template <unsigned W>
struct exact_gradient_key {
  std::int64_t j = 0;    ///< sink_index: the sink
  bool dropped = false;  ///< dropout drops it
  ball<W> weight{};      ///< π_j
  ball<W> dS{}, dX{};    ///< dX_j = dS_j·g′_j; 0 of the sink
};

template <unsigned W, class T>
struct exact_gradient_row {
  enclosed_row<W, T> row;
  gradient_kinds kinds;
  /// In the order of row.keys; dS and dX only where kinds.row is finite. Empty where the weights are NaN or open, or
  /// the row contributes nothing.
  std::vector<exact_gradient_key<W>> keys;
};

namespace gradient_detail {

/// g′ = 1 − tanh²(x/c) = 4e/(1 + e)², e = e^(−2|x/c|): without cancellation.
template <unsigned W, class T>
constexpr ball<W> softcap_slope(score_rule const& rule, ball<W> const& scale, exact_score<T> const& score) noexcept {
  if (!rule.capped()) return ball<W>(1);
  if (score.saturated != 0) return {};
  ball<W> const x = scale * ball<W>::from(score.dot, dot_exponent<T>) / ball<W>::from(rule.softcap);
  ball<W> const e = exp(-absolute(x).scaled_by_power_of_two(1));
  ball<W> const sum = ball<W>(1) + e;
  return (e / (sum * sum)).scaled_by_power_of_two(2);
}

/// The LSE that was handed over for a row, in natural units. Requires it finite.
template <unsigned W, class T>
constexpr ball<W> recorded_lse(gradient_inputs<T> const& inputs, std::int64_t b, std::int64_t h, std::int64_t i) {
  ball<W> const stored = ball<W>::from(value_of(inputs.lse(b, h, i, 0)));
  return inputs.lse_base == problem::log_base::two ? stored * ln2<W>() : stored;
}

/// Σ_c x_c·y_c exactly. Requires finite elements.
template <unsigned W, class T>
constexpr ball<W> dot(T const* x, T const* y, std::int64_t count) noexcept {
  return ball<W>::from(exact_dot(x, y, count).dot, dot_exponent<T>);
}

}  // namespace gradient_detail

/// Requires  inputs.d_o present; in local mode o and lse, else neither is read. Scores of base e
/// Ensures   dS of the only key of a row without a sink is exactly 0, and so is every dS where all W_j are equal
/// Cost      per visible key: d + dv exact products, one exp, with a softcap two more
template <unsigned W, class T>
constexpr void enclose_gradient_row(problem::instance<T> const& p, gradient_inputs<T> const& inputs, bool local,
                                    std::int64_t b, std::int64_t h, std::int64_t i, exact_gradient_row<W, T>& out) {
  using namespace gradient_detail;
  problem::sizes const& s = p.size();
  enclosed_row<W, T>& row = out.row;
  out.keys.clear();
  enclose_row(p, b, h, i, row);
  out.kinds = kinds_of(p, inputs.d_o, row);
  if (local && out.kinds.contributes)
    out.kinds = with_recorded(out.kinds, value_of(inputs.lse(b, h, i, 0)).is_finite(),
                              kind_of_row(inputs.o.row(b, h, i), s.dv));
  if (!out.kinds.contributes || out.kinds.nan_scores || out.kinds.open_weights) return;

  ball<W> const lse = local ? recorded_lse<W>(inputs, b, h, i) : ball<W>();
  // s_j − L̂ = (m − L̂) + (s_j − m): weights above e^1000 are left open.
  if (local && !(upper(row.max_score - lse) < 1000)) {
    out.kinds = with_recorded(out.kinds, false, value_kind::finite);
    return;
  }
  for (auto const& key : row.keys) {
    out.keys.push_back({.j = key.j,
                        .dropped = key.j != sink_index && is_dropped(p, b, h, i, key.j),
                        .weight = local ? exp((row.max_score - lse) + key.below_max) : key.weight / row.normaliser});
  }
  if (out.kinds.row != value_kind::finite) return;

  T const* const d_o = inputs.d_o.row(b, h, i);
  std::int64_t const g = key_head(s, h);
  std::vector<ball<W>> products;
  bool all_equal = !local && !row.has_sink();
  integer<dot_bits<T>> first = 0;
  for (auto const& my : out.keys) {
    ball<W> product;
    if (my.j != sink_index) {
      integer<dot_bits<T>> exact = 0;
      if (!my.dropped) exact = exact_dot(d_o, p.v().row(b, g, my.j), s.dv).dot;
      product = ball<W>::from(exact, dot_exponent<T>);
      if (dropout_of(p) > 0) product = product / kept_part<W>(p);
      if (products.empty()) first = exact;
      all_equal = all_equal && exact == first;
    }
    products.push_back(product);
  }
  ball<W> delta;
  if (local) delta = dot<W>(d_o, inputs.o.row(b, h, i), s.dv);
  else
    for (std::size_t at = 0; at < products.size(); ++at) delta = delta + out.keys[at].weight * products[at];
  ball<W> const scale = row.rule.scale.template enclosure<W>();
  for (std::size_t at = 0; at < products.size(); ++at) {
    auto& my = out.keys[at];
    if (!all_equal) my.dS = my.weight * (products[at] - delta);
    if (my.j != sink_index) my.dX = my.dS * softcap_slope(row.rule, scale, row.keys[at].score);
  }
}

}  // namespace attest::reference
