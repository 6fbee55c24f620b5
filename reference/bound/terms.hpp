// docs/bound.md, section 3, H0 and H4: the quantities of a whole row. Those of a key or a column: formulas-inl.hpp.
#pragma once

#include <cstdint>

#include "problem/kernel_model.hpp"
#include "reference/bound/facts.hpp"
#include "reference/bound/gamma.hpp"
#include "reference/bound/key_parts.hpp"
#include "reference/bound/sigmoid_merge.hpp"
#include "reference/bound/sink_numbers.hpp"
#include "reference/real/outward.hpp"

namespace attest::reference {

/// May a folded element overflow (H0, the line of q and k)?
constexpr bool folds_may_overflow(problem::kernel_model const& model) noexcept {
  return (model.fold_q || model.fold_k) && model.folded_overflow == problem::folded_overflow::unspecified;
}

/// H0 of the keys whose weight a bias of −∞ takes: Q_j, |σ|·Q_j, and where folds may overflow ‖k_j‖₁·max(1, |σ|).
constexpr bool keys_without_weight_in_range(problem::kernel_model const& model, row_scalars const& row) noexcept {
  double const folded = folds_may_overflow(model) ? row.lost_norm * larger(1, row.scale_upper) : 0;
  return larger(row.lost_upper, folded) < model.format.h0_limit;
}

/// The row's part of section 3, filled in the order of its functions while the keys are visited between them.
struct row_terms : row_scalars, sink_terms, merge_terms {
  problem::kernel_model model{};
  double n = 0;      ///< visible keys with a finite score
  double slack = 1;  ///< E1: covers the rounding of any sum of n or d products in this evaluation

  // Section 3, Scores: the constants of E_j (see begin).
  double product_error = 0, score_absolute = 0, per_product = 0, per_key_norm = 0, first_bias = 0, e_s = 0, k_qk = 0,
         u_qk = 0, cap_absolute = 0;
  // Section 3, Scores: M⁺ − m, M⁻ − m from below, max_j E_j, a bound of max(|M⁺|, |M⁻|) (E2).
  double max_above = 0, max_below = -infinity, largest_E = 0, largest_max = 0;
  bool in_range = false;  ///< the lines of H0 on σ, q, k, products, biases and the softcap
  // Section 3, Reference: γ_{c_m}(1 + γ_{k_x}), g, g⁺, θ; Λ; max_{j∈L} Y_j. Whether Λ_x is exceeded by keys whose own
  // bias explains it alone (H0, Finite masks).
  double reference_factor = 0, g = 0, g_plus = 0, theta = 0, least_sum = 0.5, largest_Y = 0;
  bool padded = false;
  // Section 3, Rescales and Weights: R and the constants of z_j (see after_rescales).
  double R = 0, gamma_x = 0, eps_hat = 0, ell = 0, X_extra = 0, z_extra = 0, z_per_Y = 0, z_merge = 0, e_tau = 1,
         omega_w = 0, far_limit = 0;
  // Section 3, Weights: n_far, D from below, 1 − D (E4), Σ P_j. Dominance: max_i (s_i − e_i) − m, η⁺.
  double n_far = 0, D_lower = 0, one_minus_D = 1, sum_P = 0, dominance_top = 0, eta_extra = 0;
  // Corollary L: both sides of Λ_T without its last term, Λ_H. Ω_O: e^{M⁺ − m} (E3). Γ_C's ε + k_x·min(K, X⁺)·u.
  double log_upper_side = 0, log_lower_side = 0, log_hull = infinity, e_above = 0, combine_error = 0;
  bool theorem_is_sharpest = false;  ///< E6: no column can gain from A^H or A^D
  // Section 3, Sums: h, ϱ, s, s', Γ_L, M_L, Γ_F, the u_p and the u_pv of Γ_O; γ^h, Γ_O, (1 + u_p)(1 + γ^h)²·u_pv; Ω_O
  // without Σ|v_jc|, and its factor; ω_p·(4/3)·min(1/Λ, e^{M⁺−m}/(Z·D)).
  double delta = 0, delta_wide = 0;  ///< Δ: (1 + γ_{k_drop})(1 + u_drop) of dropout times 1 + γ_{μ'}(u_state), less 1; of dropout
  double height = 0, divisions = 0, merges_L = 0, merges_O = 0, gamma_L = 0, gamma_C = 0, nodes_L = 0, gamma_F = 0,
         u_p = 0, u_pv = 0, gamma_h = 0, gamma_O = 0, node_factor = 0, lost_in_sums = 0, lost_beside_values = 0,
         lost_when_divided = 0;
  // Corollary W: Γ_W, α_W. Section 5, weights formed by the LSE: e^λ − 1.
  double gamma_W = 0, lost_weight = 0, lse_growth = 0;
  // Section 9: Σγ_j, Σγ_jπ_j²; (2/3)u_p²·Σγ_jπ_j², (1/3)u²·(Σγ_j + R), ((k_F + k_pre)u)², (h + R)·u_pv/√n for u_pv > u.
  double sum_groups = 0, sum_grouped_squares = 0;
  double heaviest_odds = 0;  ///< max π_j/(1 − π_j) (section 8, Dull elements)
  double spread_of_sizes = 0, spread_of_sums = 0, spread_of_result = 0, drift = 0;
  bool theorem_holds = false;  ///< the entry A^T may be taken (not by the exception for padding)
  bool judged = false;         ///< H0, H4 and H5 (E10), without the condition on the column's V
  /// Is any element of the row judged?
  constexpr bool judges() const noexcept { return factor.asked ? factor.judged && (factor.only || judged) : judged; }

  /// K = far + ln(1/u) + 2: section 3, Sums, merging without a final division; Lemma 4.
  constexpr double largest_argument() const noexcept { return model.format.far + log_upper(1 / model.format.u) + 2; }
  /// Λ⁺ = (1/2)·min(1, e^{1/2 − g⁺}): the sum of the weights of one part, which need not have a key of L.
  constexpr double least_sum_of_part() const noexcept { return g_plus > 0.5 ? 0.5 / exp_upper(g_plus - 0.5) : 0.5; }
  /// Λ_x = (2/3)·far, rounded down (section 3, Reference).
  constexpr double reference_limit() const noexcept { return model.format.far * 0.66666; }
  /// n_far·ω_W/Λ, of one key.
  constexpr double far_share() const noexcept { return omega_w / least_sum * (1 + 0x1p-50); }
  /// Θ/4: a key is sunk where s_j + E_j < m − Θ/4 (H0).
  constexpr double sunk() const noexcept { return model.format.h0_limit / 4; }
  constexpr bool by_lse() const noexcept { return model.merge != problem::split_merge::raw; }
  constexpr bool by_sigmoid() const noexcept { return problem::by_sigmoid(model.merge); }
  /// Merges of given parts by a sigmoid: no exp of a score, no sum of weights, no rescale (Lemma 8).
  constexpr bool sums_nothing() const noexcept { return by_sigmoid() && model.parts_are_keys; }
  /// Is O formed by weights exp(s − LSE), without a division (section 5, second theorem)?
  constexpr bool by_lse_alone() const noexcept { return model.normalise == problem::normaliser::lse; }

  /// The constants of Scores and Sums that no key changes. Requires keys ≥ 1.
  constexpr void begin(problem::kernel_model const& how, row_scalars const& scalars, std::size_t keys) noexcept;
  /// M_K⁺, M_K⁻ and what a sink of these numbers may exceed them by, before after_scores. `keys` are without the sink.
  template <class Extremes>
  constexpr void meet_sink(Extremes const& keys, double x_lower, double x_upper, double E) noexcept;
  /// M⁺, M⁻ and H0, after every key's E_j.
  template <class Extremes>
  constexpr void after_scores(Extremes const& found) noexcept;
  /// κ_j of a key with |s_j| + E_j = reach: γ_{c_m}(1 + γ_{k_x})·Y_j.
  constexpr double reference_error_at(double reach) const noexcept {
    return reference_factor * larger(reach + model.tau, largest_max) * (1 + 0x1p-50);
  }
  /// E11: must g, g⁺ and max_{j∈L} Y_j be found key by key, by after_references?
  constexpr bool needs_references() const noexcept { return by_lse() || theta > 0.5; }
  template <class References>
  constexpr void after_references(References const& found) noexcept;
  /// B − 1 + S − 1: section 3, Rescales; Lemma 2.
  constexpr double most_rescales() const noexcept;
  constexpr bool always_rescales() const noexcept {
    return model.unchanged_rescale == problem::unchanged_rescale::rounded;
  }
  /// [τ > 0, raw merges]·(S − 1), beside rank⁺_j (Lemma 2).
  constexpr double lazy_merges() const noexcept { return model.tau > 0 && !by_lse() ? model.splits - 1 : 0; }
  constexpr bool follows_index() const noexcept {
    return model.order == problem::key_order::index && !always_rescales();
  }
  /// merges + max(rec_j, ⌈N/least_block⌉ − 1): section 3, Rescales; Lemma 2, Order of index.
  constexpr double ordered_rescales(double records) const noexcept {
    return model.merges + larger(records, static_cast<double>((m + model.least_block - 1) / model.least_block - 1));
  }
  /// The constants of Reference and Weights, after every key's R_j, whose largest is R.
  constexpr void after_rescales(double largest_R) noexcept;
  /// D, η⁺, Λ_T, Λ_H, H4, Γ_F, after every key's z_j, T_j, P_j.
  template <class Sums>
  constexpr void after_weights(Sums const& found) noexcept;
  /// Corollary L: for a key that is neither far nor flushed, ln(1/π_j) + z_j may stand for −ln D in Λ_T.
  constexpr void near_key(double weight_lower, double z) noexcept {
    // ln x ≥ 1 − 1/x: only a key that passes this can lower the bound.
    if (weight_lower > 0 && 1 - weight_lower + z < log_lower_side + 0x1p-50)
      log_lower_side = smaller(log_lower_side, log_upper(1 / weight_lower) + z);
  }
  /// Γ_L, M_L and the last part of H4, after every key's share_j.
  template <class Shares>
  constexpr void after_shares(Shares const& found) noexcept;

  /// Section 5, weights formed by the LSE: e^λ − 1, λ the bound of Corollary L.
  constexpr void after_log_sum_exp(double lambda) noexcept {
    lse_growth = lambda < 1 ? lambda / (1 - lambda * 0.5) * (1 + 0x1p-50) : exp_upper(lambda);
  }

 private:
  constexpr double tree_height() const noexcept;
  constexpr void finish_sums() noexcept;
};

constexpr void row_terms::begin(problem::kernel_model const& how, row_scalars const& scalars, std::size_t keys) noexcept {
  *this = {};
  static_cast<row_scalars&>(*this) = scalars;
  model = for_keys(how, keys, scalars.m), n = static_cast<double>(keys);
  auto const products = static_cast<double>(scalars.d);
  double const u = model.format.u, omega = model.format.omega, scale = scale_upper;
  slack = 1 + (16 * n + 8 * products + 64) * 0x1p-53;  // E1

  // E⁰_j (Lemma 1, Product) = γ_{k_qk}(u_qk)·(S_j + β_j)                                  product_error, first_bias
  //   + ω(2d·σ⁺ + 2) + ω·f_q·‖q‖₁ + [flushes]·ω(|σ|·‖q‖₁ + 1)                               score_absolute
  //   + 2ω·Q_j                                                                              per_product
  //   + (ω·f_k + [flushes]·ω|σ|)·‖k_j‖₁                                                     per_key_norm
  // f_q = f_k = max(1, √|σ|) under fold_k; f_q = 0, f_k = 1 under fold_q alone.
  u_qk = model.u_qk > 0 ? model.u_qk : u;
  k_qk = static_cast<double>(model.k_qk_per_d) * products + model.k_qk_base;
  product_error = gamma(k_qk, u_qk);
  double const folded_scale = model.fold_q || model.fold_k ? larger(1, scale) : scale;  // σ⁺
  score_absolute = omega * (2 * products * folded_scale + 2);
  per_product = 2 * omega;
  if (model.bias_first && softcap == 0) first_bias = 1 + model.g_b;  // β_j/|b_j|
  if (model.fold_k) {
    double const other = larger(1, root(scale) * (1 + 0x1p-40));
    score_absolute += omega * other * query_norm, per_key_norm += rounded_up(omega * other);
  } else if (model.fold_q) {
    per_key_norm += omega;
  }
  if (model.flushes) score_absolute += omega * (scale * query_norm + 1), per_key_norm += rounded_up(omega * scale);
  // E¹_j (Lemma 1, Softcap): c·a_t + (1 + c)ω.
  if (softcap > 0) cap_absolute = softcap * model.a_t + (1 + softcap) * omega;
  // E_j (Lemma 1, Bias): 1 + e_s = (1 + γ_{k_add})(1 + u_s).
  e_s = model.k_add > 0 ? compounded(gamma(model.k_add, u), model.u_s) : model.u_s;

  factor.asked = has_sink && keys > 1 && model.sink_form != problem::sink_form::term;
  factor.only = model.sink_form == problem::sink_form::rescale;
  sink_relative = compounded(gamma(model.k_t, u), model.u_t), sink_absolute = model.omega_t + 2 * omega;
  states = states_between_merges(model), gamma_states = gamma(states, model.u_state);
  if (drops) delta_wide = compounded(gamma(model.k_drop, u), model.u_drop);
  double const on_paths = by_sigmoid() ? 0 : gamma_states;  // Lemma 8 has them beside the largest value
  delta = on_paths < infinity ? compounded(delta_wide, on_paths) : infinity;
  if (by_sigmoid()) {
    double const sigmoids = sigmoids_on_way(model, n);
    mixed = mixed_by_sigmoids(model, sigmoids, gamma_states), lost_when_mixed = 8 * omega * sigmoids;
  }
  // Section 3, Sums (Lemmas 4, 6): u_p counts as 0 in Γ_O where P is shared, u_pv as u where it is smaller; h; s; ϱ, s'.
  u_p = model.p_shared ? 0 : model.u_p;
  u_pv = larger(u, model.u_pv);
  height = tree_height();
  double const S = model.splits;
  merges_L = by_sigmoid() ? 0 : S > 1 && !by_lse() ? S : S - 1;
  divisions = model.k_block * static_cast<double>((m + model.divided_block - 1) / model.divided_block - 1);  // ϱ
  merges_O = divisions + (sums_nothing() ? 0
                          : by_sigmoid() ? model.k_f
                          : by_lse()     ? S - 1 + static_cast<double>(model.merge_levels) * (model.k_f + 1)
                                         : merges_L);
}

template <class Extremes>
constexpr void row_terms::after_scores(Extremes const& found) noexcept {
  problem::working_format const& f = model.format;
  max_above = found.above, max_below = found.below, largest_E = found.largest_E;
  if (!has_sink) keys_above = max_above, keys_below = max_below;
  // H0, line by line: |σ|; q and k where folds may overflow; Q_j, S_j, those of keys without weight too, and |b_j| of
  // keys that are not sunk; no infinite q·k; the softcap; M⁻ > m − Θ/8. The smallest normal number is half of ω_W/e^τ.
  double const folded = larger(1, scale_upper);
  bool const folds = larger(query_norm, found.largest_norm) * folded < f.h0_limit;
  in_range = sink_in_range && finite_products && scale_upper < f.h0_limit && (!folds_may_overflow(model) || folds) &&
             found.largest_size < f.h0_limit && keys_without_weight_in_range(model, *this) &&
             (softcap == 0 || (f.omega_w * 0.5 <= softcap && softcap < f.h0_limit)) && -sunk() / 2 < max_below;
  // E2: max(|M⁺|, |M⁻|) ≤ |m| + max(|M⁺ − m|, |M⁻ − m|).
  largest_max = larger(max_upper + max_above, max_upper + absolute(max_below));
  if (sink_above > 0) largest_max = larger(largest_max, max_upper + larger(absolute(keys_above), absolute(keys_below)));
  // Section 3, Reference: κ_j ≤ γ_{c_m}(1 + γ_{k_x})·Y_j; E11: one number for g, g⁺ and max_j κ_j where that is small.
  gamma_x = sums_nothing() ? 0 : gamma(model.k_x, f.u);
  reference_factor = model.c_m > 0 ? gamma(model.c_m, f.u) * (1 + gamma_x) : 0;
  theta = reference_error_at(found.largest_reach);
  largest_Y = widest_Y = larger(found.largest_reach + model.tau, largest_max);
  if (!needs_references()) g = g_plus = model.large_scores == problem::large_scores::stable ? 0 : theta;
}

/// Section 3, Reference: g, g⁺ and max_{j∈L} Y_j. H5, and the exception of H0 for rows in which all of L is under its
/// own bias.
template <class References>
constexpr void row_terms::after_references(References const& found) noexcept {
  largest_Y = larger(found.reach_of_L + model.tau, largest_max);
  if (model.large_scores == problem::large_scores::stable) return;
  double const limit = reference_limit();
  g = reference_error_at(found.reach_of_L);
  g_plus = larger(g, reference_error_at(found.reach_of_unmasked));
  padded = limit < g && found.reach_of_unbiased == 0;
  if (padded) g = g_plus = 0;
  if (by_sigmoid()) g = g_plus;  // a part need not have a key of L
  double const beyond = found.reach_beyond_mask_limit;  // 0: no such key
  in_range = in_range && g_plus <= limit && !(beyond > 0 && limit < reference_error_at(beyond));
}

/// B − 1 + S − 1 with B = ⌈N/b⌉, 1 for two passes, n for an unknown order; a sink is one block more (section 3, Rescales;
/// Lemma 2).
constexpr double row_terms::most_rescales() const noexcept {
  if (sums_nothing()) return 0;
  double const blocks = model.rescales == problem::rescale_count::none ? 1
                        : model.rescales == problem::rescale_count::per_block
                            ? static_cast<double>((m + model.block - 1) / model.block)
                            : n;
  return blocks - 1 + static_cast<double>(model.splits - 1 + (has_sink ? 1 : 0));
}

constexpr void row_terms::after_rescales(double largest_R) noexcept {
  problem::working_format const& f = model.format;
  double const u = f.u;
  R = largest_R;
  // Section 3, Reference: θ; Λ = (1/2)·min(1, e^{1/2 − g}), 3/4 of it where lazy parts merge raw.
  bool const stable = model.large_scores == problem::large_scores::stable || padded;
  theta = smaller(stable ? 0.5 : reference_limit(), theta);
  least_sum = g > 0.5 ? 0.5 / exp_upper(g - 0.5) : 0.5;
  if (model.tau > 0 && model.splits > 1 && !by_lse()) least_sum *= 0.75;
  // ω_W = (ω_W/e^τ)·e^{τ + θ} and far_P = far (Lemma 3, Underflow), but where l sums rounded weights those below
  // ω_p/u_p may vanish from it: far_P = min(far, −ln(ω_p/u_p)), ω_W ≥ 2ω_p·e^{τ + θ}.
  e_tau = model.tau > 0 ? exp_upper(model.tau) : 1;
  double const largest_weight = model.tau + theta > 0 ? exp_upper(model.tau + theta) : 1;
  omega_w = f.omega_w * largest_weight;
  far_limit = f.far;
  if (model.p_shared && model.u_p > 0) {
    far_limit = smaller(far_limit, -log_upper(model.omega_p / model.u_p));
    omega_w = larger(omega_w, 2 * model.omega_p * largest_weight);
  }
  // ε̂ ≤ ε/(1 − ε) (E3); ℓ = ln n + 1 + τ + min(g⁺, Λ_x) (Lemma 4).
  eps_hat = sums_nothing() ? 0 : model.eps / (1 - model.eps) * (1 + 0x1p-50);
  ell = by_lse() ? log_upper(n) + 1 + model.tau + g_plus : 0;
  // X_j = M⁺ − s_j + E_j + X_extra, X_extra = 2τ(1 + 2u) + ℓ (Lemma 3, Arguments).
  X_extra = 2 * model.tau * (1 + 2 * u) + ell;
  // z_extra = û_p + [flushes or k_x > 1]·(R + 1)k_x·ω (Lemma 3), û_p ≤ u_p/(1 − u_p) (E3).
  z_extra = model.p_shared ? model.u_p / (1 - model.u_p) * (1 + 0x1p-50) : 0;
  if (model.flushes || model.k_x > 1) z_extra += (R + 1) * model.k_x * f.omega;
  // μ_j = z_per_Y·Y_j + z_merge = μ·[γ_{k'}(Y_j + ℓ) + γ_{k_lse − 1}·Y_j + ε_log·ℓ + ε̂], k' = max(k_lse, 2) (Lemma 4).
  if (by_lse()) {
    double const rounded = gamma(model.k_lse < 2 ? 2 : model.k_lse, u);
    double levels = model.merge_levels;
    if (by_sigmoid()) levels = model.parts_are_keys ? 0 : 1;  // the LSE of a part, then those of merges but the last
    z_per_Y = levels * (rounded + gamma(model.k_lse - 1, u));
    z_merge = levels * (rounded * ell + model.eps_log * ell + eps_hat);
    if (by_sigmoid()) {
      sigmoid_lse = error_of_merged_lse(model, ell, widest_Y);
      double const before = larger(0, sigmoids_on_way(model, n) - 1);
      z_per_Y += before * sigmoid_lse.per_Y, z_merge += before * sigmoid_lse.rest;
    }
  }
}

template <class Sums>
constexpr void row_terms::after_weights(Sums const& found) noexcept {
  problem::working_format const& f = model.format;
  // Section 3, Weights: n_far, Σ P_j, D from below, 1 − D (E4). Dominance: max_i (s_i − e_i).
  n_far = found.n_far;
  sum_P = found.sum_P;
  heaviest_odds = found.largest_weight < 1 ? found.largest_weight / (1 - found.largest_weight) : infinity;
  sum_groups = found.sum_groups, sum_grouped_squares = found.sum_grouped_squares;
  dominance_top = found.dominance_top;
  D_lower = found.D_lower * (2 - slack);
  one_minus_D = found.one_minus_D * slack;

  // Corollary L, Λ_T: ln(1 + ΣU_j); −ln D, from 1 − D where that is below 1/2 (E4).
  double const sum_U = found.sum_U * slack;
  log_upper_side = sum_U < 1 ? sum_U : smaller(sum_U, log_upper(1 + sum_U));            // ln(1 + x) ≤ x
  log_lower_side = one_minus_D < 0.5 ? one_minus_D / (1 - one_minus_D) * (1 + 0x1p-50)  // −ln(1 − x) ≤ x/(1 − x)
                   : D_lower > 0     ? larger(0, log_upper(1 / D_lower))
                                     : infinity;
  // Corollary L, Λ_H = max(M⁺ − m, m − M⁻) + 2τ(1 + γ_{k_x}) + ln n + (R + 1)ε̂ + û_p + […](R + 1)k_x·ω + κ* + nω_W/Λ, and
  // γ_{k_x}X_⊥ + G_⊥ beside a sink; none where parts are merged by LSE.
  log_hull = by_lse() ? infinity
                      : larger(max_above, -max_below) + 2 * model.tau * (1 + gamma_x) + larger(0, log_upper(n)) +
                            (R + 1) * eps_hat + z_extra + found.kappa_beside_gap + n * far_share() + sink_slack;
  e_above = max_above < 1 ? 1 / (1 - max_above) : infinity;  // e^{M⁺ − m} of Ω_O (E3)

  // η⁺ = 2γ_{k_x}(τ + ℓ) + 2(R + 1)ε̂ + 2û_p + 2[…](R + 1)k_x·ω + max_{i∈L} μ_i (Clause D).
  double const merge_error = z_per_Y * largest_Y + z_merge;
  eta_extra = 2 * gamma_x * (model.tau + ell) + 2 * (R + 1) * eps_hat + 2 * z_extra + merge_error;

  // H4: Rε + 2(2h + R + S + ϱ + 8)u ≤ 1/4; k_pre + 2k_F ≤ 15; ε ≤ 1/8 where c_m ≥ 1; n_far·ω_W/Λ ≤ 1/2; max_{j∈L} μ_j ≤
  // 1/2, μ'·u_state ≤ 1/2. H0: n·e^{τ + g⁺} < Θ, stored scores and weights below the limits of their formats.
  double const S = model.splits, additions = 2 * height + R + S + divisions + 8;
  bool const sums_short = R * model.eps + 2 * additions * f.u <= 0.25 && model.k_pre + 2 * model.k_f <= 15;
  double const largest_weight = g_plus > 0 ? e_tau * exp_upper(g_plus) : e_tau;
  judged = in_range && sums_short && (model.c_m == 0 || model.eps <= 0.125) && n_far * far_share() <= 0.5 &&
           merge_error <= 0.5 && states * model.u_state <= 0.5 && n * largest_weight < f.h0_limit &&
           largest_weight * kept_factor < model.p_limit && found.largest_stored < model.s_limit && largest_max < model.s_limit;
  e_tau = largest_weight;  // from here on that of the lines of H0 on l and Ô
  // Section 5, weights by the LSE: no term for these losses. Lemma 8: e_σ.
  if (by_lse_alone() && (states > 0 || by_sigmoid() || (drops && model.omega_drop > 0))) judged = false;
  if (by_sigmoid() && !(mixed < infinity && sigmoids_are_sharp(model, largest_argument()))) judged = false;
  theorem_holds = judged && !padded;
  theorem_is_sharpest = n_far == 0 && found.largest_T <= D_lower * 0.5;  // E6

  // Section 3, Sums, lse_normalised (Lemma 4): ξ = μ·[ε + k_x·min(K, X⁺)·u + γ_{min(S,n)−1} + ξ_L], Γ_C = ξ/(1 − ξ);
  // Γ_F = 0. Else Γ_F = γ_{k_F}.
  gamma_F = by_sigmoid() ? 0 : gamma(model.k_f, f.u);
  if (by_sigmoid())
    gamma_sigmoids = weights_by_sigmoids(model, sigmoids_on_way(model, n), found.largest_near_X,
                                         sigmoid_lse.per_Y * largest_Y + sigmoid_lse.rest + reference_factor * ell);
  if (model.merge == problem::split_merge::lse_normalised) {
    double const levels = model.merge_levels;
    combine_error =
        levels * (model.eps + model.k_x * smaller(largest_argument(), found.largest_near_X) * f.u) * (1 + 0x1p-50);
    double const rounded = gamma(model.k_lse < 2 ? 2 : model.k_lse, f.u);
    double const lse_errors = z_per_Y * largest_Y + levels * (rounded + model.eps_log) * ell;  // μ·ξ_L
    double const xi = combine_error + levels * gamma(smaller(S, n) - 1, f.u) + lse_errors;
    gamma_C = xi < 1 ? xi / (1 - xi) * (1 + 0x1p-50) : infinity;
    gamma_F = 0;
  }
}

}  // namespace attest::reference

#include "reference/bound/sink_factor.hpp"
#include "reference/bound/sink_terms.hpp"
#include "reference/bound/sum_terms.hpp"
