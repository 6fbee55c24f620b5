// Section 3 of docs/bound.md: the quantities of one row. Part of reference/bounds.hpp.
#pragma once

#include "reference/bounds.hpp"

namespace attest::reference {

/// R_j: how many rescales can meet key j (section 5, "R", and section 6, "Order does not matter"): no more than the
/// keys whose score may exceed s_j, and no more than the blocks after the first.
constexpr void row_bound::rescales(std::vector<key_facts> const& keys) {
  double const blocks = model_.rescales == problem::rescale_count::none        ? 1
                        : model_.rescales == problem::rescale_count::per_block
                            ? static_cast<double>((facts_->m + model_.block - 1) / model_.block)
                            : n_;
  double const most = blocks - 1 + static_cast<double>(model_.splits - 1);
  sorted_.clear();
  for (std::size_t j = 0; j < keys.size(); ++j) sorted_.push_back(rounded_up(keys[j].x_upper + keys_[j].E));
  std::sort(sorted_.begin(), sorted_.end());
  R_ = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    double const lowest = rounded_down(keys[j].x_lower - keys_[j].E);
    auto const above_it = sorted_.end() - std::upper_bound(sorted_.begin(), sorted_.end(), lowest);
    double const rank = static_cast<double>(above_it > 0 ? above_it - 1 : 0);  // without key j itself
    keys_[j].R = smaller(most, rank);
    R_ = larger(R_, keys_[j].R);
  }
}

/// h: additions on one path through the summation tree. Adding an invisible key's exact 0 rounds nothing.
constexpr double row_bound::heights(problem::sum_height height) const noexcept {
  double const chain = n_ - 1;
  if (height == problem::sum_height::in_sequence) return chain;
  auto const block = static_cast<double>(model_.block);
  double const blocks = static_cast<double>((facts_->m + model_.block - 1) / model_.block);
  return smaller(chain, block + blocks - 2);
}

constexpr void row_bound::evaluate(problem::kernel_model const& model, row_facts const& facts) {
  using problem::split_merge;
  model_ = model;
  facts_ = &facts;
  auto const& keys = facts.keys;
  n_ = static_cast<double>(keys.size());
  auto const d = static_cast<double>(facts.d);
  problem::working_format const& f = model.format;
  double const u = f.u, omega = f.omega, scale = facts.scale_size;
  slack_ = 1 + (16 * n_ + 8 * d + 64) * 0x1p-53;

  // Scores: E_j (section 3; amendments 2, 4).
  double const u_qk = model.u_qk > 0 ? model.u_qk : u;
  double const product_error = gamma(static_cast<double>(model.k_qk_per_d) * d + model.k_qk_base, u_qk);
  double const folded_scale = model.fold_q ? larger(1, scale) : scale;
  double const e_s = model.k_add > 0 ? compounded(gamma(model.k_add, u), model.u_s) : model.u_s;
  keys_.assign(keys.size(), key{});
  bool in_range = true;
  double max_above = 0;       // M⁺ − m
  double max_below = -infinity;  // M⁻ − m, from below
  largest_E_ = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    key_facts const& k = keys[j];
    double E = product_error * (scale * k.product_size) + omega * (2 * d * folded_scale + 2);
    if (model.fold_q) E += omega * k.key_norm;
    if (model.flushes) E += omega * (scale * (facts.query_norm + k.key_norm) + 1);
    E = (1 + e_s) * (E + model.g_b * k.bias_size) + e_s * k.score_size + model.omega_s;
    keys_[j].E = E * slack_;
    largest_E_ = larger(largest_E_, keys_[j].E);
    max_above = larger(max_above, rounded_up(k.x_upper + keys_[j].E));
    max_below = larger(max_below, rounded_down(k.x_lower - keys_[j].E));
    in_range = in_range && scale * k.product_size < f.h0_limit && k.product_size < f.h0_limit &&
               k.bias_size < f.h0_limit;
  }
  largest_max_ = larger(facts.max_size + max_above, facts.max_size + absolute(max_below));
  rescales(keys);

  // Weights: X_j, Y_j, z_j, T_j, P_j, D.
  e_tau_ = model.tau > 0 ? exp_upper(model.tau) : 1;
  omega_w_ = f.omega_w * e_tau_;
  double far_limit = f.far;
  if (model.p_shared && model.u_p > 0) {  // amendment 3: weights below the format's smallest normal may vanish from l
    far_limit = smaller(far_limit, -log_upper(model.omega_p / model.u_p));
    omega_w_ = larger(omega_w_, 2 * model.omega_p * e_tau_);
  }
  double const gamma_x = gamma(model.k_x, u), gamma_m = model.c_m > 0 ? gamma(model.c_m, u) : 0;
  double const eps_hat = model.eps / (1 - model.eps) * (1 + 0x1p-50);
  double const u_p_hat = model.p_shared ? model.u_p / (1 - model.u_p) * (1 + 0x1p-50) : 0;
  bool const by_lse = model.merge != split_merge::raw;
  double const ell = by_lse ? log_upper(n_) + 1 + model.tau : 0;
  double largest_z = 0, largest_Y = 0, log1p_sum = 0, near_upper = infinity;
  bool all_small = true;
  n_far_ = D_lower_ = one_minus_D_ = sum_P_ = 0;
  double dominance_top = -infinity;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    key_facts const& k = keys[j];
    key& my = keys_[j];
    double const X = rounded_up(max_above - k.x_lower) + my.E + 2 * model.tau * (1 + 2 * u) + ell;
    double const Y = larger(k.score_size + my.E + model.tau, largest_max_);
    double const reference_error = gamma_m > 0 ? gamma_m * (1 + gamma_x) * Y : 0;
    double z = my.E + gamma_x * X + reference_error + (my.R + 1) * eps_hat + u_p_hat;
    if (model.flushes || model.k_x > 1) z += (R_ + 1) * model.k_x * omega;
    if (by_lse) z += 2 * u * (1 + 2 * u) * (Y + ell) + model.eps_log * ell + eps_hat;
    my.z = z *= slack_;
    double const k_qk = static_cast<double>(model.k_qk_per_d) * d + model.k_qk_base, S_j = scale * k.product_size;
    my.t_squared = u_qk * u_qk * k_qk * S_j * S_j + u * u * k.x_lower * k.x_lower + model.eps * model.eps +
                   model.k_add * u * u * k.score_size * k.score_size + model.g_b * model.g_b * k.bias_size * k.bias_size;
    double const X_hat = X * (1 + gamma_x) + reference_error;
    my.far = X_hat > far_limit;
    // Amendment 7: an additive mask of finfo.min size may overflow to −∞.
    my.flushed = X_hat > model.x0 || rounded_up(k.x_upper + my.E) < max_below - 0x1p120;
    if (my.far) ++n_far_;
    largest_z = larger(largest_z, z);
    largest_Y = larger(largest_Y, Y);
    double T = z < 1 ? z / (1 - z / 2) * (1 + 0x1p-50) : infinity;
    if (z < 1) {
      if (my.flushed) T = larger(T, 1);
      my.P = k.weight_upper * T;
      log1p_sum += my.P;
    } else {
      all_small = false;
      double const reached = rounded_up(k.x_upper + z);
      my.P = reached > 700 ? 1 : smaller(1, exp_upper(reached) / facts.normaliser_lower);
    }
    sum_P_ += my.P;
    bool const near = !my.far && !my.flushed && z < 1;
    one_minus_D_ += near ? k.weight_upper * smaller(1, T) : k.weight_upper;
    if (!my.far && !my.flushed) {
      if (near) D_lower_ += k.weight_lower / (1 + T);
      if (k.weight_lower > 0) near_upper = smaller(near_upper, log_upper(1 / k.weight_lower) + z);
    }
    dominance_top = larger(dominance_top, rounded_down(k.x_lower - my.E - reference_error) * (1 + 0x1p-50));
  }
  D_lower_ *= 2 - slack_;
  one_minus_D_ *= slack_;
  log_upper_ = all_small ? log1p_sum * slack_ : largest_z;  // ln(1 + x) ≤ x
  log_lower_ = one_minus_D_ < 0.5 ? one_minus_D_ / (1 - one_minus_D_) * (1 + 0x1p-50)  // −ln(1 − x) ≤ x/(1 − x)
               : D_lower_ > 0     ? larger(0, log_upper(1 / D_lower_))
                                  : infinity;
  log_lower_ = smaller(log_lower_, near_upper);
  // Where neither says anything: M̂ is a computed score (within τ below the largest), 1 ≤ ΣW ≤ n·e^τ and 1 ≤ Z ≤ n.
  log_hull_ = by_lse ? infinity : larger(max_above, -max_below) + 2 * model.tau + larger(0, log_upper(n_));
  e_above_ = max_above < 1 ? 1 / (1 - max_above) : infinity;

  // Dominance (amendment 1), and each key's share of ΣW.
  double const far_share = omega_w_ * 2;  // ω_W/Λ, Λ = 1/2
  double const merge_extra =
      by_lse ? 2 * (2 * u * (1 + 2 * u) * (largest_Y + ell) + model.eps_log * ell + eps_hat) : 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    key& my = keys_[j];
    double const Y = larger(keys[j].score_size + my.E + model.tau, largest_max_);
    double const e = my.E + (gamma_m > 0 ? gamma_m * (1 + gamma_x) * Y : 0);
    double const gap = rounded_down(dominance_top - rounded_up(keys[j].x_upper + e));
    my.dominant = !(gap > 0);
    my.eta = 1;
    if (!my.dominant) {
      double const exponent = -gap * (1 - 2 * gamma_x) * (1 - 0x1p-50) + 2 * gamma_x * model.tau +
                              2 * (R_ + 1) * eps_hat + merge_extra;
      my.eta = smaller(1, exp_upper(exponent)) + far_share;
    }
    my.share = D_lower_ > 0 ? smaller(1, (keys[j].weight_upper + my.P) / D_lower_ + (my.far ? far_share : 0)) : 1;
  }

  // Sums: Γ_L, Γ_O, Γ_F. Γ_L with each key's own R_j, or with the largest: whichever is smaller.
  double const S = model.splits;
  double const merges_L = S > 1 && model.merge == split_merge::raw ? S : S - 1;
  merges_O_ = by_lse ? S - 1 + model.k_f + 1 : merges_L;
  double const h = heights(model.height);
  height_O_ = h;
  double per_key = 0;
  for (key const& my : keys_) per_key += my.share * gamma(h + my.R + merges_L, u);
  gamma_L_ = smaller(gamma(h + R_ + merges_L, u), per_key) * slack_ + R_ * omega * 2;
  bool const unnormalised = model.merge == split_merge::lse_normalised;
  if (unnormalised) {  // FlashAttention-2 combine: the same split weights are never divided by their sum
    double const extra = model.eps + 104 * u + 2 * u * (largest_Y + ell) + model.eps_log * log_upper(S);
    gamma_L_ = compounded(gamma_L_, extra / (1 - extra));  // e^x − 1 ≤ x/(1 − x)
  }
  gamma_F_ = unnormalised ? 0 : gamma(model.k_f, u);

  // H4 and the part of H0 that does not depend on V.
  bool const sums_short = R_ * model.eps + 2 * (2 * h + R_ + S + 8) * u <= 0.25;
  judged_ = in_range && sums_short && gamma_L_ < 1 && n_ * e_tau_ < f.h0_limit;
  theorem_holds_ = judged_ && gamma_m * largest_Y <= 0.5;
}

}  // namespace attest::reference
