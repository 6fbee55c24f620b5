// Section 3 of docs/bound.md: the quantities that belong to a whole row and not to one key or column. What belongs to
// one is in reference/bound/formulas-inl.hpp.
#pragma once

#include <cstdint>

#include "problem/kernel_model.hpp"
#include "reference/real/outward.hpp"
#include "reference/bound/facts.hpp"

namespace attest::reference {

/// γ_k(u) = k·u/(1 − k·u); infinity past the pole.
constexpr double gamma(double k, double u) noexcept {
  double const ku = k * u;
  return ku < 1 ? ku / (1 - ku) * (1 + 0x1p-50) : infinity;
}

/// (1 + a)(1 + b) − 1, without cancellation.
constexpr double compounded(double a, double b) noexcept { return (a + b + a * b) * (1 + 0x1p-50); }

/// The row's part of section 3, filled in the order of its functions while the keys are visited between them.
struct row_terms : row_scalars {
  problem::kernel_model model{};
  double n = 0;      ///< visible keys with a finite score
  double slack = 1;  ///< covers the rounding of any sum of n or d products in this evaluation (5.5)

  // The constants of E_j (amendments 2, 4).
  double product_error = 0, score_absolute = 0, per_key_norm = 0, e_s = 0, k_qk = 0, u_qk = 0, cap_absolute = 0;
  // The scores: M⁺ − m, M⁻ − m from below, max E_j, ≥ max(|M⁺|, |M⁻|).
  double max_above = 0, max_below = -infinity, largest_E = 0, largest_max = 0;
  bool in_range = false;
  // The constants of z_j.
  double R = 0, gamma_x = 0, reference_factor = 0, gamma_m = 0, eps_hat = 0, ell = 0, X_extra = 0, z_extra = 0,
         z_per_Y = 0, e_tau = 1, omega_w = 0, far_limit = 0;
  // The weights.
  double n_far = 0, D_lower = 0, one_minus_D = 1, sum_P = 0, dominance_top = 0, eta_extra = 0;
  double log_upper_side = 0, log_lower_side = 0, log_hull = infinity, e_above = 0;
  bool theorem_is_sharpest = false;  ///< no column can gain from the hull or the dominance clause
  // The sums.
  double height = 0, merges_L = 0, merges_O = 0, gamma_L = 0, gamma_F = 0, u_p = 0, u_pv = 0;
  bool theorem_holds = false, judged = false;

  /// ε + 104u of the combine without a final division; 104 is −ln of the smallest subnormal, so the format's own.
  constexpr double combine_error() const noexcept {
    return model.eps + (model.format.far + log_upper(1 / model.format.u) + 2) * model.format.u;
  }
  /// Scores more than this below m are additive masks (amendment 7): 2^124 in f32, while M⁻ − m > −2^123.
  constexpr double sunk() const noexcept { return model.format.h0_limit / 4; }
  constexpr bool by_lse() const noexcept { return model.merge != problem::split_merge::raw; }

  /// Requires keys ≥ 1.
  constexpr void begin(problem::kernel_model const& how, row_scalars const& scalars, std::size_t keys) noexcept;
  /// After every key's E_j.
  template <class Extremes>
  constexpr void after_scores(Extremes const& found) noexcept;
  /// The most rescales that any key can meet: blocks and splits after the first.
  constexpr double most_rescales() const noexcept;
  /// After every key's R_j, whose largest is R.
  constexpr void after_rescales(double largest_R) noexcept;
  /// After every key's z_j, T_j, P_j.
  template <class Sums>
  constexpr void after_weights(Sums const& found) noexcept;
  /// A key that is neither far nor flushed: W_j ≥ e^(s_j − m)·e^(−z_j) bounds ln(1/D) too.
  constexpr void near_key(double weight_lower, double z) noexcept {
    // ln x ≥ 1 − 1/x: only a key that passes this can lower the bound.
    if (weight_lower > 0 && 1 - weight_lower + z < log_lower_side + 0x1p-50)
      log_lower_side = smaller(log_lower_side, log_upper(1 / weight_lower) + z);
  }
  /// After every key's share; per_key is Σ share_j·γ_{h+R_j+s}.
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
  slack = 1 + (16 * n + 8 * products + 64) * 0x1p-53;
  u_qk = model.u_qk > 0 ? model.u_qk : u;
  k_qk = static_cast<double>(model.k_qk_per_d) * products + model.k_qk_base;
  product_error = gamma(k_qk, u_qk);
  double const folded_scale = model.fold_q ? larger(1, scale) : scale;
  score_absolute = omega * (2 * products * folded_scale + 2);
  if (model.fold_q) per_key_norm += omega;
  if (model.flushes) score_absolute += omega * (scale * query_norm + 1), per_key_norm += omega * scale;
  if (softcap > 0) cap_absolute = softcap * model.a_t + (1 + softcap) * omega;
  e_s = model.k_add > 0 ? compounded(gamma(model.k_add, u), model.u_s) : model.u_s;
  u_p = model.p_shared ? 0 : model.u_p;
  u_pv = larger(u, model.u_pv);
  height = tree_height();
  double const S = model.splits;
  merges_L = S > 1 && !by_lse() ? S : S - 1;
  merges_O = by_lse() ? S - 1 + model.k_f + 1 : merges_L;
}

template <class Extremes>
constexpr void row_terms::after_scores(Extremes const& found) noexcept {
  max_above = found.above, max_below = found.below, largest_E = found.largest_E;
  in_range = larger(found.largest_size, lost_upper) < model.format.h0_limit;
  in_range = in_range && -sunk() / 2 < max_below;
  largest_max = larger(max_upper + max_above, max_upper + absolute(max_below));
}

constexpr double row_terms::most_rescales() const noexcept {
  double const blocks = model.rescales == problem::rescale_count::none        ? 1
                        : model.rescales == problem::rescale_count::per_block
                            ? static_cast<double>((m + model.block - 1) / model.block)
                            : n;
  return blocks - 1 + static_cast<double>(model.splits - 1);
}

/// h: additions on one path through the summation tree. Adding an invisible key's exact 0 rounds nothing.
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
  e_tau = model.tau > 0 ? exp_upper(model.tau) : 1;
  omega_w = f.omega_w * e_tau;
  far_limit = f.far;
  if (model.p_shared && model.u_p > 0) {  // amendment 3: weights below the format's smallest normal may vanish from l
    far_limit = smaller(far_limit, -log_upper(model.omega_p / model.u_p));
    omega_w = larger(omega_w, 2 * model.omega_p * e_tau);
  }
  gamma_x = gamma(model.k_x, u);
  gamma_m = model.c_m > 0 ? gamma(model.c_m, u) : 0;
  reference_factor = gamma_m * (1 + gamma_x);
  eps_hat = model.eps / (1 - model.eps) * (1 + 0x1p-50);
  ell = by_lse() ? log_upper(n) + 1 + model.tau : 0;
  X_extra = 2 * model.tau * (1 + 2 * u) + ell;
  z_extra = model.p_shared ? model.u_p / (1 - model.u_p) * (1 + 0x1p-50) : 0;
  if (model.flushes || model.k_x > 1) z_extra += (R + 1) * model.k_x * f.omega;
  if (by_lse()) {
    z_per_Y = 2 * u * (1 + 2 * u);
    z_extra += z_per_Y * ell + model.eps_log * ell + eps_hat;
  }
}

template <class Sums>
constexpr void row_terms::after_weights(Sums const& found) noexcept {
  problem::working_format const& f = model.format;
  n_far = found.n_far;
  sum_P = found.sum_P;
  dominance_top = found.dominance_top;
  D_lower = found.D_lower * (2 - slack);
  one_minus_D = found.one_minus_D * slack;
  bool const all_small = found.largest_z < 1;
  log_upper_side = all_small ? sum_P * slack : found.largest_z;                        // ln(1 + x) ≤ x
  log_lower_side = one_minus_D < 0.5 ? one_minus_D / (1 - one_minus_D) * (1 + 0x1p-50)  // −ln(1 − x) ≤ x/(1 − x)
                   : D_lower > 0     ? larger(0, log_upper(1 / D_lower))
                                     : infinity;
  // Where neither says anything: M̂ is a computed score (within τ below the largest), 1 ≤ ΣW ≤ n·e^τ and 1 ≤ Z ≤ n,
  // both ends of ΣW up to the errors of exp, of a rounded P and of a reference point that p and r round differently.
  log_hull = by_lse() ? infinity
                      : larger(max_above, -max_below) + 2 * model.tau * (1 + gamma_x) + larger(0, log_upper(n)) +
                            (R + 1) * eps_hat + z_extra + reference_factor * found.largest_Y + 2 * n * omega_w;
  e_above = max_above < 1 ? 1 / (1 - max_above) : infinity;
  double const merge_extra =
      by_lse() ? 2 * (z_per_Y * (found.largest_Y + ell) + model.eps_log * ell + eps_hat) : 0;
  // z_extra twice as well: where l sums rounded weights, both keys of the ratio are rounded.
  eta_extra = 2 * gamma_x * model.tau + 2 * (R + 1) * eps_hat + merge_extra + 2 * z_extra;

  // H4 and the part of H0 that does not depend on V.
  double const S = model.splits;
  bool const sums_short = R * model.eps + 2 * (2 * height + R + S + 8) * f.u <= 0.25;
  judged = in_range && sums_short && n * e_tau < f.h0_limit;
  theorem_holds = judged && gamma_m * found.largest_Y <= 0.5;
  // η_j ≥ e^(s_j − m) ≥ π_j outside J, and Σ_J π_j ≤ 1: where every T_j ≤ D/2 and no key is far, Σ P_j|v_j − o|/D is
  // at most half of what either clause says.
  theorem_is_sharpest = n_far == 0 && found.largest_T <= D_lower * 0.5;

  if (model.merge == problem::split_merge::lse_normalised) {  // FlashAttention-2 combine: see after_shares
    double const extra = combine_error() + 2 * f.u * (found.largest_Y + ell) + model.eps_log * log_upper(S);
    gamma_L = extra < 1 ? extra / (1 - extra) : infinity;  // e^x − 1 ≤ x/(1 − x)
  }
  gamma_F = model.merge == problem::split_merge::lse_normalised ? 0 : gamma(model.k_f, f.u);
}

constexpr void row_terms::after_shares(double per_key) noexcept {
  problem::working_format const& f = model.format;
  // Γ_L with each key's own R_j, or with the largest: whichever is smaller.
  double const sums = smaller(gamma(height + R + merges_L, f.u), per_key) * slack + R * f.omega * 2;
  // The combine's split weights are never divided by their sum.
  gamma_L = model.merge == problem::split_merge::lse_normalised ? compounded(sums, gamma_L) : sums;
  judged = judged && gamma_L < 1;
  theorem_holds = theorem_holds && judged;
  theorem_is_sharpest = theorem_is_sharpest && theorem_holds;
}

}  // namespace attest::reference
