// docs/bound.md, section 3, over the keys of one row, in its order: Scores, Rescales, Weights, Dominance, Sums. Part of
// reference/bound/bound.hpp.
#pragma once

#include "reference/bound/bound.hpp"

namespace attest::reference {

constexpr scalar::key_numbers<double> numbers_of(key_facts const& k) noexcept {
  return {k.x_lower,  k.x_upper,    k.score_upper,  k.product_upper,
          k.key_norm, k.bias_upper, k.weight_lower, k.weight_upper};
}

/// Section 3, Rescales: R_j = min(rank⁺_j, B − 1 + S − 1) with rank⁺_j = #{i ≠ j : s_i + E_i > s_j − E_j} by a sorted
/// search (E5), and R = max_j R_j.
/// Ensures   no path meets more than R_j rescales after key j (Lemma 2). Known gap G13
constexpr void row_bound::rescales(std::vector<key_facts> const& keys) {
  double const most = terms_.most_rescales();
  sorted_.clear();
  for (std::size_t j = 0; j < keys.size(); ++j) sorted_.push_back(rounded_up(keys[j].x_upper + keys_[j].E));
  std::sort(sorted_.begin(), sorted_.end());
  double largest = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    double const lowest = rounded_down(keys[j].x_lower - keys_[j].E);
    auto const above_it = sorted_.end() - std::upper_bound(sorted_.begin(), sorted_.end(), lowest);
    double const rank = static_cast<double>(above_it > 0 ? above_it - 1 : 0);  // without key j itself
    keys_[j].R = smaller(most, rank);
    largest = larger(largest, keys_[j].R);
  }
  terms_.after_rescales(largest);
}

/// Each loop over the keys needs what the function of row_terms before it has found.
constexpr void row_bound::evaluate(problem::kernel_model const& model, row_facts const& facts) {
  facts_ = &facts;
  auto const& keys = facts.keys;
  terms_.begin(model, facts, keys.size());
  keys_.assign(keys.size(), key{});
  if (!facts.finite_products) return;  // H0, no infinite q·k: terms_.judged stays false

  // Scores: E_j, M⁺, M⁻ (Lemma 1); H0.
  auto extremes = scalar::score_extremes<double>::none();
  for (std::size_t j = 0; j < keys.size(); ++j) {
    auto const k = numbers_of(keys[j]);
    keys_[j].E = scalar::score_error(terms_, k);
    extremes.add(terms_, k, keys_[j].E);
  }
  terms_.after_scores(extremes);
  rescales(keys);

  // Weights: z_j, T_j, P_j, D (Lemma 3); H4; Λ_T, Λ_H (Corollary L).
  auto sums = scalar::weight_sums<double>::none();
  for (std::size_t j = 0; j < keys.size(); ++j) {
    auto const k = numbers_of(keys[j]);
    key& my = keys_[j];
    auto const errors = scalar::weight_errors(terms_, k, my.E, my.R);
    sums.add(k, my.E, errors);
    my.z = errors.z, my.P = errors.P, my.t_squared = errors.t_squared;
    my.reference_error = errors.reference_error, my.far = errors.far, my.flushed = errors.flushed;
  }
  terms_.after_weights(sums);
  for (std::size_t j = 0; j < keys.size(); ++j)
    if (!keys_[j].far && !keys_[j].flushed) terms_.near_key(keys[j].weight_lower, keys_[j].z);

  // Dominance: η_j, J (Clause D). Weights: share_j (Lemma 5). Sums: Σ_j share_j·γ_{h+R_j+s} of Γ_L (Lemma 6).
  double per_key = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    auto const k = numbers_of(keys[j]);
    key& my = keys_[j];
    my.eta = scalar::dominance(terms_, k, my.E, my.reference_error, my.dominant);
    my.share = scalar::share_of(terms_, k.weight_upper, my.P, my.far);
    per_key += my.share * scalar::gamma_L_of(terms_, my.R);
  }
  terms_.after_shares(per_key);
}

}  // namespace attest::reference
