// docs/bound.md, section 3 for one key, on lanes: R is double, or a SIMD vector of doubles. The four files of formulas
// (this one, weight_, known_ and column_formulas-inl.hpp) are their only statement. They are compiled for
// plain doubles in namespace attest::reference::scalar (by reference/bound/bound.hpp), and once for every SIMD target
// in the namespace that ATTEST_FORMULAS_NAMESPACE then names (by reference/machine/known_weights-inl.hpp).
//
// An R has + − × ÷ and <, mixes with double, and knows larger, smaller, absolute, rounded_up, rounded_down, exp_upper.
// mul_add(a, b, c) is a·b + c with one rounding or two. Comparisons give masks: select(mask, a, b), both, either,
// logical_not, all. R{} is 0. (No member has an initializer: a compiler-made constructor would not be compiled for the
// target.)
#include "reference/bound/scalar.hpp"
#include "reference/bound/terms.hpp"

#ifndef ATTEST_FORMULAS_NAMESPACE
#define ATTEST_FORMULAS_NAMESPACE attest::reference::scalar
#endif

namespace ATTEST_FORMULAS_NAMESPACE {

// --- section 1 ---

/// Enclosures of one key's numbers: the fields of key_facts.
template <class R>
struct key_numbers {
  R x_lower, x_upper, score_upper, product_upper, key_norm, bias, weight_lower, weight_upper;
};

/// γ_k(u) = k·u/(1 − k·u) with k on lanes; infinity from k·u = 1 on.
template <class R>
constexpr R gamma_on(R const& k, double u) noexcept {
  R const ku = k * u;
  return select(ku < R(1), ku / (1 - smaller(ku, R(1 - 0x1p-53))) * (1 + 0x1p-50), R(infinity));
}

// --- section 3, Scores ---

/// min(c, S_j) ≥ |c·tanh(a_j/c)| (Lemma 1, Softcap).
template <class R>
constexpr R capped_upper(constant_terms const& terms, key_numbers<R> const& key) noexcept {
  return smaller(R(terms.softcap), terms.scale_upper * key.product_upper);
}

/// E⁰_j. Ensures   the computed product, times σ, is within it of a_j, and of a_j + b_j where the bias comes first
template <class R>
constexpr R product_error_of(constant_terms const& terms, key_numbers<R> const& key) noexcept {
  return terms.product_error * (terms.scale_upper * key.product_upper + terms.first_bias * absolute(key.bias)) +
         terms.score_absolute + terms.per_product * key.product_upper + terms.per_key_norm * key.key_norm;
}

/// E_j = (1 + e_s)(E¹_j + g_b|b_j|) + e_s|s_j| + ω_s,
/// E¹_j = E⁰_j, with a softcap (1 + e_c)·E⁰_j + e_c·min(c, S_j) + c·a_t + (1 + c)ω.
/// Ensures   |ŝ_j − s_j| ≤ E_j (Lemma 1)
template <class R>
constexpr R score_error(constant_terms const& terms, key_numbers<R> const& key) noexcept {
  R product = product_error_of(terms, key);
  if (terms.softcap > 0)
    product = (1 + terms.model.e_c) * product + terms.model.e_c * capped_upper(terms, key) + terms.cap_absolute;
  return ((1 + terms.e_s) * (product + terms.model.g_b * absolute(key.bias)) + terms.e_s * key.score_upper +
          terms.model.omega_s) *
         terms.slack;
}

/// E^x_j of docs/bound_backward.md, Lemma 7: the error of σ·q·k before a softcap, stored or not.
/// (1 + u_s)·E⁰_j + u_s·S_j + ω_s
template <class R>
constexpr R stored_product_error(constant_terms const& terms, key_numbers<R> const& key) noexcept {
  return ((1 + terms.model.u_s) * product_error_of(terms, key) +
          terms.model.u_s * (terms.scale_upper * key.product_upper) + terms.model.omega_s) *
         terms.slack;
}

/// E_⊥: the larger of E_j of a key with q·k = 0 and bias t, and (1 + u_s)[(γ_{k_t} ⊕ u_t)|t| + ω_t + 2ω] + u_s|t| +
/// ω_s.
/// Ensures   |t̂ − t| ≤ E_⊥ however the sink enters (Theorem T1)
template <class R>
constexpr R sink_error(constant_terms const& terms, key_numbers<R> const& key) noexcept {
  problem::kernel_model const& model = terms.model;
  R const size = absolute(key.bias);
  R const stored =
      (1 + model.u_s) * (terms.sink_relative * size + terms.sink_absolute) + model.u_s * size + model.omega_s;
  return larger(score_error(terms, key), stored * terms.slack);
}

/// M⁺ − m, M⁻ − m, max_j E_j (section 3, Scores), the largest numbers that H0 limits, Q_j, S_j, |b_j| and ‖k_j‖₁, and
/// max_j (|s_j| + E_j).
template <class R>
struct score_extremes {
  R above, below, largest_E, largest_size, largest_norm, largest_reach;

  static constexpr score_extremes none() noexcept { return {R(0), R(-infinity), R(0), R(0), R(0), R(0)}; }
  /// Of the keys beside a sink: their largest score may lie below m.
  static constexpr score_extremes none_of_keys() noexcept {
    score_extremes nothing = none();
    nothing.above = R(-infinity);
    return nothing;
  }

  constexpr void add(constant_terms const& terms, key_numbers<R> const& key, R const& E) noexcept {
    above = larger(above, rounded_up(key.x_upper + E));
    below = larger(below, rounded_down(key.x_lower - E));
    largest_E = larger(largest_E, E);
    // H0: the bias of a sunk key, s_j + E_j < m − Θ/4, is exempt.
    R const bias = select(rounded_up(key.x_upper + E) < R(-terms.sunk()), R(0), absolute(key.bias));
    largest_size = larger(larger(largest_size, key.product_upper), larger(terms.scale_upper * key.product_upper, bias));
    largest_norm = larger(largest_norm, key.key_norm);
    largest_reach = larger(largest_reach, rounded_up(key.score_upper + E));
  }
};

// --- section 3, Reference ---

/// The largest |s_j| + E_j over L; over keys that are not masked; over keys of L that are not under a bias of their own
/// (b_j > −(S_j + E_j)); over masked keys with |b_j| > mask_limit. 0 where there is none.
template <class R>
struct reference_extremes {
  R reach_of_L, reach_of_unmasked, reach_of_unbiased, reach_beyond_mask_limit;

  static constexpr reference_extremes none() noexcept { return {R(0), R(0), R(0), R(0)}; }

  constexpr void add(score_terms const& terms, key_numbers<R> const& key, R const& E) noexcept {
    R const reach = rounded_up(key.score_upper + E);
    auto const in_L = logical_not(rounded_up(key.x_upper + E) < R(terms.keys_below));  // s_j + E_j ≥ M_K⁻
    auto const biased = logical_not(-key.bias < rounded_up(terms.scale_upper * key.product_upper) + E * (1 + 0x1p-50));
    auto const masked = both(biased, logical_not(in_L));
    reach_of_L = larger(reach_of_L, select(in_L, reach, R(0)));
    reach_of_unmasked = larger(reach_of_unmasked, select(masked, R(0), reach));
    reach_of_unbiased = larger(reach_of_unbiased, select(both(in_L, logical_not(biased)), larger(reach, R(1)), R(0)));
    auto const beyond = both(biased, R(terms.model.mask_limit) < -key.bias);
    reach_beyond_mask_limit = larger(reach_beyond_mask_limit, select(beyond, reach, R(0)));
  }
  /// A sink counts if it lies in L, and is never masked by a bias of its own.
  constexpr void add_sink(score_terms const& terms, key_numbers<R> const& key, R const& E) noexcept {
    if (rounded_up(key.x_upper + E) < R(terms.keys_below)) return;
    R const reach = rounded_up(key.score_upper + E);
    reach_of_L = larger(reach_of_L, reach);
    reach_of_unmasked = larger(reach_of_unmasked, reach);
    reach_of_unbiased = larger(reach_of_unbiased, larger(reach, R(1)));
  }
};

// --- section 3, Weights (Lemma 3) ---

/// z_j, T_j, U_j, P_j, κ_j, Y_j, X_j, t_j² of section 9; is z_j < 1, is the key far, is it flushed.
template <class R>
struct key_errors {
  using mask = decltype(R(0) < R(0));
  R z, T, U, P, t_squared, reference_error, Y, X;
  mask small, far, flushed;
};

/// X_j = M⁺ − s_j + E_j + 2τ(1 + 2u) + ℓ_j, without κ_j + μ_j of ℓ_j.
template <class R>
constexpr R argument_of(rescale_terms const& terms, key_numbers<R> const& key, R const& E) noexcept {
  return rounded_up(terms.max_above - key.x_lower) + E + terms.X_extra;
}

/// Requires  rescales = R_j; X = argument_of, and X_below bounds how far the argument may lie below 0
/// Ensures   W_j = C·e^{s_j}(1 + δ_j) + ζ_j with |ln(1 + δ_j)| ≤ z_j, and ζ_j = 0 unless the key is far; for a flushed
///           key W_j may also be 0, for a masked one anything below C·e^{s_j + z_j} + ω_W (Lemma 3)
template <class R>
constexpr key_errors<R> errors_of_argument(rescale_terms const& terms, key_numbers<R> const& key, R const& E,
                                           R const& rescales, R const& X, R const& X_below) noexcept {
  problem::kernel_model const& model = terms.model;
  key_errors<R> my{};
  // Y_j = max(|s_j| + E_j + τ, |M⁺|, |M⁻|).
  my.Y = larger(key.score_upper + E + model.tau, R(terms.largest_max));
  my.reference_error = terms.reference_factor * my.Y;  // κ_j
  R const mu = terms.z_per_Y * my.Y + terms.z_merge;   // μ_j
  R const longer = terms.by_lse() ? my.reference_error + mu : R(0);
  my.X = X + longer;
  // z_j = E_j + γ_{k_x}X_j + κ_j + ε̂ + R_jε̂_r + û_p + [flushes or k_x > 1]·(R + 1)k_x·ω + μ_j.
  my.z = (E + terms.gamma_x * my.X + my.reference_error + (rescales * terms.rescale_eps_hat + terms.eps_hat) +
          terms.z_extra + mu) *
         terms.slack;
  // Section 9: t_j². What underflows in a score is the same for many keys (σ that is read as 0), so it has a factor n.
  double const u = model.format.u;
  R const S = terms.scale_upper * key.product_upper;
  R const lost =
      terms.score_absolute + terms.per_product * key.product_upper + terms.per_key_norm * key.key_norm + model.omega_s;
  my.t_squared = (terms.u_qk * terms.u_qk * terms.k_qk) * S * S + (u * u) * key.x_lower * key.x_lower +
                 model.eps * model.eps +
                 (model.k_add * u * u + model.u_s * model.u_s) * key.score_upper * key.score_upper +
                 (model.g_b * model.g_b) * key.bias * key.bias + terms.n * lost * lost;
  if (terms.softcap > 0) {
    R const cap_error = model.e_c * capped_upper(terms, key) + terms.cap_absolute;
    my.t_squared = my.t_squared + cap_error * cap_error;
  }
  // Far: X̂_j = (1 + γ_{k_x})X_j + κ_j + [flushes or k_x > 1]·k_x·ω > far_P.
  R const X_hat = (X_below + longer) * (1 + terms.gamma_x) + my.reference_error + terms.lost_argument;
  my.far = terms.far_limit < X_hat;
  // Flushed: X̂_j > x0, or s_j + E_j < M⁻ − Θ/64.
  my.flushed = either(model.x0 < X_hat, rounded_up(key.x_upper + E) < R(terms.max_below - model.format.h0_limit / 64));
  // T_j = e^{z_j} − 1 ≤ z_j/(1 − z_j/2) where z_j < 1 (E3), at least 1 for a flushed key.
  my.small = my.z < R(1);
  my.T = select(my.small, my.z / (1 - smaller(my.z, R(1)) * 0.5) * (1 + 0x1p-50), R(infinity));
  my.T = select(my.flushed, larger(my.T, R(1)), my.T);
  // U_j = π_j·T_j where z_j < 1, else e^{x_j + z_j}/Z (E3); P_j = min(1, U_j) where z_j ≥ 1.
  // What underflows here matters beside a small D (E1).
  constexpr double least = 0x1p-1074;
  my.U = mul_add(key.weight_upper, select(my.small, my.T, R(1)), R(least));
  my.P = my.U;
  if (!all(my.small)) {
    my.U = select(my.small, my.U, exp_upper(rounded_up(key.x_upper + my.z)) / terms.normaliser_lower + least);
    my.P = select(my.small, my.U, smaller(R(1), my.U));
  }
  return my;
}

/// The same of a key (Lemma 3).
template <class R>
constexpr key_errors<R> weight_errors(rescale_terms const& terms, key_numbers<R> const& key, R const& E,
                                      R const& rescales) noexcept {
  R const X = argument_of(terms, key, E);
  return errors_of_argument(terms, key, E, rescales, X, X);
}

/// The same of a sink: X_⊥ = max(M⁺ − t, t − M_K⁻) + E_⊥ + …, where only the first entry lies below 0 (Theorem T1).
template <class R>
constexpr key_errors<R> sink_errors(rescale_terms const& terms, key_numbers<R> const& key, R const& E,
                                    R const& rescales) noexcept {
  R const below = argument_of(terms, key, E);
  return errors_of_argument(terms, key, E, rescales, larger(below, R(rounded_up(terms.sink_above + terms.X_extra))),
                            below);
}

/// (1 + 2γ_{k_x})κ_j of e_j = E_j + (1 + 2γ_{k_x})κ_j (section 3, Dominance).
template <class R>
constexpr R dominance_error(rescale_terms const& terms, R const& reference_error) noexcept {
  return reference_error * ((1 + 2 * terms.gamma_x) * (1 + 0x1p-50));
}

/// n_far, D from below, 1 − D (E4), Σ P_j, Σ U_j, Σγ_j, Σγ_jπ_j², max π_j, max T_j, κ* (Corollary L), X⁺, the largest
/// |s_j| + E_j of a key that is not far (H0), max_i (s_i − e_i) − m.
template <class R>
struct weight_sums {
  R n_far, D_lower, one_minus_D, sum_P, sum_U, sum_groups, sum_grouped_squares, largest_weight, largest_T,
      kappa_beside_gap, largest_near_X, largest_stored, dominance_top;

  static constexpr weight_sums none() noexcept {
    return {R(0), R(0), R(0), R(0), R(0), R(0), R(0), R(0), R(0), R(0), R(0), R(0), R(-infinity)};
  }

  /// group is γ_j of section 9.
  constexpr void add(rescale_terms const& terms, key_numbers<R> const& key, R const& E, R const& group,
                     key_errors<R> const& my) noexcept {
    n_far = n_far + select(my.far, R(1), R(0));
    sum_groups = sum_groups + group;
    sum_grouped_squares = sum_grouped_squares + group * key.weight_upper * key.weight_upper;
    sum_P = sum_P + my.P;
    sum_U = sum_U + my.U;
    largest_weight = larger(largest_weight, key.weight_upper);
    largest_T = larger(largest_T, my.T);
    largest_near_X = larger(largest_near_X, select(my.far, R(0), my.X));
    largest_stored = larger(largest_stored, select(my.far, R(0), rounded_up(key.score_upper + E)));
    // κ* = max(0, max_j [κ_j − (1 − γ_{k_x})·max(0, M⁻ − s_j − E_j)]).
    R const gap = larger(R(0), rounded_down(terms.max_below - rounded_up(key.x_upper + E)));
    kappa_beside_gap = larger(
        kappa_beside_gap, rounded_up(my.reference_error * (1 + 0x1p-50) - gap * ((1 - terms.gamma_x) * (1 - 0x1p-50))));
    // D = Σ π_j/(1 + T_j) over keys with z_j < 1 that are neither far nor flushed;
    // 1 − D = Σ π_j·min(1, T_j) over these, plus Σ π_j over the others.
    auto const near = both(my.small, logical_not(either(my.far, my.flushed)));
    one_minus_D = one_minus_D + key.weight_upper * select(near, smaller(R(1), my.T), R(1));
    D_lower = D_lower + select(near, key.weight_lower / (1 + my.T), R(0));
    // Dominance: s_i − e_i.
    dominance_top = larger(dominance_top,
                           rounded_down(key.x_lower - E - dominance_error(terms, my.reference_error)) * (1 + 0x1p-50));
  }
};

/// share_j = min(1, (π_j + P_j)/D + [far]·ω_W/Λ), 1 where D = 0.
/// Ensures   W_j/ΣW ≤ share_j (Lemma 5 c)
template <class R>
constexpr R share_of(weight_terms const& terms, R const& weight_upper, R const& P, decltype(R(0) < R(0)) far) noexcept {
  if (!(terms.D_lower > 0)) return R(1);
  return smaller(R(1), (weight_upper + P) / terms.D_lower + select(far, R(terms.far_share()), R(0)));
}

// --- section 3, Dominance ---

/// η_j: 1 on J = {j : g_j ≤ 0}, else min(1, exp(−g_j(1 − 2γ_{k_x}) + η⁺ + ν_j)) + ω_W/Λ, where
/// g_j = max_i (s_i − e_i) − (s_j + e_j), e_j = E_j + (1 + 2γ_{k_x})κ_j.
/// Ensures   W_j/ΣW ≤ η_j (Clause D); dominant says whether j is in J
template <class R>
constexpr R dominance(weight_terms const& terms, key_numbers<R> const& key, R const& E, R const& reference_error,
                      decltype(R(0) < R(0))& dominant) noexcept {
  R const e = E + dominance_error(terms, reference_error);
  R const gap = rounded_down(terms.dominance_top - rounded_up(key.x_upper + e));  // g_j
  dominant = logical_not(R(0) < gap);
  R exponent = -larger(gap, R(0)) * ((1 - 2 * terms.gamma_x) * (1 - 0x1p-50)) + terms.eta_extra;
  if (terms.by_lse())
    exponent = exponent +
               (terms.nu_per_Y * larger(key.score_upper + E + terms.model.tau, R(terms.largest_max)) + terms.nu_merge);
  return select(dominant, R(1), smaller(R(1), exp_upper(exponent)) + terms.far_share());
}

/// y_j = 2(z_j − E_j): by how much the weights of key j in two passes differ, as a logarithm (section 5, Weights formed
/// again). Infinite beside a cutoff x0 for a far or flushed key, which one pass alone may cut.
template <class R>
constexpr R difference_of_passes(rescale_terms const& terms, R const& z, R const& E,
                                 decltype(R(0) < R(0)) near) noexcept {
  R const y = rounded_up(z - E) * 2;
  return terms.model.x0 < infinity ? select(near, y, R(infinity)) : y;
}

// --- section 3, Sums (Lemma 6) ---

/// Σ share_j·γ_{h_L+R_j+s} and Σ share_j·γ_{R_j+s} of Γ_L; Σ min(1, n·share_j/u) and the largest share, of M_L.
template <class R>
struct share_sums {
  R per_key, rescaled, nodes, largest_share;

  static constexpr share_sums none() noexcept { return {R(0), R(0), R(0), R(0)}; }

  constexpr void add(constant_terms const& terms, R const& share, R const& rescales) noexcept {
    double const u = terms.model.format.u;
    per_key = per_key + share * gamma_on(terms.height_L + terms.merges_L + rescales, u);
    rescaled = rescaled + share * gamma_on(terms.merges_L + rescales, u);
    nodes = nodes + smaller(R(1), share * (terms.n / u));
    largest_share = larger(largest_share, share);
  }
};

/// Γ¹_j = (1 + u_p)(1 + γ_{R_j+1+k_pre+s'}(u_pv)) − 1: what key j meets beside additions, and Δ.
template <class R>
constexpr R gamma_beside_sums(constant_terms const& terms, R const& rescales) noexcept {
  R const g = gamma_on(1 + terms.model.k_pre + terms.merges_O + rescales, terms.u_pv);
  R const path = (terms.u_p + g + terms.u_p * g) * (1 + 0x1p-50);
  return terms.delta > 0 ? (path + terms.delta + path * terms.delta) * (1 + 0x1p-50) : path;
}

/// γ_j of section 9: how many keys have this score, 1 where they are six or fewer.
constexpr double group_of(double equal) noexcept { return equal > 6 ? equal : 1; }

}  // namespace ATTEST_FORMULAS_NAMESPACE
