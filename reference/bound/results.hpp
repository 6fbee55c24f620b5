// docs/bound.md, sections 5 to 7: the bounds of one row's results. Part of reference/bound/bound.hpp. The formulas of
// the Theorem are in reference/bound/column_formulas-inl.hpp, the formulas of Corollary W in weight_formulas-inl.hpp.
#pragma once

#include "reference/bound/bound.hpp"

namespace attest::reference {

template <unsigned W, class Value>
constexpr error_bound row_bound::output(ball<W> const& o, Value&& value) const noexcept {
  // o_c as a midpoint ± width (E7).
  double const o_lower = lower(o), o_upper = upper(o);
  double const mid = (o_upper + o_lower) / 2;
  return output_around(mid, rounded_up(larger(o_upper - mid, mid - o_lower)), [&](std::size_t j) {
    element const x = value(j);
    return x.significand < 0 ? -size_upper(x) : size_upper(x);
  });
}

/// Theorem T2: the column of the keys alone, whose o_c is formed from the weights.
template <class Value>
constexpr row_bound::column_of_keys row_bound::output_alone(Value&& value) const noexcept {
  column_of_keys alone;
  if (!terms_.factor.judged) return alone;
  row_bound const& keys = alone_.front();
  double mid = 0, open = 0, size = 0, largest = 1;
  for (std::size_t j = 0; j < keys.keys_.size(); ++j) {
    key_facts const& k = keys.facts_->keys[j];
    double const v = value(j), magnitude = absolute(v);
    mid += v * ((k.weight_lower + k.weight_upper) * 0.5);
    open += magnitude * (k.weight_upper - k.weight_lower);
    size += magnitude * k.weight_upper, largest = larger(largest, magnitude);
  }
  double const width = rounded_up((open + size * (terms_.n * 0x1p-51) + terms_.n * 0x1p-1073 * largest) * terms_.slack);
  auto const found = keys.output_around(mid, width, value);
  auto& column = alone.column;
  column.size = found.size, column.warning = found.warning;
  column.o_size = rounded_up(absolute(mid) + width) * terms_.kept_factor * terms_.slack;
  column.judged = found.by != judged_by::nothing, column.by_theorem = found.by == judged_by::theorem;
  double const grown = terms_.kept_factor * terms_.slack;
  alone.above = rounded_up(larger(0, rounded_up(mid + width)) * grown + found.unrounded);
  alone.below = rounded_up(larger(0, rounded_up(width - mid)) * grown + found.unrounded);
  return alone;
}

/// Theorem, section 5: the sums of section 3, Averages, over the keys, then B_c and W_c by output_bound. o_c lies
/// within `width` of `mid`.
template <class Value>
constexpr error_bound row_bound::output_around(double mid, double width, Value&& value) const noexcept {
  if (!terms_.judges()) return {};
  // max|v|, Σ|v|, ā_c, and Σ share_j·Γ¹_j·|v_jc| of Φ_c.
  scalar::column_sizes<double> sizes{};
  std::size_t heaviest = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    sizes.add_value(value(j));
    if (facts_->keys[heaviest].weight_upper < facts_->keys[j].weight_upper) heaviest = j;
    sizes.add(absolute(value(j)), facts_->keys[j].weight_lower, facts_->keys[j].weight_upper, keys_[j].shared);
  }
  sizes.heaviest = value(heaviest);
  sizes.finish(terms_);

  // The sums of A^T, A^H and A^D around the midpoint.
  scalar::column_deviations<double> deviations{};
  scalar::column_clauses<double> clauses{};
  double sum_eta = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    key const& my = keys_[j];
    double const v = value(j);
    double const distance = absolute(v - mid), size_distance = absolute(absolute(v) - sizes.middle);
    deviations.add(distance, size_distance, my.P, my.variance);
    if (terms_.theorem_is_sharpest) continue;  // E6
    double const eta = my.dominant ? 0 : my.eta;
    sum_eta += eta;
    clauses.add(distance, size_distance, my.dominant ? 1 : 0, eta);
  }
  scalar::known_sums<double> known{};
  if (known_.hold)
    for (known_weights::group const& at : known_.walk) {
      for (std::size_t j = at.begin; j < at.end; ++j) known.add(value(j), known_.center[j], known_.deviation[j]);
      known.end_group(static_cast<double>(at.end - at.begin));
    }
  auto const beside = known_.hold ? scalar::known_bound(terms_, known_, known, sizes.largest)
                                  : scalar::known_output<double>{0, infinity};
  auto const alone = terms_.factor.asked ? output_alone(value) : column_of_keys{};
  auto const found =
      scalar::output_bound(terms_, mid, width, sizes, deviations, clauses, sum_eta, beside, alone.column);
  if (!found.judged) return {};
  return {found.size,    found.by_theorem ? judged_by::theorem : judged_by::dominance,
          found.warning, found.unrounded,
          alone.above,   alone.below,
          found.dull,    beside.center,
          beside.size};
}

constexpr bool explained_by_overflow(problem::kernel_model const& model, error_bound const& bound, double lowest,
                                     double highest, double got) noexcept {
  if (!(bound.unrounded < infinity) || absolute(got) < infinity) return false;
  bool const above = bound.keys_above >= model.out_limit, below = bound.keys_below >= model.out_limit;
  if (got != got) return above || below;  // ±∞·0
  return got > 0 ? above || highest + bound.unrounded >= model.out_limit
                 : below || bound.unrounded - lowest >= model.out_limit;
}

/// Section 8, Dull elements: B ≥ max(π, 1 − π) with n ≥ 2.
constexpr bool is_dull_weight(double n, double bound, double weight) noexcept {
  return n > 1 && bound >= larger(weight, 1 - weight);
}

/// Corollary W.
constexpr error_bound row_bound::weight(std::size_t at) const noexcept {
  if (!terms_.judges()) return {};
  key_facts const& k = facts_->keys[at];
  auto found =
      scalar::weight_error(terms_, k.weight_lower, k.weight_upper, keys_[at].P, keys_[at].eta, keys_[at].lse_error);
  if (terms_.factor.asked) {
    if (at >= real_keys()) return {};
    error_bound const alone = alone_.front().weight(at);
    if (alone.by == judged_by::nothing) return {};
    double const pi = alone_.front().facts_->keys[at].weight_upper;
    bool const by_theorem = alone.by == judged_by::theorem;
    found = scalar::with_rescaled_weight(terms_, found, alone.size, by_theorem, pi, k.weight_upper);
  }
  if (!(found.size < infinity)) return {};
  error_bound bound{found.size, found.by_theorem ? judged_by::theorem : judged_by::dominance};
  bound.dull = is_dull_weight(terms_.n, found.size, k.weight_upper);
  return bound;
}

/// Corollary R: the sum of the bounds of Corollary W.
constexpr error_bound row_bound::row_sum() const noexcept {
  if (!terms_.judges()) return {};
  double sum = 0;
  bool by_theorem = true;
  for (std::size_t j = 0; j < real_keys(); ++j) {
    error_bound const b = weight(j);
    if (b.by == judged_by::nothing) return {};
    sum += b.size;
    by_theorem = by_theorem && b.by == judged_by::theorem;
  }
  return {rounded_up(sum * terms_.slack), by_theorem ? judged_by::theorem : judged_by::dominance};
}

/// Corollary L, a sink being a term (T1):
/// |LSÊ − LSE| ≤ (1 + max(u, γ_{k_lse}))·[Λ₀ + ε_log(ln Z + max(M⁺ − m, m − M⁻) + τ + Λ₀) + ω_log] + γ_{k_lse}|LSE|
///              + γ_{k_lse − 1}·max(|M⁺|, |M⁻|) + 2ω, by the theorem where Λ_T ≤ Λ_H. A sink that may be added at the
///              end adds max(0, t + E_⊥ − M_K⁻) beside ln Z, and |M_K^±| beside |M^±|. Of merges by a sigmoid (Lemma
///              8): (1 + u)Λ₀ + max_{j∈L} Ξ_j + 2ω.
constexpr error_bound log_sum_exp_of_term(row_terms const& terms) noexcept {
  if (!terms.judged) return {};
  problem::kernel_model const& model = terms.model;
  // Λ_T: its first part is in row_terms; + 2·n_far·ω_W/Λ.
  double const theorem = terms.theorem_holds
                             ? larger(terms.log_upper_side, terms.log_lower_side) + 2 * terms.n_far * terms.far_share()
                             : infinity;
  // Λ₀ = min(Λ_T, Λ_H) + Γ_L/(1 − Γ_L).
  double const base = smaller(theorem, terms.log_hull) + terms.gamma_L / (1 - terms.gamma_L);
  if (!(base < infinity)) return {};
  double const u = model.format.u;
  // E8: |m − M_end| − τ is at most max(M⁺ − m, m − M⁻), and at most max_j E_j.
  double const reference = smaller(terms.largest_E, larger(terms.max_above, -terms.max_below));
  double const logged =
      model.eps_log * (terms.lse_above_max + reference + model.tau + base + terms.sink_above) + model.omega_log;
  double const of_merge = terms.sigmoid_lse.per_Y * terms.largest_Y + terms.sigmoid_lse.rest;  // Lemma 8: max_{j∈L} Ξ_j
  double const rounded = gamma(model.k_lse, u);
  double const B = terms.by_sigmoid() ? (1 + u) * base + of_merge + 2 * model.format.omega
                                      : (1 + larger(u, rounded)) * (base + logged) + rounded * terms.lse_upper +
                                            gamma(model.k_lse - 1, u) * terms.largest_max + 2 * model.format.omega;
  if (!(B < infinity)) return {};
  error_bound bound{rounded_up(B * terms.slack), theorem <= terms.log_hull ? judged_by::theorem : judged_by::dominance};
  bound.dull = terms.n > 1 && bound.size >= log_upper(terms.n);
  return bound;
}

/// Corollary L, T2 of a sink behind the keys, or the larger of both.
constexpr error_bound log_sum_exp_bound(row_terms const& terms) noexcept {
  if (!terms.factor.asked) return log_sum_exp_of_term(terms);
  sink_factor const& factor = terms.factor;
  error_bound bound;
  if (!terms.judges() || !(factor.lse < infinity)) return bound;
  bound.size = factor.lse;
  bound.by = factor.lse_by_theorem ? judged_by::theorem : judged_by::dominance;
  if (!factor.only) {
    error_bound const by_term = log_sum_exp_of_term(terms);
    if (by_term.by == judged_by::nothing) return {};
    bound.size = larger(bound.size, by_term.size);
    if (by_term.by == judged_by::dominance) bound.by = judged_by::dominance;
  }
  bound.dull = bound.size >= log_upper(terms.n);
  return bound;
}

/// Clause H: H_c = (1 + Γ_F)(Γ_O + Γ_L + Γ_F)/(1 − Γ_L)·max_j|v_jc| + 4n_ω·ω/Λ + (4/3)(ω_p/Λ + [k_pre >
/// 0]ω)·n·max_j|v_jc|
/// + 2ω, then H_c(1 + u_out) + u_out·max_j|v_jc| + ω_out; under lse_normalised Γ_O has 1.01μ(ε + k_x·min(K, X⁺)·u)
/// more, and merges by a sigmoid add what Lemma 8 says. Ensures   ô_c lies in [min_j v_jc, max_j v_jc] widened by it;
/// infinite where the clause says nothing
constexpr double hull_margin_of_term(row_terms const& terms, double largest_value) noexcept {
  if (!terms.judged || terms.by_lse_alone() || !(terms.off_again < infinity)) return infinity;
  problem::kernel_model const& model = terms.model;
  double const gamma_O = terms.gamma_O + 1.01 * terms.combine_error * (1 + terms.delta);
  double const lost_weights = model.omega_p / terms.least_sum + (model.k_pre > 0 ? model.format.omega : 0);
  double const lost_dropped = terms.drops ? model.omega_drop / terms.least_sum : 0;
  double const lost = (lost_weights + lost_dropped) * (1 + terms.gamma_states) * (4.0 / 3) * terms.n;
  double const sum =
      model.merge == problem::split_merge::lse_normalised ? 1 - terms.gamma_L : 1;  // of weights, at least
  double const margin = (gamma_O + terms.gamma_L + terms.gamma_F) / (1 - terms.gamma_L) * largest_value *
                            (1 + terms.gamma_F) * (1 + terms.off_again) +
                        terms.off_again * largest_value +
                        (terms.lost_in_sums * terms.kept_factor + lost * largest_value) / sum +
                        2 * model.format.omega * terms.kept_factor +
                        scalar::merged_by_sigmoid(terms, largest_value, terms.n * largest_value) * terms.kept_factor;
  double const rounded = rounded_up(scalar::with_output_rounding(model, margin, largest_value) * terms.slack);
  return rounded == rounded ? rounded : infinity;
}

/// Of a factor behind the keys: (1 + excess)·H_K + excess·max|v| + (2ω + ω_drop)κ, where H_K is the margin of the keys
/// alone (T2).
constexpr double hull_margin(row_terms const& terms, double largest_value) noexcept {
  if (!terms.factor.asked) return hull_margin_of_term(terms, largest_value);
  sink_factor const& factor = terms.factor;
  if (!terms.judges()) return infinity;
  double const keys = factor.hull_lost + factor.hull_slope * largest_value;
  double const margin = (1 + factor.excess) * keys + (factor.excess + factor.lost) * largest_value + factor.absolute;
  double const rounded = rounded_up(scalar::with_output_rounding(terms.model, margin, largest_value) * terms.slack);
  double const found = rounded == rounded ? rounded : infinity;
  return factor.only ? found : larger(found, hull_margin_of_term(terms, largest_value));
}

constexpr void bound_by_keys_alone(row_terms& terms, row_terms const& keys, sink_numbers const& sink) noexcept {
  error_bound const lse = log_sum_exp_bound(keys);
  rescale_by_sink(terms, keys, lse.size, lse.by == judged_by::theorem, sink);
  terms.factor.hull_lost = hull_margin(keys, 0), terms.factor.hull_slope = hull_margin(keys, 1);
}

constexpr error_bound row_bound::log_sum_exp() const noexcept { return log_sum_exp_bound(terms_); }
constexpr double row_bound::hull_margin(double largest_value) const noexcept {
  return attest::reference::hull_margin(terms_, largest_value);
}

}  // namespace attest::reference
