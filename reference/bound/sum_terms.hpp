// docs/bound.md, section 3, Sums: the trees that add l and O, and what rounds and is lost in them. Part of
// reference/bound/terms.hpp.
#pragma once

#include <cstdint>

#include "reference/bound/terms.hpp"

namespace attest::reference {

/// h = n − 1, min(n − 1, b + B − 2) or min(n − 1, ⌈N/a⌉ + a_0), with a sink one more of the last two (section 3, Sums;
/// Lemma 6): additions on one path through the summation tree. Adding an invisible key's exact 0 rounds nothing.
constexpr double row_terms::tree_height() const noexcept {
  if (sums_nothing()) return 0;
  double const chain = n - 1, sink = has_sink ? 1 : 0;
  if (model.height == problem::sum_height::in_sequence) return chain;
  if (model.height == problem::sum_height::declared)
    return smaller(chain,
                   static_cast<double>((m + model.height_divisor - 1) / model.height_divisor + model.height_base) + sink);
  auto const block = static_cast<double>(model.block);
  double const blocks = static_cast<double>((m + model.block - 1) / model.block);
  return smaller(chain, block + blocks - 2 + sink);
}

template <class Shares>
constexpr void row_terms::after_shares(Shares const& found) noexcept {
  problem::working_format const& f = model.format;
  // M_L = Σ'_j min(1, n·share_j/u), without the term of the largest share (section 3, Sums).
  nodes_L = larger(0, found.nodes - smaller(1, found.largest_share * (n / f.u))) * slack + n * 0x1p-50;
  // Γ_L (Lemma 6): the smallest of γ_{h+R+s}, Σ share_j·γ_{h+R_j+s}, Σ share_j·γ_{R_j+s} + (1 + γ_{h+R+s})²·u·M_L;
  // + 4(n + S + ϱ)ω/Λ.
  double const longest = gamma(height + R + merges_L, f.u);
  double const by_node = found.rescaled * slack + (1 + longest) * (1 + longest) * f.u * nodes_L;
  double const S = model.splits;
  double const sums = smaller(smaller(longest, found.per_key * slack), by_node) * (1 + 0x1p-50) +
                      4 * (n + S + divisions) * f.omega / least_sum * (1 + 0x1p-50);
  // lse_normalised: (1 + Γ_L)(1 + Γ_C) − 1.
  gamma_L = model.merge == problem::split_merge::lse_normalised ? compounded(sums, gamma_C) : sums;
  judged = judged && gamma_L < 1;  // H4
  if (by_lse()) {  // γ_{h+R+s} + 4(n + S + ϱ)ω/Λ⁺ of one part
    double const part = (longest + 4 * (n + S + divisions) * f.omega / least_sum_of_part()) * (1 + 0x1p-50);
    gamma_part = model.merge == problem::split_merge::lse_normalised ? compounded(part, gamma_C) : part;
  }
  finish_sums();
  theorem_holds = theorem_holds && judged;
  theorem_is_sharpest = theorem_is_sharpest && theorem_holds;
}

/// Section 3, Sums, what does not depend on a column; Corollary W; section 9.
constexpr void row_terms::finish_sums() noexcept {
  problem::working_format const& f = model.format;
  constexpr double up = 1 + 0x1p-50;
  double const u = f.u, S = model.splits, beside = R + 1 + model.k_pre + merges_O;  // k
  auto const promoted = static_cast<double>(model.promote);
  double const short_sums = promoted > 0 ? smaller(height, promoted) : height;
  std::int64_t const tall = static_cast<std::int64_t>(height) + model.promote - 1;
  double const promotions = promoted > 0 ? static_cast<double>(tall / model.promote) : 0;  // ⌈h/N⌉
  // γ^h; with a promotion (1 + γ_{min(h,N)}(u_pv))(1 + γ_{⌈h/N⌉+k}(u)) − 1.
  gamma_h =
      promoted > 0 ? compounded(gamma(short_sums, u_pv), gamma(promotions + beside, u)) : gamma(height + beside, u_pv);
  gamma_O = compounded(u_p, gamma_h);
  node_factor = (1 + u_p) * (1 + gamma_h) * (1 + gamma_h) * u_pv * up;
  if (delta > 0) gamma_O = compounded(gamma_O, delta), node_factor *= (1 + delta) * up;
  // κ_p: (4/3)·min(1/Λ, e^{M⁺−m}/(Z·D)) where weights are rounded before they are divided, 4/3 after, or the larger.
  double const third = 4.0 / 3 * up;
  double const divided =
      third * smaller(1 / least_sum, D_lower > 0 ? e_above / (normaliser_lower * D_lower) : infinity) * up;
  double const kappa_p = model.p_normalised == problem::normalised_first::no    ? divided
                         : model.p_normalised == problem::normalised_first::yes ? third
                                                                                : larger(third, divided);
  lost_in_sums = 4 * (n + S + divisions) * f.omega / least_sum * up;
  lost_when_divided = model.omega_p * divided * up;
  lost_beside_values = ((model.k_pre > 0 ? third * f.omega : 0) + model.omega_p * kappa_p) * up;
  if (drops) lost_in_sums += third * model.omega_drop, lost_beside_values += larger(third, divided) * model.omega_drop * up;
  if (states > 0) {  // what underflows meets the roundings of the states that follow
    double const grown = (1 + gamma_states) * up;
    lost_in_sums = (lost_in_sums + third * states * model.omega_state) * grown, lost_beside_values *= grown;
  }
  if (by_lse()) {
    double const over = (1 + 0x1p-50) / least_sum_of_part();
    lost_in_part = lost_in_sums * least_sum * over;
    lost_beside_part = ((model.k_pre > 0 ? f.omega : 0) + (model.omega_p + (drops ? model.omega_drop : 0)) * over) * third * up;
  }
  // Corollary W: Γ_W, α_W.
  bool const rounded = model.returned_weights != problem::returned_weights::unrounded && !model.p_shared;
  double const division = by_sigmoid() ? compounded(gamma(model.k_f, u), gamma_sigmoids) : gamma_F;
  gamma_W = rounded ? compounded(division, model.u_p) : division;
  lost_weight = rounded ? model.omega_p * larger(third, divided) * up : 0;
  if (by_sigmoid()) lost_weight += 2 * sigmoids_on_way(model, n) * f.omega * up;
  // Section 9.
  spread_of_sizes = 2.0 / 3 * u_p * u_p * sum_grouped_squares;
  spread_of_sums = u * u / 3 * (sum_groups + R) + delta * delta;
  spread_of_result = (model.k_f + model.k_pre) * u * ((model.k_f + model.k_pre) * u);
  drift = u < u_pv ? (height + R) * u_pv / root(n) : 0;
}

}  // namespace attest::reference
