// docs/bound.md, section 3: the quantities of a whole row. Those of a key or a column: formulas-inl.hpp.
//
// They are found in stages. Each stage is a struct, made from the one before it and from what the keys say by then:
//   constant_terms   the model, the row                      constant_terms.hpp
//   score_terms      E_j of every key                        score_terms.hpp
//   reference_terms  |s_j| + E_j over L                      score_terms.hpp
//   rescale_terms    R_j                                     weight_terms.hpp
//   weight_terms     z_j, T_j, P_j                           weight_terms.hpp
//   row_terms        share_j                                 here
//
// A formula names the first stage that has all it reads, so that no formula can read a term that is not yet known.
#pragma once

#include <cstdint>

#include "reference/bound/weight_terms.hpp"

namespace attest::reference {

/// Sums, Corollary W and section 9, from every key's share_j: the row's part of section 3, complete.
struct row_terms : weight_terms {
  // Section 3, Sums: Γ_L, M_L; γ^h, γ_k(u_pv), Γ_O, (1 + u_p)(1 + γ^h)²·u_pv; Ω_O without Σ|v_jc|, and its factor;
  // ω_p·(4/3)·min(1/Λ, e^{M⁺−m}/(Z·D)).
  double gamma_L = 0, nodes_L = 0, gamma_h = 0, gamma_beside = 0, gamma_O = 0, node_factor = 0, lost_in_sums = 0,
         lost_beside_values = 0, lost_when_divided = 0;
  // One part of a merge by itself (the row's shares say nothing of it): Γ_L, Ω_O without Σ|v_jc|, and its factor.
  double gamma_part = 0, lost_in_part = 0, lost_beside_part = 0;
  // Corollary W: Γ_W, α_W. Section 5, weights formed by the LSE: e^λ − 1.
  double gamma_W = 0, lost_weight = 0, lse_growth = 0;
  double off_again = 0;  ///< section 5, Weights formed again: χ; 0 in one pass
  // Section 9: (2/3)u_p²·Σγ_jπ_j², (1/3)u²·(Σγ_j + R), ((k_F + k_pre)u)², (h_O + R)·u_pv/√n for u_pv > u.
  double spread_of_sizes = 0, spread_of_sums = 0, spread_of_result = 0, drift = 0;
  bool judged = false;               ///< H0, H4 and H5 (E10), without the condition on the column's V
  bool theorem_holds = false;        ///< the entry A^T may be taken (not by the exception for padding)
  bool theorem_is_sharpest = false;  ///< E6: no column can gain from A^H or A^D

  /// Of no row: judges nothing.
  constexpr row_terms() noexcept = default;
  /// Of a row that H0 refuses by its scores: `judged` is false. Theorem T2 may still judge it.
  constexpr explicit row_terms(score_terms const& refused) noexcept { static_cast<score_terms&>(*this) = refused; }
  /// `found` has the share_sums of all keys.
  template <class Shares>
  constexpr row_terms(weight_terms const& weights, Shares const& found) noexcept;

  /// Is any element of the row judged?
  constexpr bool judges() const noexcept { return factor.asked ? factor.judged && (factor.only || judged) : judged; }
  /// Section 5, Weights formed again: χ. dominant_y is max_{j∈J} y_j, sum_eta is Σ_{j∉J} η_j; neither is read where
  /// theorem_is_sharpest.
  constexpr void after_dominance(double dominant_y, double sum_eta) noexcept {
    if (!weighs_again()) return;
    off_again = theorem_holds && D_lower > 0 && sum_P * slack < 1
                    ? (2 * sum_P / D_lower + 2 * n_far * far_share()) * slack
                    : infinity;
    if (theorem_is_sharpest || !(dominant_y < 1)) return;
    double const grown = dominant_y / (1 - dominant_y * 0.5) * (1 + 0x1p-50);  // ≥ e^y − 1 (E3)
    off_again = smaller(off_again, (grown + sum_eta + 4 * n_far * far_share()) * slack);
  }
  /// Section 5, weights formed by the LSE: e^λ − 1, λ the bound of Corollary L.
  constexpr void after_log_sum_exp(double lambda) noexcept {
    lse_growth = lambda < 1 ? lambda / (1 - lambda * 0.5) * (1 + 0x1p-50) : exp_upper(lambda);
  }

 private:
  constexpr void finish_sums() noexcept;
};

template <class Shares>
constexpr row_terms::row_terms(weight_terms const& weights, Shares const& found) noexcept : weight_terms(weights) {
  problem::working_format const& f = model.format;
  // M_L = Σ'_j min(1, n·share_j/u), without the term of the largest share (section 3, Sums).
  nodes_L = larger(0, found.nodes - smaller(1, found.largest_share * (n / f.u))) * slack + n * 0x1p-50;
  // Γ_L (Lemma 6): the smallest of γ_{h_L+R+s}, Σ share_j·γ_{h_L+R_j+s}, Σ share_j·γ_{R_j+s} +
  // (1 + γ_{h_L+R+s})²·u·M_L + 2n·ω_L; + ω_L, where ω_L = 4n_ω·ω/Λ.
  double const longest = gamma(height_L + R + merges_L, f.u);
  double const lost = 4 * lossy_products() * f.omega / least_sum * (1 + 0x1p-50);
  double const by_node = found.rescaled * slack + (1 + longest) * (1 + longest) * f.u * nodes_L + 2 * n * lost;
  double const sums = smaller(smaller(longest, found.per_key * slack), by_node) * (1 + 0x1p-50) + lost;
  // lse_normalised: (1 + Γ_L)(1 + Γ_C) − 1.
  gamma_L = model.merge == problem::split_merge::lse_normalised ? compounded(sums, gamma_C) : sums;
  judged = may_be_judged && gamma_L < 1;  // H4
  if (by_lse()) {                         // γ_{h_L+R+s} + 4n_ω·ω/Λ⁺ of one part
    double const part = (longest + 4 * lossy_products() * f.omega / least_sum_of_part()) * (1 + 0x1p-50);
    gamma_part = model.merge == problem::split_merge::lse_normalised ? compounded(part, gamma_C) : part;
  }
  finish_sums();
  theorem_holds = judged && !padded;
  theorem_is_sharpest = may_be_sharpest && theorem_holds;
}

/// Section 3, Sums, what does not depend on a column; Corollary W; section 9.
constexpr void row_terms::finish_sums() noexcept {
  problem::working_format const& f = model.format;
  constexpr double up = 1 + 0x1p-50;
  double const u = f.u, beside = R + 1 + model.k_pre + merges_O;  // k
  auto const promoted = static_cast<double>(model.promote);
  double const short_sums = promoted > 0 ? smaller(height_O, promoted) : height_O;
  std::int64_t const tall = static_cast<std::int64_t>(height_O) + model.promote - 1;
  double const promotions = promoted > 0 ? static_cast<double>(tall / model.promote) : 0;  // ⌈h/N⌉
  // γ^h; with a promotion (1 + γ_{min(h,N)}(u_pv))(1 + γ_{⌈h/N⌉+k}(u)) − 1.
  gamma_h = promoted > 0 ? compounded(gamma(short_sums, u_pv), gamma(promotions + beside, u))
                         : gamma(height_O + beside, u_pv);
  gamma_beside = gamma(beside, u_pv);
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
  lost_in_sums = 4 * lossy_products() * f.omega / least_sum * up;
  lost_when_divided = model.omega_p * divided * up;
  lost_beside_values = ((model.k_pre > 0 ? third * f.omega : 0) + model.omega_p * kappa_p) * up;
  if (drops)
    lost_in_sums += third * model.omega_drop, lost_beside_values += larger(third, divided) * model.omega_drop * up;
  if (states > 0) {  // what underflows meets the roundings of the states that follow
    double const grown = (1 + gamma_states) * up;
    lost_in_sums = (lost_in_sums + third * states * model.omega_state) * grown, lost_beside_values *= grown;
  }
  if (by_lse()) {
    double const over = (1 + 0x1p-50) / least_sum_of_part();
    lost_in_part = lost_in_sums * least_sum * over;
    lost_beside_part =
        ((model.k_pre > 0 ? f.omega : 0) + (model.omega_p + (drops ? model.omega_drop : 0)) * over) * third * up;
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
  drift = u < u_pv ? (height_O + R) * u_pv / root(n) : 0;
}

}  // namespace attest::reference

#include "reference/bound/sink_factor.hpp"
