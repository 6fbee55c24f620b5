// docs/bound.md, section 3: what no key changes, the first stage of row_terms (reference/bound/terms.hpp).
#pragma once

#include <cstddef>
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

/// The constants of Scores and Sums.
struct constant_terms : row_scalars {
  problem::kernel_model model{};
  double n = 0;      ///< visible keys with a finite score
  double slack = 1;  ///< E1: covers the rounding of any sum of n or d products in this evaluation

  // Section 3, Scores: the constants of E_j.
  double product_error = 0, score_absolute = 0, per_product = 0, per_key_norm = 0, first_bias = 0, e_s = 0, k_qk = 0,
         u_qk = 0, cap_absolute = 0;
  // Section 3, A sink: γ_{k_t} ⊕ u_t, and ω_t + 2ω (E_⊥).
  double sink_relative = 0, sink_absolute = 0;
  sink_factor factor{};  ///< section 5, Theorem T2: what is asked; rescale_by_sink finds the rest
  // Section 3, Sums: μ', γ_{μ'}(u_state), roundings of O between merges by LSE; Δ: (1 + γ_{k_drop})(1 + u_drop) of
  // dropout times 1 + γ_{μ'}(u_state), less 1; the same with μ' = 0; h, h_L, h_O, ν_O, ϱ, s, s', the u_p and the u_pv
  // of Γ_O.
  double states = 0, gamma_states = 0, delta = 0, delta_wide = 0, height = 0, height_L = 0, height_O = 0,
         additions_O = 0, divisions = 0, merges_L = 0, merges_O = 0, u_p = 0, u_pv = 0;
  double mixed = 0, lost_when_mixed = 0;  ///< Lemma 8: E_σ, 8μ_σω; 0 where nothing is merged by a sigmoid

  /// Requires  keys ≥ 1
  constexpr constant_terms(problem::kernel_model const& how, row_scalars const& scalars, std::size_t keys) noexcept;

  /// K = far + ln(1/u) + 2: section 3, Sums, merging without a final division; Lemma 4.
  constexpr double largest_argument() const noexcept { return model.format.far + log_upper(1 / model.format.u) + 2; }
  /// Λ_x = (2/3)·far, rounded down (section 3, Reference).
  constexpr double reference_limit() const noexcept { return model.format.far * 0.66666; }
  /// Θ/4: a key is sunk where s_j + E_j < m − Θ/4 (H0).
  constexpr double sunk() const noexcept { return model.format.h0_limit / 4; }
  /// ε of rescales.
  constexpr double eps_of_rescales() const noexcept { return model.eps_rescale > 0 ? model.eps_rescale : model.eps; }
  constexpr bool by_lse() const noexcept { return model.merge != problem::split_merge::raw; }
  constexpr bool by_sigmoid() const noexcept { return problem::by_sigmoid(model.merge); }
  /// Merges of given parts by a sigmoid: no exp of a score, no sum of weights, no rescale (Lemma 8).
  constexpr bool sums_nothing() const noexcept { return by_sigmoid() && model.parts_are_keys; }
  /// Is O formed by weights exp(s − LSE), without a division (section 5, second theorem)?
  constexpr bool by_lse_alone() const noexcept { return model.normalise == problem::normaliser::lse; }
  /// Does a second pass form the weights of O anew, beside l of the first (section 5, Weights formed again)?
  constexpr bool weighs_again() const noexcept { return model.normalise == problem::normaliser::first_pass; }

  /// M_K⁺, M_K⁻ and what a sink of these numbers may exceed them by. `keys` are the score_extremes without the sink.
  template <class Extremes>
  constexpr sink_reach meet_sink(Extremes const& keys, double x_lower, double x_upper, double E) const noexcept;
  /// B − 1 + max(S − 1, merges): section 3, Rescales; Lemma 2.
  constexpr double most_rescales() const noexcept;
  constexpr bool always_rescales() const noexcept {
    return model.unchanged_rescale == problem::unchanged_rescale::rounded;
  }
  /// n_ω = n + S + ϱ, and N more where `unchanged_rescale` is rounded: what may lose ω (section 3, Sums; Lemma 6).
  constexpr double lossy_products() const noexcept {
    return n + model.splits + divisions + (always_rescales() ? static_cast<double>(m) : 0);
  }
  /// Raw merges on one path: merges, and S − 1 where parts are merged raw (Lemma 2).
  constexpr double raw_merges() const noexcept { return larger(by_lse() ? 0 : model.splits - 1, model.merges); }
  /// [τ > 0] of them, beside rank⁺_j (Lemma 2).
  constexpr double lazy_merges() const noexcept { return model.tau > 0 ? raw_merges() : 0; }
  /// Λ, and Λ⁺ with g⁺ for g: (1/2)·min(1, e^{1/2 − g}), 3/4 of it where the weight of a largest score is rescaled.
  constexpr double least_sum_with(double off) const noexcept {
    double const sum = off > 0.5 ? 0.5 / exp_upper(off - 0.5) : 0.5;
    return lazy_merges() > 0 || always_rescales() ? 0.75 * sum : sum;
  }
  constexpr bool follows_index() const noexcept {
    return model.order == problem::key_order::index && !always_rescales();
  }
  /// merges + max(rec_j, ⌈N/least_block⌉ − 1): section 3, Rescales; Lemma 2, Order of index.
  constexpr double ordered_rescales(double records) const noexcept {
    return model.merges + larger(records, static_cast<double>((m + model.least_block - 1) / model.least_block - 1));
  }

 protected:
  constexpr constant_terms() noexcept = default;

 private:
  constexpr double tree_height() const noexcept;
  constexpr double tree_height_of_L() const noexcept;
  /// Does the contract say how a matrix unit adds the products of O in one chain of steps (Lemma 9)?
  constexpr bool adds_by_steps() const noexcept {
    return model.block_fma > 0 && model.u_p >= 0x1p-11 && model.height == problem::sum_height::in_sequence &&
           model.promote == 0;
  }
  constexpr double units_of_steps(double products, std::int64_t numbers, double further) const noexcept;
};

constexpr constant_terms::constant_terms(problem::kernel_model const& how, row_scalars const& scalars,
                                         std::size_t keys) noexcept
    : row_scalars(scalars), model(for_keys(how, keys, scalars.m)), n(static_cast<double>(keys)) {
  auto const products = static_cast<double>(scalars.d);
  double const u = model.format.u, omega = model.format.omega, scale = scale_upper;
  slack = 1 + (16 * n + 8 * products + 64) * 0x1p-53;  // E1

  // E⁰_j (Lemma 1, Product) = γ_{k_qk}(u_qk)·(S_j + β_j)                                  product_error, first_bias
  //   + ω(2d·σ⁺ + 2) + ω·f_q·‖q‖₁ + [flushes]·ω(|σ|·‖q‖₁ + 1)                               score_absolute
  //   + 2ω·Q_j                                                                              per_product
  //   + (ω·f_k + [flushes]·ω|σ|)·‖k_j‖₁                                                     per_key_norm
  // f_q = f_k = max(1, √|σ|) under fold_k; f_q = 0, f_k = 1 under fold_q alone.
  u_qk = model.u_qk > 0 ? model.u_qk : u;
  bool const counts_zeros = model.zero_products == problem::zero_products::counted;
  double const counted = counts_zeros ? products : static_cast<double>(nonzero);  // d′
  k_qk = static_cast<double>(model.k_qk_per_d) * counted;
  if (model.block_fma > 0) u_qk = larger(u_qk, 2 * u), k_qk = smaller(k_qk, units_of_steps(counted, scalars.d, 0));
  k_qk += model.k_qk_base;
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
  // Dropout: (1 + γ_{k_drop})(1 + u_drop)(1 + γ_{κ−1}(u_rate)) − 1, where κ − 1 = p/(1 − p).
  if (drops)
    delta_wide = compounded(compounded(gamma(model.k_drop, u), model.u_drop), gamma(kept_factor - 1, model.u_rate));
  double const on_paths = by_sigmoid() ? 0 : gamma_states;  // Lemma 8 has them beside the largest value
  delta = on_paths < infinity ? compounded(delta_wide, on_paths) : infinity;
  if (by_sigmoid()) {
    double const sigmoids = sigmoids_on_way(model, n);
    mixed = mixed_by_sigmoids(model, sigmoids, gamma_states), lost_when_mixed = 8 * omega * sigmoids;
  }
  // Section 3, Sums (Lemmas 4, 6): u_p counts as 0 in Γ_O where P is shared, with u_v; u_pv as u where it is smaller;
  // h; s; ϱ, s'.
  u_p = compounded_factors(model.p_shared ? 0 : model.u_p, model.u_v);
  u_pv = larger(model.block_fma > 0 ? 2 * u : u, model.u_pv);
  height = tree_height(), height_L = tree_height_of_L();
  double const S = model.splits;
  merges_L = by_sigmoid() ? 0 : S > 1 && !by_lse() ? S : S - 1;
  divisions = model.k_block * static_cast<double>((m + model.divided_block - 1) / model.divided_block - 1);  // ϱ
  height_O = height, additions_O = n - 1;
  if (adds_by_steps()) {
    height_O = smaller(height, units_of_steps(n, m, has_sink ? 1 : 0) + divisions + model.merges);
    if (model.splits == 1 && model.merges == 0) additions_O = smaller(additions_O, height_O);
  }
  merges_O = divisions + (sums_nothing() ? 0
                          : by_sigmoid() ? model.k_f
                          : by_lse()     ? S - 1 + static_cast<double>(model.merge_levels) * (model.k_f + 1)
                                         : merges_L);
}

/// h = n − 1, min(n − 1, b + B − 2) or min(n − 1, ⌈N/a⌉ + a_0), with a sink one more of the last two (section 3, Sums;
/// Lemma 6): additions on one path through the summation tree. Adding an invisible key's exact 0 rounds nothing.
constexpr double constant_terms::tree_height() const noexcept {
  if (sums_nothing()) return 0;
  double const chain = n - 1, sink = has_sink ? 1 : 0;
  if (model.height == problem::sum_height::in_sequence) return chain;
  if (model.height == problem::sum_height::declared)
    return smaller(
        chain, static_cast<double>((m + model.height_divisor - 1) / model.height_divisor + model.height_base) + sink);
  auto const block = static_cast<double>(model.block);
  double const blocks = static_cast<double>((m + model.block - 1) / model.block);
  return smaller(chain, block + blocks - 2 + sink);
}

/// Lemma 9: z·2^{−e} + T(1 − 2^{−e}), T = min(z, ⌈numbers/K⌉ + further): what the steps of a matrix unit lose of
/// `products` products at most, in units of 2u of the sums of sizes that they add.
constexpr double constant_terms::units_of_steps(double products, std::int64_t numbers, double further) const noexcept {
  double const cut = problem::formats::power_of_two(-model.alignment_bits);
  auto const chunks = static_cast<double>((numbers + model.block_fma - 1) / model.block_fma);
  return products * cut + smaller(products, chunks + further) * (1 - cut);
}

/// h_L = min(n − 1, ⌈N/a_L⌉ + a_L0) where the trees of l have a height of their own, else h.
constexpr double constant_terms::tree_height_of_L() const noexcept {
  if (model.l_height_divisor == 0 || sums_nothing()) return height;
  auto const declared =
      static_cast<double>((m + model.l_height_divisor - 1) / model.l_height_divisor + model.l_height_base);
  return smaller(n - 1, declared + (has_sink ? 1 : 0));
}

/// B − 1 + max(S − 1, merges) with B = ⌈N/b⌉, 1 for two passes, for an unknown order n, or N where a block of hidden
/// keys rescales, too; a sink is one block more (section 3, Rescales; Lemma 2).
constexpr double constant_terms::most_rescales() const noexcept {
  if (sums_nothing()) return 0;
  double const blocks = model.rescales == problem::rescale_count::none ? 1
                        : model.rescales == problem::rescale_count::per_block
                            ? static_cast<double>((m + model.block - 1) / model.block)
                        : always_rescales() ? static_cast<double>(m)
                                            : n;
  return blocks - 1 + larger(model.splits - 1, model.merges) + (has_sink ? 1 : 0);
}

/// Section 3, A sink. A kernel that adds it at the end forms exp(t − M) with the maximum M of the keys: it may exceed M
/// by up to the largest finite exponential, and where it does by more (far + 2) no such kernel has an answer.
template <class Extremes>
constexpr sink_reach constant_terms::meet_sink(Extremes const& keys, double x_lower, double x_upper,
                                               double E) const noexcept {
  sink_reach sink{keys.above, keys.below};
  if (!(n > 1)) return sink;  // no key: there is no maximum to subtract
  double const above = rounded_up(rounded_up(x_upper + E) - sink.keys_below);  // ≥ t + E_⊥ − M_K⁻
  // The argument that such a kernel forms is at least t − E_⊥ − M_K⁺, less what rounding its reference moves it by.
  double const reach = max_upper + larger(larger(absolute(sink.keys_above), absolute(sink.keys_below)), -x_lower) + E;
  double const moved =
      model.c_m > 0 ? gamma(model.c_m, model.format.u) * (1 + gamma(model.k_x, model.format.u)) * reach : 0;
  bool const finite = !(model.format.far + 2 + 2 * moved < rounded_down(rounded_down(x_lower - E) - sink.keys_above));
  sink.sink_above = finite ? larger(0, above) : 0;
  sink.sink_in_range = above <= model.sink_limit;
  return sink;
}

}  // namespace attest::reference
