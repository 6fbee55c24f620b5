// docs/bound.md, section 3, and H0 and H4 of section 2: the quantities of a whole row. Those of one key or one column
// are in reference/bound/formulas-inl.hpp.
#pragma once

#include <cstdint>

#include "problem/kernel_model.hpp"
#include "reference/bound/facts.hpp"
#include "reference/real/outward.hpp"

namespace attest::reference {

/// γ_k(u) = k·u/(1 − k·u), section 1; infinity from k·u = 1 on.
constexpr double gamma(double k, double u) noexcept {
  double const ku = k * u;
  return ku < 1 ? ku / (1 - ku) * (1 + 0x1p-50) : infinity;
}

/// (1 + a)(1 + b) − 1, without cancellation (E1).
constexpr double compounded(double a, double b) noexcept { return (a + b + a * b) * (1 + 0x1p-50); }

/// The row's part of section 3, filled in the order of its functions while the keys are visited between them.
struct row_terms : row_scalars {
  problem::kernel_model model{};
  double n = 0;      ///< visible keys with a finite score
  double slack = 1;  ///< E1: covers the rounding of any sum of n or d products in this evaluation

  // Section 3, Scores: the constants of E_j (see begin).
  double product_error = 0, score_absolute = 0, per_key_norm = 0, e_s = 0, k_qk = 0, u_qk = 0, cap_absolute = 0;
  // Section 3, Scores: M⁺ − m, M⁻ − m from below, max_j E_j, a bound of max(|M⁺|, |M⁻|) (E2).
  double max_above = 0, max_below = -infinity, largest_E = 0, largest_max = 0;
  bool in_range = false;  ///< the conditions of H0 on scores, products and biases
  // Section 3, Rescales and Weights: R and the constants of z_j (see after_rescales).
  double R = 0, gamma_x = 0, reference_factor = 0, gamma_m = 0, eps_hat = 0, ell = 0, X_extra = 0, z_extra = 0,
         z_per_Y = 0, e_tau = 1, omega_w = 0, far_limit = 0;
  // Section 3, Weights: n_far, D from below, 1 − D (E4), Σ P_j. Dominance: max_i (s_i − e_i) − m, η⁺.
  double n_far = 0, D_lower = 0, one_minus_D = 1, sum_P = 0, dominance_top = 0, eta_extra = 0;
  // Corollary L: both sides of Λ_T without its last term, Λ_H. Ω_O: e^{M⁺ − m} (E3).
  double log_upper_side = 0, log_lower_side = 0, log_hull = infinity, e_above = 0;
  bool theorem_is_sharpest = false;  ///< E6: no column can gain from A^H or A^D
  // Section 3, Sums: h, s, s', Γ_L, Γ_F, the u_p and the u_pv of Γ_O.
  double height = 0, merges_L = 0, merges_O = 0, gamma_L = 0, gamma_F = 0, u_p = 0, u_pv = 0;
  bool theorem_holds = false;  ///< all of H4, which the entry A^T asks for
  bool judged = false;         ///< H0 and the first part of H4 (E10), without the condition on the column's V

  /// ε + K·u with K = far + ln(1/u) + 2: section 3, Sums, merging without a final division; Lemma 4.
  constexpr double combine_error() const noexcept {
    return model.eps + (model.format.far + log_upper(1 / model.format.u) + 2) * model.format.u;
  }
  /// Θ/4: a key is sunk where s_j + E_j < m − Θ/4 (H0).
  constexpr double sunk() const noexcept { return model.format.h0_limit / 4; }
  constexpr bool by_lse() const noexcept { return model.merge != problem::split_merge::raw; }

  /// The constants of Scores and Sums that no key changes. Requires keys ≥ 1.
  constexpr void begin(problem::kernel_model const& how, row_scalars const& scalars, std::size_t keys) noexcept;
  /// M⁺, M⁻ and H0, after every key's E_j.
  template <class Extremes>
  constexpr void after_scores(Extremes const& found) noexcept;
  /// B − 1 + S − 1: section 3, Rescales; Lemma 2.
  constexpr double most_rescales() const noexcept;
  /// The constants of Weights, after every key's R_j, whose largest is R.
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
  /// Γ_L and the second part of H4, after every key's share_j; per_key is Σ share_j·γ_{h+R_j+s}.
  constexpr void after_shares(double per_key) noexcept;

 private:
  constexpr double tree_height() const noexcept;
};

constexpr void row_terms::begin(problem::kernel_model const& how, row_scalars const& scalars,
                                std::size_t keys) noexcept {
  *this = {};
  static_cast<row_scalars&>(*this) = scalars;
  model = how, n = static_cast<double>(keys);
  auto const products = static_cast<double>(scalars.d);
  double const u = model.format.u, omega = model.format.omega, scale = scale_upper;
  slack = 1 + (16 * n + 8 * products + 64) * 0x1p-53;  // E1

  // E⁰_j (Lemma 1, Product) = γ_{k_qk}(u_qk)·S_j                                              product_error
  //                         + ω(2d·σ⁺ + 2) + [flushes]·ω(|σ|·‖q‖₁ + 1)                        score_absolute
  //                         + ([fold_q]·ω + [flushes]·ω|σ|)·‖k_j‖₁                            per_key_norm
  // Known gap G5: no underflow of σ or σ·log₂ e themselves, nor of a scale folded into k.
  u_qk = model.u_qk > 0 ? model.u_qk : u;
  k_qk = static_cast<double>(model.k_qk_per_d) * products + model.k_qk_base;
  product_error = gamma(k_qk, u_qk);
  double const folded_scale = model.fold_q ? larger(1, scale) : scale;  // σ⁺
  score_absolute = omega * (2 * products * folded_scale + 2);
  if (model.fold_q) per_key_norm += omega;
  if (model.flushes) score_absolute += omega * (scale * query_norm + 1), per_key_norm += omega * scale;
  // E¹_j (Lemma 1, Softcap): c·a_t + (1 + c)ω. Known gap G6: the a_t of the presets and an exp-based tanh.
  if (softcap > 0) cap_absolute = softcap * model.a_t + (1 + softcap) * omega;
  // E_j (Lemma 1, Bias): 1 + e_s = (1 + γ_{k_add})(1 + u_s).
  e_s = model.k_add > 0 ? compounded(gamma(model.k_add, u), model.u_s) : model.u_s;

  // Section 3, Sums: u_p counts as 0 in Γ_O where P is shared, u_pv as u where it is smaller; h; s; s' (Lemmas 4, 6).
  u_p = model.p_shared ? 0 : model.u_p;
  u_pv = larger(u, model.u_pv);
  height = tree_height();
  double const S = model.splits;
  merges_L = S > 1 && !by_lse() ? S : S - 1;
  merges_O = by_lse() ? S - 1 + model.k_f + 1 : merges_L;  // known gap G9: one level of merging
}

template <class Extremes>
constexpr void row_terms::after_scores(Extremes const& found) noexcept {
  max_above = found.above, max_below = found.below, largest_E = found.largest_E;
  // H0: Q_j, S_j, |b_j| of keys that are not sunk < Θ, and of keys without weight Q_j, S_j < Θ; M⁻ > m − Θ/8.
  // Known gaps: G5, σ and folded operands are not asked for; G1, no limit on the κ_j of c_m ≥ 1.
  in_range = larger(found.largest_size, lost_upper) < model.format.h0_limit;
  in_range = in_range && -sunk() / 2 < max_below;
  // E2: max(|M⁺|, |M⁻|) ≤ |m| + max(|M⁺ − m|, |M⁻ − m|).
  largest_max = larger(max_upper + max_above, max_upper + absolute(max_below));
}

/// B − 1 + S − 1 with B = ⌈N/b⌉, 1 for two passes, n for an unknown order (section 3, Rescales; Lemma 2).
/// Known gap G13: parts that rescale lazily and merge raw are trusted to keep to it.
constexpr double row_terms::most_rescales() const noexcept {
  double const blocks = model.rescales == problem::rescale_count::none ? 1
                        : model.rescales == problem::rescale_count::per_block
                            ? static_cast<double>((m + model.block - 1) / model.block)
                            : n;
  return blocks - 1 + static_cast<double>(model.splits - 1);
}

/// h = n − 1, or min(n − 1, b + B − 2) (section 3, Sums; Lemma 6): additions on one path through the summation tree.
/// Adding an invisible key's exact 0 rounds nothing.
constexpr double row_terms::tree_height() const noexcept {
  double const chain = n - 1;
  if (model.height == problem::sum_height::in_sequence) return chain;
  auto const block = static_cast<double>(model.block);
  double const blocks = static_cast<double>((m + model.block - 1) / model.block);
  return smaller(chain, block + blocks - 2);
}

constexpr void row_terms::after_rescales(double largest_R) noexcept {
  problem::working_format const& f = model.format;
  double const u = f.u;
  R = largest_R;
  // Section 3, Weights; Lemma 3, Underflow. ω_W = (ω_W/e^τ)·e^τ and far_P = far, but where l sums rounded weights those
  // below ω_p/u_p may vanish from it: far_P = min(far, −ln(ω_p/u_p)), ω_W ≥ 2ω_p·e^τ.
  e_tau = model.tau > 0 ? exp_upper(model.tau) : 1;
  omega_w = f.omega_w * e_tau;
  far_limit = f.far;
  if (model.p_shared && model.u_p > 0) {
    far_limit = smaller(far_limit, -log_upper(model.omega_p / model.u_p));
    omega_w = larger(omega_w, 2 * model.omega_p * e_tau);
  }
  // γ_{k_x}; κ_j = γ_{c_m}(1 + γ_{k_x})·Y_j (Lemma 3, Reference); ε̂ ≤ ε/(1 − ε) (E3); ℓ = ln n + 1 + τ (Lemma 4).
  gamma_x = gamma(model.k_x, u);
  gamma_m = model.c_m > 0 ? gamma(model.c_m, u) : 0;
  reference_factor = gamma_m * (1 + gamma_x);
  eps_hat = model.eps / (1 - model.eps) * (1 + 0x1p-50);
  ell = by_lse() ? log_upper(n) + 1 + model.tau : 0;
  // X_j = M⁺ − s_j + E_j + X_extra, X_extra = 2τ(1 + 2u) + ℓ (Lemma 3, Arguments).
  X_extra = 2 * model.tau * (1 + 2 * u) + ell;
  // z_extra = û_p + [flushes or k_x > 1]·(R + 1)k_x·ω + μ⁰ (Lemma 3), û_p ≤ u_p/(1 − u_p) (E3).
  z_extra = model.p_shared ? model.u_p / (1 - model.u_p) * (1 + 0x1p-50) : 0;
  if (model.flushes || model.k_x > 1) z_extra += (R + 1) * model.k_x * f.omega;
  // μ_j = 2u(1 + 2u)·Y_j + μ⁰, μ⁰ = 2u(1 + 2u)·ℓ + ε_log·ℓ + ε̂ (Lemma 4). Known gap G11: k_lse is not in it.
  if (by_lse()) {
    z_per_Y = 2 * u * (1 + 2 * u);
    z_extra += z_per_Y * ell + model.eps_log * ell + eps_hat;
  }
}

template <class Sums>
constexpr void row_terms::after_weights(Sums const& found) noexcept {
  problem::working_format const& f = model.format;
  // Section 3, Weights: n_far, Σ P_j, D from below, 1 − D (E4). Dominance: max_i (s_i − e_i).
  n_far = found.n_far;
  sum_P = found.sum_P;
  dominance_top = found.dominance_top;
  D_lower = found.D_lower * (2 - slack);
  one_minus_D = found.one_minus_D * slack;

  // Corollary L, Λ_T: ΣP_j where every z_j < 1, else max_j z_j; −ln D, from 1 − D where that is below 1/2 (E4).
  bool const all_small = found.largest_z < 1;
  log_upper_side = all_small ? sum_P * slack : found.largest_z;                         // ln(1 + x) ≤ x
  log_lower_side = one_minus_D < 0.5 ? one_minus_D / (1 - one_minus_D) * (1 + 0x1p-50)  // −ln(1 − x) ≤ x/(1 − x)
                   : D_lower > 0     ? larger(0, log_upper(1 / D_lower))
                                     : infinity;
  // Corollary L, Λ_H = max(M⁺ − m, m − M⁻) + 2τ(1 + γ_{k_x}) + ln n + (R + 1)ε̂ + û_p + […](R + 1)k_x·ω
  //                    + γ_{c_m}(1 + γ_{k_x})·max_j Y_j + 2nω_W; none where parts are merged by LSE.
  log_hull = by_lse() ? infinity
                      : larger(max_above, -max_below) + 2 * model.tau * (1 + gamma_x) + larger(0, log_upper(n)) +
                            (R + 1) * eps_hat + z_extra + reference_factor * found.largest_Y + 2 * n * omega_w;
  e_above = max_above < 1 ? 1 / (1 - max_above) : infinity;  // e^{M⁺ − m} of Ω_O (E3)

  // η⁺ = 2γ_{k_x}τ + 2(R + 1)ε̂ + 2û_p + 2[…](R + 1)k_x·ω + 2(max_i μ_i + μ⁰) (Clause D); z_extra contains û_p, […] and
  // μ⁰. Known gap G11: no γ_{k_x}·ℓ.
  double const merge_extra =
      by_lse() ? 2 * (z_per_Y * (found.largest_Y + ell) + model.eps_log * ell + eps_hat) : 0;  // 2·max_i μ_i
  eta_extra = 2 * gamma_x * model.tau + 2 * (R + 1) * eps_hat + merge_extra + 2 * z_extra;

  // H4: Rε + 2(2h + R + S + 8)u ≤ 1/4. H0: n·e^τ < Θ. For A^T also γ_{c_m}·max_j Y_j ≤ 1/2. Known gap G1: where only
  // the last fails, Λ = 1/2 (Lemma 5 a) is used all the same.
  double const S = model.splits;
  bool const sums_short = R * model.eps + 2 * (2 * height + R + S + 8) * f.u <= 0.25;
  judged = in_range && sums_short && n * e_tau < f.h0_limit;
  theorem_holds = judged && gamma_m * found.largest_Y <= 0.5;
  theorem_is_sharpest = n_far == 0 && found.largest_T <= D_lower * 0.5;  // E6

  // Section 3, Sums, lse_normalised (Lemma 4): ξ = ε + K·u + 2u(max_j Y_j + ℓ) + ε_log·ln S, Γ_C = ξ/(1 − ξ), kept in
  // gamma_L until after_shares; Γ_F = 0. Else Γ_F = γ_{k_F}.
  if (model.merge == problem::split_merge::lse_normalised) {
    double const extra = combine_error() + 2 * f.u * (found.largest_Y + ell) + model.eps_log * log_upper(S);
    gamma_L = extra < 1 ? extra / (1 - extra) : infinity;
  }
  gamma_F = model.merge == problem::split_merge::lse_normalised ? 0 : gamma(model.k_f, f.u);
}

constexpr void row_terms::after_shares(double per_key) noexcept {
  problem::working_format const& f = model.format;
  // Section 3, Sums (Lemma 6): Γ_L = min{γ_{h+R+s}, Σ_j share_j·γ_{h+R_j+s}} + Rω/Λ, Λ = 1/2. Known gap G15: in f16 as
  // working format what r·l loses in a tree of merges is not covered.
  double const sums = smaller(gamma(height + R + merges_L, f.u), per_key) * slack + R * f.omega * 2;
  // lse_normalised: (1 + Γ_L)(1 + Γ_C) − 1.
  gamma_L = model.merge == problem::split_merge::lse_normalised ? compounded(sums, gamma_L) : sums;
  // H4: Γ_L < 1. Known gap G2: nothing asks the same of Γ_O, so that an infinite B_c counts as judged.
  judged = judged && gamma_L < 1;
  theorem_holds = theorem_holds && judged;
  theorem_is_sharpest = theorem_is_sharpest && theorem_holds;
}

}  // namespace attest::reference
