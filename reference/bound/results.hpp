// Section 4 of docs/bound.md: the bounds of one row's results. Part of reference/bound/bound.hpp.
#pragma once

#include "reference/bound/bound.hpp"

namespace attest::reference {

template <unsigned W, class Value>
constexpr error_bound row_bound::output(ball<W> const& o, Value&& value) const noexcept {
  if (!terms_.judged) return {};
  auto const signed_value = [&](std::size_t j) {
    element const x = value(j);
    return x.significand < 0 ? -size_upper(x) : size_upper(x);
  };
  scalar::column_sizes<double> sizes{};
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    double const shared = keys_[j].share * scalar::gamma_O_of(terms_, keys_[j].R);
    sizes.add_size(absolute(signed_value(j)));
    sizes.add(absolute(signed_value(j)), facts_->keys[j].weight_lower, facts_->keys[j].weight_upper, shared);
  }
  sizes.finish(terms_);

  double const o_lower = lower(o), o_upper = upper(o);
  double const mid = (o_upper + o_lower) / 2;
  double const width = rounded_up(larger(o_upper - mid, mid - o_lower));
  scalar::column_deviations<double> deviations{};
  scalar::column_clauses<double> clauses{};
  double sum_eta = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    key const& my = keys_[j];
    double const v = signed_value(j), pi = facts_->keys[j].weight_upper;
    double const distance = absolute(v - mid), size_distance = absolute(absolute(v) - sizes.middle);
    deviations.add(distance, size_distance, my.P, pi * pi * my.t_squared);
    if (terms_.theorem_is_sharpest) continue;
    double const eta = my.dominant ? 0 : my.eta;
    sum_eta += eta;
    clauses.add(distance, size_distance, my.dominant ? 1 : 0, eta);
  }
  auto const found = scalar::output_bound(terms_, mid, width, sizes, deviations, clauses, sum_eta);
  if (!found.judged) return {};
  return {found.size, found.by_theorem ? judged_by::theorem : judged_by::dominance, found.warning};
}

constexpr error_bound row_bound::weight(std::size_t at) const noexcept {
  if (!terms_.judged) return {};
  key_facts const& k = facts_->keys[at];
  auto const found = scalar::weight_error(terms_, k.weight_lower, k.weight_upper, keys_[at].P, keys_[at].eta);
  return {found.size, found.by_theorem ? judged_by::theorem : judged_by::dominance};
}

constexpr error_bound row_bound::log_sum_exp() const noexcept { return log_sum_exp_bound(terms_); }
constexpr double row_bound::hull_margin(double largest_value) const noexcept {
  return attest::reference::hull_margin(terms_, largest_value);
}

constexpr error_bound row_bound::row_sum() const noexcept {
  if (!terms_.judged) return {};
  double sum = 0;
  bool by_theorem = true;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    error_bound const b = weight(j);
    sum += b.size;
    by_theorem = by_theorem && b.by == judged_by::theorem;
  }
  return {rounded_up(sum * terms_.slack), by_theorem ? judged_by::theorem : judged_by::dominance};
}

}  // namespace attest::reference
