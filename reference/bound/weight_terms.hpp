// docs/bound.md, section 3, Rescales and Weights; H4; Corollary L: the fourth and the fifth stage of row_terms
// (reference/bound/terms.hpp).
#pragma once

#include "reference/bound/score_terms.hpp"

namespace attest::reference {

/// Rescales and the constants of Weights, from every key's R_j.
struct rescale_terms : reference_terms {
  double R = 0;                                  ///< max_j R_j
  double theta = 0, least_sum = 0.5;             ///< θ; Λ
  double e_tau = 1, omega_w = 0, far_limit = 0;  ///< e^τ; ω_W; far_P
  // ε̂; ε̂_r; ℓ; the constants of X_j, of X̂_j, of z_j, of μ_j and of ν_j; ξ_j and Ξ_j (Lemmas 4 and 8).
  double eps_hat = 0, rescale_eps_hat = 0, ell = 0, X_extra = 0, lost_argument = 0, z_extra = 0, z_per_Y = 0,
         z_merge = 0, nu_per_Y = 0, nu_merge = 0;
  lse_error part_lse{}, sigmoid_lse{};

  constexpr rescale_terms(reference_terms const& references, double largest_R) noexcept;

  /// n_far·ω_W/Λ, of one key.
  constexpr double far_share() const noexcept { return omega_w / least_sum * (1 + 0x1p-50); }
  /// γ_{k_x}X_⊥ + κ_⊥ of Λ_H, from the sink_errors (Corollary L).
  constexpr double slack_beside_sink(double X, double reference_error) const noexcept {
    return rounded_up(gamma_x * X + reference_error) * (1 + 0x1p-50);
  }

 protected:
  constexpr rescale_terms() noexcept = default;
};

/// Weights and the sums of Dominance and of Corollary L, from every key's z_j, T_j, P_j.
struct weight_terms : rescale_terms {
  // n_far, D from below, 1 − D (E4), Σ P_j. Dominance: max_i (s_i − e_i) − m, η⁺.
  double n_far = 0, D_lower = 0, one_minus_D = 1, sum_P = 0, dominance_top = 0, eta_extra = 0;
  // Corollary W, second pass: max{1 − D, min(1, ΣU_j + n_far·ω_W/Λ)}; what such a weight may be of the sum.
  double off_sum = 1, again = 1;
  // Corollary L: both sides of Λ_T without its last term, Λ_H; of a sink γ_{k_x}X_⊥ + κ_⊥. Ω_O: e^{M⁺ − m} (E3).
  double log_upper_side = 0, log_lower_side = 0, log_hull = infinity, sink_slack = 0, e_above = 0;
  double e_tau_g = 1;  ///< e^{τ + g⁺} of the lines of H0 on l and Ô
  // Section 3, Sums: Γ_F; Γ_C and its ε + k_x·min(K, X⁺)·u; Γ_σ of returned weights (Lemma 8).
  double gamma_F = 0, gamma_C = 0, combine_error = 0, gamma_sigmoids = 0;
  double sum_groups = 0, sum_grouped_squares = 0;  ///< section 9: Σγ_j, Σγ_jπ_j²
  double heaviest_odds = 0;                        ///< max π_j/(1 − π_j) (section 8, Dull elements)
  bool may_be_judged = false;    ///< H0, H4 and H5 (E10) except Γ_L < 1, without the condition on the column's V
  bool may_be_sharpest = false;  ///< E6 where the theorem holds

  /// `found` has the weight_sums of all keys, slack_of_sink is slack_beside_sink, 0 without a sink.
  template <class Sums>
  constexpr weight_terms(rescale_terms const& rescales, Sums const& found, double slack_of_sink) noexcept;

  /// Corollary L: for a key that is neither far nor flushed, ln(1/π_j) + z_j may stand for −ln D in Λ_T.
  constexpr void near_key(double weight_lower, double z) noexcept {
    // ln x ≥ 1 − 1/x: only a key that passes this can lower the bound.
    if (weight_lower > 0 && 1 - weight_lower + z < log_lower_side + 0x1p-50)
      log_lower_side = smaller(log_lower_side, log_upper(1 / weight_lower) + z);
  }

 protected:
  constexpr weight_terms() noexcept = default;
};

constexpr rescale_terms::rescale_terms(reference_terms const& references, double largest_R) noexcept
    : reference_terms(references), R(largest_R) {
  problem::working_format const& f = model.format;
  double const u = f.u;
  // Section 3, Reference: θ; Λ.
  bool const stable = model.large_scores == problem::large_scores::stable || padded;
  theta = smaller(stable ? 0.5 : reference_limit(), largest_kappa);
  least_sum = least_sum_with(g);
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
  // ε̂ ≤ ε/(1 − ε), ε̂_r likewise (E3); ℓ = (1 + 2γ_{k_x})(ln n + τ) + 3/2 + max_{j∈L} κ_j (Lemma 4).
  eps_hat = sums_nothing() ? 0 : model.eps / (1 - model.eps) * (1 + 0x1p-50);
  rescale_eps_hat = sums_nothing() ? 0 : eps_of_rescales() / (1 - eps_of_rescales()) * (1 + 0x1p-50);
  if (by_lse())
    ell = (1 + 2 * gamma_x) * (log_upper(n) + model.tau) + 1.5 + reference_factor * largest_Y * (1 + 0x1p-50);
  // X_j = M⁺ − s_j + E_j + X_extra, X_extra = 2τ(1 + 2u) + ℓ (Lemma 3, Arguments), and κ_j + μ_j of merges by LSE.
  X_extra = 2 * model.tau * (1 + 2 * u) + ell;
  // z_extra = û_p + [flushes or k_x > 1]·(R + 1)k_x·ω (Lemma 3), û_p ≤ u_p/(1 − u_p) (E3).
  lost_argument = model.flushes || model.k_x > 1 ? model.k_x * f.omega : 0;
  z_extra = (model.p_shared ? model.u_p / (1 - model.u_p) * (1 + 0x1p-50) : 0) + (R + 1) * lost_argument;
  // μ_j = z_per_Y·Y_j + z_merge = μ·[ξ_j + ε̂]/(1 − μγ_{k'}) (Lemma 4).
  if (by_lse()) {
    part_lse = error_of_divided_lse(model, ell, reference_factor);
    double levels = model.merge_levels;
    if (by_sigmoid()) levels = model.parts_are_keys ? 0 : 1;  // the LSE of a part; ξ of the merges is added below
    else levels = gamma(levels, rounded_lse(model)) / rounded_lse(model);
    z_per_Y = levels * part_lse.per_Y;
    z_merge = levels * (part_lse.rest + eps_hat);
    if (by_sigmoid()) {
      sigmoid_lse = error_of_merged_lse(model, ell, reference_factor, widest_Y);
      double const before = larger(0, sigmoids_on_way(model, n) - 1);
      z_per_Y += before * sigmoid_lse.per_Y, z_merge += before * sigmoid_lse.rest;
    }
    // ν_j = nu_per_Y·Y_j + nu_merge = μ_j + γ_{k_x}(κ_j + μ_j) (Clause D).
    nu_per_Y = (1 + gamma_x) * z_per_Y + gamma_x * reference_factor;
    nu_merge = (1 + gamma_x) * z_merge;
  }
}

template <class Sums>
constexpr weight_terms::weight_terms(rescale_terms const& rescales, Sums const& found, double slack_of_sink) noexcept
    : rescale_terms(rescales), sink_slack(slack_of_sink) {
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
  // Corollary L, Λ_H = max(M⁺ − m, m − M⁻) + 2τ(1 + γ_{k_x}) + ln n + ε̂ + Rε̂_r + û_p + […](R + 1)k_x·ω + κ* + nω_W/Λ,
  // and γ_{k_x}X_⊥ + G_⊥ beside a sink. There is no such bound if parts are merged by LSE.
  log_hull = by_lse() ? infinity
                      : larger(max_above, -max_below) + 2 * model.tau * (1 + gamma_x) + larger(0, log_upper(n)) +
                            (eps_hat + R * rescale_eps_hat) + z_extra + found.kappa_beside_gap + n * far_share() +
                            sink_slack;
  e_above = max_above < 1 ? 1 / (1 - max_above) : infinity;  // e^{M⁺ − m} of Ω_O (E3)

  // η⁺ = 2γ_{k_x}(2τ + ℓ) + 2(ε̂ + Rε̂_r) + 2û_p + 2[…](R + 1)k_x·ω + max_{i∈L} ν_i (Clause D).
  double const merge_error = z_per_Y * largest_Y + z_merge, largest_nu = nu_per_Y * largest_Y + nu_merge;
  eta_extra = 2 * gamma_x * (2 * model.tau + ell) + 2 * (eps_hat + R * rescale_eps_hat) + 2 * z_extra + largest_nu;

  // H4: Rε_r + 2(2max(h, h_L) + R + S + ϱ + 8)u ≤ 1/4; k_pre + 2k_F ≤ 15; ε ≤ 1/8 where c_m ≥ 1; n_far·ω_W/Λ ≤ 1/2;
  // max_{j∈L} μ_j ≤ 1/2, μ'·u_state ≤ 1/2. H0: n·e^{τ + g⁺} < Θ, stored scores and weights below the limits of their
  // formats.
  double const S = model.splits, additions = 2 * larger(height, height_L) + R + S + divisions + 8;
  bool const sums_short = R * eps_of_rescales() + 2 * additions * f.u <= 0.25 && model.k_pre + 2 * model.k_f <= 15;
  e_tau_g = g_plus > 0 ? e_tau * exp_upper(g_plus) : e_tau;
  may_be_judged = in_range && sums_short && (model.c_m == 0 || model.eps <= 0.125) && n_far * far_share() <= 0.5 &&
                  merge_error <= 0.5 && states * model.u_state <= 0.5 && n * e_tau_g < f.h0_limit &&
                  e_tau_g * kept_factor < model.p_limit && found.largest_stored < model.s_limit &&
                  largest_max < model.s_limit;
  // Section 5, weights by the LSE: no term for these losses. Lemma 8: e_σ.
  if (by_lse_alone() && (states > 0 || by_sigmoid() || (drops && model.omega_drop > 0))) may_be_judged = false;
  if (weighs_again() && (by_sigmoid() || (states > 0 && model.state_limit < infinity))) may_be_judged = false;
  if (by_sigmoid() && !(mixed < infinity && sigmoids_are_sharp(model, largest_argument()))) may_be_judged = false;
  may_be_sharpest = n_far == 0 && found.largest_T <= D_lower * 0.5;  // E6
  // Corollary W: e^{η⁺ + 2θ + max_{i∈L} ν_i} + ω_W/Λ, of no use where A^T is the smallest entry.
  off_sum = larger(one_minus_D, smaller(1, sum_U + n_far * far_share()));
  if (!may_be_sharpest) again = (exp_upper(eta_extra + 2 * theta + largest_nu) + far_share()) * (1 + 0x1p-50);

  // Section 3, Sums, lse_normalised (Lemma 4): ξ = μ·[ε + k_x·min(K, X⁺)·u + γ_{min(S,n)−1} + ξ_L + min(S, n)·e^{−x0}],
  // Γ_C = ξ/(1 − ξ); Γ_F = 0. Else Γ_F = γ_{k_F}.
  gamma_F = by_sigmoid() ? 0 : gamma(model.k_f, f.u);
  if (by_sigmoid())
    gamma_sigmoids = weights_by_sigmoids(model, sigmoids_on_way(model, n), found.largest_near_X,
                                         sigmoid_lse.per_Y * largest_Y + sigmoid_lse.rest + reference_factor * ell);
  if (model.merge == problem::split_merge::lse_normalised) {
    double const levels = model.merge_levels;
    combine_error =
        levels * (model.eps + model.k_x * smaller(largest_argument(), found.largest_near_X) * f.u) * (1 + 0x1p-50);
    double const lse_errors =
        levels * (part_lse.per_Y * largest_Y + part_lse.rest + rounded_lse(model) * merge_error);  // μ·ξ_L
    double const parts = smaller(S, n), cut = parts * lost_by_cutoff(model);
    double const xi = combine_error + levels * (gamma(parts - 1, f.u) + cut) + lse_errors;
    gamma_C = xi < 1 ? xi / (1 - xi) * (1 + 0x1p-50) : infinity;
    gamma_F = 0;
  }
}

}  // namespace attest::reference
