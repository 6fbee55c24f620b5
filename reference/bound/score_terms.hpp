// docs/bound.md, section 3, Scores and Reference; H0: the second and the third stage of row_terms
// (reference/bound/terms.hpp).
#pragma once

#include "reference/bound/constant_terms.hpp"

namespace attest::reference {

/// Scores, from every key's E_j.
struct score_terms : constant_terms, sink_reach {
  // M⁺ − m, M⁻ − m from below, max_j E_j, a bound of max(|M⁺|, |M⁻|) (E2).
  double max_above = 0, max_below = -infinity, largest_E = 0, largest_max = 0;
  bool scores_in_range = false;  ///< the lines of H0 on σ, q, k, products, biases, the softcap and a sink
  // Section 3, Reference: γ_{k_x}, γ_{c_m}(1 + γ_{k_x}); Y* = max_j Y_j, max_j κ_j.
  double gamma_x = 0, reference_factor = 0, widest_Y = 0, largest_kappa = 0;

  /// `found` has the score_extremes of all keys. `sink` is the result of meet_sink, or {} without a sink.
  template <class Extremes>
  constexpr score_terms(constant_terms const& constants, Extremes const& found, sink_reach const& sink) noexcept;

  /// κ_j of a key with |s_j| + E_j = reach: γ_{c_m}(1 + γ_{k_x})·Y_j.
  constexpr double reference_error_at(double reach) const noexcept {
    return reference_factor * larger(reach + model.tau, largest_max) * (1 + 0x1p-50);
  }
  /// E11: must g, g⁺ and max_{j∈L} Y_j be found key by key, by reference_extremes?
  constexpr bool needs_references() const noexcept { return by_lse() || largest_kappa > 0.5; }

 protected:
  constexpr score_terms() noexcept = default;
};

/// Reference: g, g⁺ and max_{j∈L} Y_j.
struct reference_terms : score_terms {
  bool in_range = false;  ///< H0, its lines on the reference too
  bool padded = false;    ///< Λ_x is exceeded by keys whose own bias explains it alone (H0, Finite masks)
  double g = 0, g_plus = 0, largest_Y = 0;

  /// E11: one number for g, g⁺ and max_j κ_j, where that is small. Requires  !scores.needs_references()
  constexpr explicit reference_terms(score_terms const& scores) noexcept;
  /// `found` has the reference_extremes of all keys.
  template <class References>
  constexpr reference_terms(score_terms const& scores, References const& found) noexcept;

  /// Λ⁺: the sum of the weights of one part, which need not have a key of L.
  constexpr double least_sum_of_part() const noexcept { return least_sum_with(g_plus); }

 protected:
  constexpr reference_terms() noexcept = default;
};

template <class Extremes>
constexpr score_terms::score_terms(constant_terms const& constants, Extremes const& found,
                                   sink_reach const& sink) noexcept
    : constant_terms(constants), sink_reach(sink) {
  problem::working_format const& f = model.format;
  max_above = found.above, max_below = found.below, largest_E = found.largest_E;
  if (!has_sink) keys_above = max_above, keys_below = max_below;
  // H0, line by line: |σ|; q and k where folds may overflow; Q_j and S_j, also of keys without weight; |b_j| of keys
  // that are not sunk; no infinite q·k; the softcap; M⁻ > m − Θ/8. The smallest normal number is half of ω_W/e^τ.
  double const folded = larger(1, scale_upper);
  bool const folds = larger(query_norm, found.largest_norm) * folded < f.h0_limit;
  scores_in_range = sink_in_range && finite_products && scale_upper < f.h0_limit &&
                    (!folds_may_overflow(model) || folds) && found.largest_size < f.h0_limit &&
                    keys_without_weight_in_range(model, *this) &&
                    (softcap == 0 || (f.omega_w * 0.5 <= softcap && softcap < f.h0_limit)) && -sunk() / 2 < max_below;
  // E2: max(|M⁺|, |M⁻|) ≤ |m| + max(|M⁺ − m|, |M⁻ − m|).
  largest_max = larger(max_upper + max_above, max_upper + absolute(max_below));
  if (sink_above > 0) largest_max = larger(largest_max, max_upper + larger(absolute(keys_above), absolute(keys_below)));
  // Section 3, Reference: κ_j ≤ γ_{c_m}(1 + γ_{k_x})·Y_j.
  gamma_x = sums_nothing() ? 0 : gamma(model.k_x, f.u);
  reference_factor = model.c_m > 0 ? gamma(model.c_m, f.u) * (1 + gamma_x) : 0;
  largest_kappa = reference_error_at(found.largest_reach);
  widest_Y = larger(found.largest_reach + model.tau, largest_max);
}

constexpr reference_terms::reference_terms(score_terms const& scores) noexcept
    : score_terms(scores), in_range(scores_in_range), largest_Y(widest_Y) {
  g = g_plus = model.large_scores == problem::large_scores::stable ? 0 : largest_kappa;
}

/// H5, and the exception of H0 for rows in which all of L is under its own bias.
template <class References>
constexpr reference_terms::reference_terms(score_terms const& scores, References const& found) noexcept
    : score_terms(scores), in_range(scores_in_range) {
  largest_Y = larger(found.reach_of_L + model.tau, largest_max);
  if (model.large_scores == problem::large_scores::stable) return;
  double const limit = reference_limit();
  g = reference_error_at(found.reach_of_L);
  g_plus = larger(g, reference_error_at(found.reach_of_unmasked));
  padded = limit < g && found.reach_of_unbiased == 0;
  if (padded) g = g_plus = 0;
  if (by_sigmoid()) g = g_plus;                         // a part need not have a key of L
  double const beyond = found.reach_beyond_mask_limit;  // 0: no such key
  in_range = in_range && g_plus <= limit && !(beyond > 0 && limit < reference_error_at(beyond));
}

}  // namespace attest::reference
