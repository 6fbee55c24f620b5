// Definitions of row_reader.hpp, for the unit that instantiates them.
#pragma once

#include "reference/gradient/exact_row.hpp"
#include "reference/gradient/row_reader.hpp"
#include "reference/machine/workspace.hpp"

namespace attest::reference {

namespace gradient_detail {

/// t = tanh(x/c) and g′ = 1 − t², from c·t known up to `off`.
/// Why       |t̂² − t²| ≤ 2|t̂|e + e²; (1 − t̂)(1 + t̂) rounds three times, below 2u of a number of at most 1
inline void slope_from_capped(double capped, double off, double c, gradient_key& key) {
  double const t = capped / c, e = off / c * (1 + 0x1p-50) + absolute(t) * 0x1p-53 * (1 + 0x1p-50) + 0x1p-1074;
  key.tanh = {t, e};
  double const size = absolute(t);
  key.slope.mid = larger(0, (1 - size) * (1 + size));
  key.slope.off = (2 * size * e + e * e + key.slope.mid * 0x1p-51) * (1 + 0x1p-50) + 0x1p-1074;
  if (size > 1) key.slope.off += (size - 1) * (size + 1) * 2;
}

/// Corollary W of docs/bound.md in one pass, summed over the keys: the errors of l and of the divisions.
inline double row_sum_of_one_pass(row_terms const& by) {
  problem::kernel_model const& model = by.model;
  if (by.has_sink || by.by_lse() || by.by_sigmoid() || by.weighs_again() || !(by.gamma_L < 1)) return infinity;
  double const lost = by.n * (2 * model.format.omega + by.lost_weight);
  double const sum = (by.gamma_L + by.gamma_W) / (1 - by.gamma_L) + lost;
  return (sum * (1 + model.u_out) + model.u_out + by.n * model.omega_out) * by.slack * (1 + 0x1p-48);
}

inline void read_bounds(row_terms const& by, error_bound const& lse, gradient_row& row) {
  row.in_range = by.scores_in_range;
  row.by_theorem = by.judges();
  row.lse_bound = lse.by == judged_by::nothing ? infinity : lse.size;
  row.row_sum = row.by_theorem ? row_sum_of_one_pass(by) : infinity;
}

}  // namespace gradient_detail

template <class T>
void read_row(problem::instance<T> const& p, gradient_terms const& terms, machine::certified_row const& from,
              gradient_row& row) {
  machine::key_columns const& k = from.memory->keys;
  row.kinds = {.contributes = !from.keys.empty()};
  row.scalars = *from.terms;
  row.has_sink = from.terms->has_sink;
  row.without_weight.clear();
  std::size_t const real = from.keys.size(), all = real + (row.has_sink ? 1 : 0);
  row.keys.assign(all, {});
  for (std::size_t at = 0; at < all; ++at) {
    gradient_key& key = row.keys[at];
    key.j = k.j[at];
    key.dropped = key.j != sink_index && is_dropped(p, from.b, from.h, from.i, key.j);
    key.numbers = {k.x_lower[at],  k.x_upper[at], k.score_upper[at],  k.product_upper[at],
                   k.key_norm[at], k.bias[at],    k.weight_lower[at], k.weight_upper[at]};
    if (terms.from_saved && (at < real || !from.terms->factor.asked)) key.saved_error = k.weight_bound[at];
    if (at < from.weight.size())
      key.share = {from.weight[at], rounded_up(from.weight_radius[at] + absolute(from.weight_low[at]))};
    if (terms.softcap > 0 && key.j != sink_index) {
      double const low = k.score_low.empty() ? 0 : k.score_low[at];
      double const capped = (k.score[at] - k.bias[at]) + low;
      double const off = k.score_error[at] + (absolute(capped) + absolute(low)) * 0x1p-52 * (1 + 0x1p-50) + 0x1p-1022;
      gradient_detail::slope_from_capped(capped, off, terms.softcap, key);
    }
  }
  row.lse = {from.lse, rounded_up(from.lse_radius + absolute(from.lse_low))};
  gradient_detail::read_bounds(*from.terms, from.lse_bound, row);
  row.o.clear(), row.o_bound.clear();
  if (terms.mode != gradient_mode::own) return;
  for (std::size_t c = 0; c < from.o.size(); ++c) {
    double const low = from.o_low.empty() ? 0 : absolute(from.o_low[c]);
    row.o.push_back({from.o[c], rounded_up(from.o_radius[c] + low)});
    row.o_bound.push_back(from.o_by[c] == judged_by::nothing ? infinity : from.o_bound[c]);
  }
}

template <class T>
void ball_row_reader<T>::read(problem::instance<T> const& p, problem::view<T const> const& d_o,
                              gradient_terms const& terms, std::int64_t b, std::int64_t h, std::int64_t i,
                              gradient_row& row) {
  compiled::enclose_row(p, b, h, i, row_);
  row.kinds = kinds_of(p, d_o, row_);
  row.keys.clear();
  row.without_weight = row_.without_weight;
  row.has_sink = row_.has_sink();
  row.o.clear(), row.o_bound.clear();
  if (!row.kinds.contributes && !row_.without_weight.empty() && row.kinds.row == value_kind::finite) {
    // HB6 of the keys that a bias of −∞ hides: 0·∞ where a kernel's q·k overflows.
    row_scalars const lost = range_of(p, row_);
    bool const in_range = lost.lost_upper < terms.limit && lost.lost_norm < terms.limit &&
                          lost.scale_upper < terms.limit && lost.query_norm * larger(1, lost.scale_upper) < terms.limit;
    if (!in_range) row.kinds.row = value_kind::unspecified;
  }
  if (!row.kinds.contributes || row.kinds.nan_scores) return;
  compiled::collect_facts(p, row_, facts_);
  row.scalars = facts_;
  compiled::evaluate(bound_, terms.forward, facts_);
  ball<128> const scale = row_.rule.scale.template enclosure<128>();
  for (std::size_t at = 0; at < row_.keys.size(); ++at) {
    auto const& exact = row_.keys[at];
    gradient_key key;
    key.j = exact.j;
    key.dropped = key.j != sink_index && is_dropped(p, b, h, i, key.j);
    key.numbers = numbers_of(facts_.keys[at]);
    if (error_bound const saved = bound_.weight(at); terms.from_saved && saved.by != judged_by::nothing)
      key.saved_error = saved.size;
    if (terms.softcap > 0 && key.j != sink_index) {
      ball<128> const slope = gradient_detail::softcap_slope(row_.rule, scale, exact.score);
      key.slope = between(lower(slope), upper(slope));
      ball<128> const t = scores_at<128>(row_.rule).product(exact.score) / ball<128>::from(row_.rule.softcap);
      key.tanh = between(lower(t), upper(t));
    }
    row.keys.push_back(key);
  }
  ball<128> const lse = compiled::log_sum_exp(row_);
  row.lse = between(lower(lse), upper(lse));
  gradient_detail::read_bounds(bound_.terms(), bound_.log_sum_exp(), row);
  if (terms.mode != gradient_mode::own) return;
  for (std::int64_t c = 0; c < p.size().dv; ++c) {
    auto const o = compiled::output(p, row_, c);
    bool const finite = o.kind == value_kind::finite;
    row.o.push_back(finite ? between(lower(o.value), upper(o.value)) : enclosure{});
    error_bound const bound = finite ? compiled::output_bound(bound_, p, row_, c, o.value) : error_bound{};
    row.o_bound.push_back(bound.by == judged_by::nothing ? infinity : bound.size);
  }
}

}  // namespace attest::reference
