// docs/bound.md, section 3 for one key or one output column, then sections 5, 6 (Corollary W) and 9, on lanes: R is
// double, or a SIMD vector of doubles. This text is the only statement of these formulas. It is compiled for plain
// doubles in namespace attest::reference::scalar (by reference/bound/bound.hpp), and once for every SIMD target in the
// namespace that ATTEST_FORMULAS_NAMESPACE then names (by reference/machine/bounds-inl.hpp).
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
  R x_lower, x_upper, score_upper, product_upper, key_norm, bias_upper, weight_lower, weight_upper;
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
constexpr R capped_upper(row_terms const& terms, key_numbers<R> const& key) noexcept {
  return smaller(R(terms.softcap), terms.scale_upper * key.product_upper);
}

/// E_j = (1 + e_s)(E¹_j + g_b|b_j|) + e_s|s_j| + ω_s,
/// E¹_j = E⁰_j, with a softcap (1 + e_c)·E⁰_j + e_c·min(c, S_j) + c·a_t + (1 + c)ω.
/// Ensures   |ŝ_j − s_j| ≤ E_j (Lemma 1)
/// Known gap G10: a bias that the dot product starts from has k_qk roundings, and here k_add.
template <class R>
constexpr R score_error(row_terms const& terms, key_numbers<R> const& key) noexcept {
  R product = terms.product_error * (terms.scale_upper * key.product_upper) + terms.score_absolute +
              terms.per_key_norm * key.key_norm;  // E⁰_j
  if (terms.softcap > 0)
    product = (1 + terms.model.e_c) * product + terms.model.e_c * capped_upper(terms, key) + terms.cap_absolute;
  return ((1 + terms.e_s) * (product + terms.model.g_b * key.bias_upper) + terms.e_s * key.score_upper +
          terms.model.omega_s) *
         terms.slack;
}

/// M⁺ − m, M⁻ − m, max_j E_j (section 3, Scores), and the largest number that H0 limits: Q_j, S_j, |b_j|.
template <class R>
struct score_extremes {
  R above, below, largest_E, largest_size;

  static constexpr score_extremes none() noexcept { return {R(0), R(-infinity), R(0), R(0)}; }

  constexpr void add(row_terms const& terms, key_numbers<R> const& key, R const& E) noexcept {
    above = larger(above, rounded_up(key.x_upper + E));
    below = larger(below, rounded_down(key.x_lower - E));
    largest_E = larger(largest_E, E);
    // H0: the bias of a sunk key, s_j + E_j < m − Θ/4, is exempt.
    R const bias = select(rounded_up(key.x_upper + E) < R(-terms.sunk()), R(0), key.bias_upper);
    largest_size = larger(larger(largest_size, key.product_upper), larger(terms.scale_upper * key.product_upper, bias));
  }
};

// --- section 3, Weights (Lemma 3) ---

/// z_j, T_j, P_j, κ_j, Y_j, t_j² of section 9; is z_j < 1, is the key far, is it flushed.
template <class R>
struct key_errors {
  using mask = decltype(R(0) < R(0));
  R z, T, P, t_squared, reference_error, Y;
  mask small, far, flushed;
};

/// Requires  rescales = R_j
/// Ensures   W_j = C·e^{s_j}(1 + δ_j) + ζ_j with |ln(1 + δ_j)| ≤ z_j, and ζ_j = 0 unless the key is far; for a flushed
///           key W_j may also be 0 (Lemma 3)
template <class R>
constexpr key_errors<R> weight_errors(row_terms const& terms, key_numbers<R> const& key, R const& E,
                                      R const& rescales) noexcept {
  problem::kernel_model const& model = terms.model;
  key_errors<R> my{};
  // X_j = M⁺ − s_j + E_j + 2τ(1 + 2u) + ℓ.
  R const X = rounded_up(terms.max_above - key.x_lower) + E + terms.X_extra;
  // Y_j = max(|s_j| + E_j + τ, |M⁺|, |M⁻|).
  my.Y = larger(key.score_upper + E + model.tau, R(terms.largest_max));
  // κ_j = γ_{c_m}(1 + γ_{k_x})·Y_j. Known gap G1: no limit on it.
  my.reference_error = terms.reference_factor * my.Y;
  // z_j = E_j + γ_{k_x}X_j + κ_j + (R_j + 1)ε̂ + û_p + [flushes or k_x > 1]·(R + 1)k_x·ω + μ_j.
  my.z = (E + terms.gamma_x * X + my.reference_error + (rescales + 1) * terms.eps_hat + terms.z_extra +
          terms.z_per_Y * my.Y) *
         terms.slack;
  // Section 9: t_j².
  double const u = model.format.u;
  R const S = terms.scale_upper * key.product_upper;
  my.t_squared = (terms.u_qk * terms.u_qk * terms.k_qk) * S * S + (u * u) * key.x_lower * key.x_lower +
                 model.eps * model.eps + (model.k_add * u * u) * key.score_upper * key.score_upper +
                 (model.g_b * model.g_b) * key.bias_upper * key.bias_upper;
  if (terms.softcap > 0) {
    R const cap_error = model.e_c * capped_upper(terms, key) + terms.cap_absolute;
    my.t_squared = my.t_squared + cap_error * cap_error;
  }
  // Far: X̂_j = (1 + γ_{k_x})X_j + κ_j > far_P.
  R const X_hat = X * (1 + terms.gamma_x) + my.reference_error;
  my.far = terms.far_limit < X_hat;
  // Flushed: X̂_j > x0, or s_j + E_j < M⁻ − Θ/64.
  my.flushed = either(model.x0 < X_hat, rounded_up(key.x_upper + E) < R(terms.max_below - model.format.h0_limit / 64));
  // A flushed key with s_j + z_j < m − Θ/4 has z_j := 0 and Y_j := max(|M⁺|, |M⁻|).
  auto const sunk = both(my.flushed, rounded_up(key.x_upper + my.z) < R(-terms.sunk()));
  my.z = select(sunk, R(0), my.z);
  my.Y = select(sunk, R(terms.largest_max), my.Y);
  // T_j = e^{z_j} − 1 ≤ z_j/(1 − z_j/2) where z_j < 1 (E3), at least 1 for a flushed key.
  my.small = my.z < R(1);
  my.T = select(my.small, my.z / (1 - smaller(my.z, R(1)) * 0.5) * (1 + 0x1p-50), R(infinity));
  my.T = select(my.flushed, larger(my.T, R(1)), my.T);
  // P_j = π_j·T_j where z_j < 1, else min(1, e^{x_j + z_j}/Z) (E3).
  my.P = key.weight_upper * select(my.small, my.T, R(1));
  if (!all(my.small))
    my.P = select(my.small, my.P, smaller(R(1), exp_upper(rounded_up(key.x_upper + my.z)) / terms.normaliser_lower));
  return my;
}

/// n_far, D from below, 1 − D (E4), Σ P_j, max z_j, max T_j, max Y_j, max_i (s_i − e_i) − m.
template <class R>
struct weight_sums {
  R n_far, D_lower, one_minus_D, sum_P, largest_z, largest_T, largest_Y, dominance_top;

  static constexpr weight_sums none() noexcept { return {R(0), R(0), R(0), R(0), R(0), R(0), R(0), R(-infinity)}; }

  constexpr void add(key_numbers<R> const& key, R const& E, key_errors<R> const& my) noexcept {
    n_far = n_far + select(my.far, R(1), R(0));
    sum_P = sum_P + my.P;
    largest_z = larger(largest_z, my.z);
    largest_T = larger(largest_T, my.T);
    largest_Y = larger(largest_Y, my.Y);
    // D = Σ π_j/(1 + T_j) over keys with z_j < 1 that are neither far nor flushed;
    // 1 − D = Σ π_j·min(1, T_j) over these, plus Σ π_j over the others.
    auto const near = both(my.small, logical_not(either(my.far, my.flushed)));
    one_minus_D = one_minus_D + key.weight_upper * select(near, smaller(R(1), my.T), R(1));
    D_lower = D_lower + select(near, key.weight_lower / (1 + my.T), R(0));
    // Dominance: s_i − e_i with e_i = E_i + κ_i.
    dominance_top = larger(dominance_top, rounded_down(key.x_lower - E - my.reference_error) * (1 + 0x1p-50));
  }
};

/// share_j = min(1, (π_j + P_j)/D + [far]·ω_W/Λ), 1 where D = 0; Λ = 1/2.
/// Ensures   W_j/ΣW ≤ share_j (Lemma 5 c)
template <class R>
constexpr R share_of(row_terms const& terms, R const& weight_upper, R const& P, decltype(R(0) < R(0)) far) noexcept {
  if (!(terms.D_lower > 0)) return R(1);
  return smaller(R(1), (weight_upper + P) / terms.D_lower + select(far, R(terms.omega_w * 2), R(0)));
}

// --- section 3, Dominance ---

/// η_j: 1 on J = {j : g_j ≤ 0}, else min(1, exp(−g_j(1 − 2γ_{k_x}) + η⁺)) + ω_W/Λ, where
/// g_j = max_i (s_i − e_i) − (s_j + e_j), e_j = E_j + κ_j, Λ = 1/2.
/// Ensures   W_j/ΣW ≤ η_j (Clause D); dominant says whether j is in J. Known gaps G1, G11, G13
template <class R>
constexpr R dominance(row_terms const& terms, key_numbers<R> const& key, R const& E, R const& reference_error,
                      decltype(R(0) < R(0))& dominant) noexcept {
  R const gap = rounded_down(terms.dominance_top - rounded_up(key.x_upper + (E + reference_error)));  // g_j
  dominant = logical_not(R(0) < gap);
  R const exponent = -larger(gap, R(0)) * ((1 - 2 * terms.gamma_x) * (1 - 0x1p-50)) + terms.eta_extra;
  return select(dominant, R(1), smaller(R(1), exp_upper(exponent)) + terms.omega_w * 2);
}

// --- section 3, Averages (Lemma 7) and Φ_c ---

/// What a column asks before o_c is known: max|v|, Σ|v|, ā_c from both sides, Σ share_j·Γ_O,j·|v_jc| (Φ_c).
template <class R>
struct column_sizes {
  R largest, sum, average, average_lower, shared;
  R middle, half_width;  ///< ā_c ∈ middle ± half_width (E7)

  constexpr void add_size(R const& size) noexcept {
    largest = larger(largest, size);
    sum = sum + size;
  }
  constexpr void add(R const& size, R const& weight_lower, R const& weight_upper, R const& shared_gamma) noexcept {
    average = mul_add(weight_upper, size, average);
    average_lower = mul_add(weight_lower, size, average_lower);
    shared = mul_add(shared_gamma, size, shared);
  }
  constexpr void finish(row_terms const& terms) noexcept {
    average = average * terms.slack;
    average_lower = average_lower * (2 - terms.slack);
    middle = (average + average_lower) * 0.5;
    half_width = rounded_up(larger(average - middle, middle - average_lower));
  }
};

/// What A^T asks once a midpoint of o_c is known: Σ P_j|y_j − ȳ| for y = v_c and y = |v_c|; and for section 9
/// Σ (π_j·t_j·|v_jc − o_c|)². Each ȳ is replaced by its midpoint (E7).
template <class R>
struct column_deviations {
  R weighted, weighted_size, spread;

  /// pi_t_squared is (π_j·t_j)².
  constexpr void add(R const& distance, R const& size_distance, R const& P, R const& pi_t_squared) noexcept {
    weighted = mul_add(P, distance, weighted);
    weighted_size = mul_add(P, size_distance, weighted_size);
    spread = mul_add(pi_t_squared * distance, distance, spread);  // a square alone may overflow, and 0·∞ is NaN
  }
};

/// What A^H and A^D ask, for y = v_c and y = |v_c|: max_j|y_j − ȳ|; max_{j∈J}|y_j − ȳ| and Σ_{j∉J} η_j|y_j − ȳ|. Only
/// where theorem_is_sharpest is false (E6).
template <class R>
struct column_clauses {
  R farthest, farthest_size, dominant, dominant_size, dominated, dominated_size;

  /// in_J is 1 for a key in J, else 0; eta is 0 for a key in J.
  constexpr void add(R const& distance, R const& size_distance, R const& in_J, R const& eta) noexcept {
    farthest = larger(farthest, distance);
    farthest_size = larger(farthest_size, size_distance);
    dominant = larger(dominant, in_J * distance);
    dominant_size = larger(dominant_size, in_J * size_distance);
    dominated = mul_add(eta, distance, dominated);
    dominated_size = mul_add(eta, size_distance, dominated_size);
  }
};

/// A(y) = min{A^T, A^H, A^D}. `width` is how far the midpoint may be from ȳ (E7).
/// Ensures   |õ(y) − ȳ| ≤ A(y) (Lemma 7); by_theorem says whether A^T is the smallest entry
template <class R>
constexpr R average_error(row_terms const& terms, R const& farthest, R const& weighted, R const& dominant,
                          R const& dominated, double sum_eta, R const& width,
                          decltype(R(0) < R(0))& by_theorem) noexcept {
  R const hull = rounded_up(farthest) + width;  // A^H
  // A^T = D⁻¹ Σ P_j|y_j − ȳ| + n_far·(ω_W/Λ)·max_j|y_j − ȳ|, under all of H4 and where D > 0.
  bool const can = terms.theorem_holds && terms.D_lower > 0;
  R theorem(infinity);
  if (can)
    theorem = ((weighted + terms.sum_P * width) / terms.D_lower + terms.n_far * 2 * terms.omega_w * hull) * terms.slack;
  // A^D = max_{j∈J}|y_j − ȳ| + Σ_{j∉J} η_j|y_j − ȳ|; neither it nor A^H where E6 says that A^T is smaller.
  R const clauses = terms.theorem_is_sharpest
                        ? R(infinity)
                        : smaller(hull, (rounded_up(dominant) + width + dominated + sum_eta * width) * terms.slack);
  by_theorem = logical_not(clauses < theorem);
  return smaller(theorem, clauses);
}

// --- section 3, Sums (Lemma 6) ---

/// γ_{h+R_j+s}, the entry of key j in Γ_L.
template <class R>
constexpr R gamma_L_of(row_terms const& terms, R const& rescales) noexcept {
  return gamma_on(terms.height + terms.merges_L + rescales, terms.model.format.u);
}

/// Γ_O,j = (1 + u_p)(1 + γ_{h+R_j+1+k_pre+s'}(u_pv)) − 1; Γ_O with R for R_j.
template <class R>
constexpr R gamma_O_of(row_terms const& terms, R const& rescales) noexcept {
  R const g = gamma_on(terms.height + 1 + terms.model.k_pre + terms.merges_O + rescales, terms.u_pv);
  return (terms.u_p + g + terms.u_p * g) * (1 + 0x1p-50);
}

// --- section 5, Theorem; section 9, Warning level ---

/// B_c, W_c; does the column satisfy H0 (E10), is A^T the smallest entry of A_c.
template <class R>
struct column_bound {
  using mask = decltype(R(0) < R(0));
  R size, warning;
  mask judged, by_theorem;
};

/// B_c = A_c + [(1 + Γ_F)(Φ_c + Ω_O) + (|o_c| + A_c)(Γ_L + Γ_F)]/(1 − Γ_L) + Ω_F,
/// then B_c(1 + u_out) + u_out|o_c| + ω_out. o_c lies within `width` of `mid`; sum_eta is Σ_{j∉J} η_j.
/// Ensures   |ô_c − o_c| ≤ B_c (Theorem)
/// Known gaps: G2, it may be infinite; G3, the output format may overflow
template <class R>
constexpr column_bound<R> output_bound(row_terms const& terms, R const& mid, R const& width,
                                       column_sizes<R> const& sizes, column_deviations<R> const& far_off,
                                       column_clauses<R> const& clauses, double sum_eta) noexcept {
  problem::kernel_model const& model = terms.model;
  problem::working_format const& f = model.format;
  column_bound<R> bound{};
  typename column_bound<R>::mask ignored{};
  R const o_size = rounded_up(absolute(mid) + width);  // |o_c|
  // A_c = A(v_c), A'_c = ā_c + A(|v_c|); what underflows in the evaluation joins both (E1).
  R const evaluation = terms.n * 0x1p-1074 * larger(R(1), sizes.largest);
  R const A = average_error(terms, clauses.farthest, far_off.weighted, clauses.dominant, clauses.dominated, sum_eta,
                            width, bound.by_theorem) +
              evaluation;
  R const A_abs = sizes.average + evaluation +
                  average_error(terms, clauses.farthest_size, far_off.weighted_size, clauses.dominant_size,
                                clauses.dominated_size, sum_eta, sizes.half_width, ignored);

  // Φ_c = min{Γ_O·A'_c, Σ_j share_j·Γ_O,j·|v_jc|} (Lemma 6; E8), + 1.01(ε + K·u)·A'_c under lse_normalised (Lemma 4).
  R sums = smaller(gamma_O_of(terms, R(terms.R)) * A_abs, sizes.shared) * (1 + 0x1p-40);
  if (model.merge == problem::split_merge::lse_normalised) sums = sums + (1.01 * terms.combine_error()) * A_abs;
  // Ω_O = 8(n + S)ω + [k_pre > 0]·ω·Σ_j|v_jc| + ω_p·min(1/Λ, e^{M⁺−m}/(Z·D))·Σ_j|v_jc| (Lemma 6, Underflow in O).
  // Known gap G4: ω_p of weights that are normalised before they are rounded.
  R omega_O = 8 * (terms.n + model.splits) * f.omega;
  if (model.k_pre > 0) omega_O = omega_O + f.omega * sizes.sum;
  if (model.omega_p > 0) {
    double const lost = terms.D_lower > 0 ? terms.e_above / (terms.normaliser_lower * terms.D_lower) : infinity;
    omega_O = omega_O + model.omega_p * smaller(2, lost) * sizes.sum;
  }
  double const omega_F = 2 * f.omega;  // Ω_F
  R B = A + omega_F +
        ((1 + terms.gamma_F) * (sums + omega_O) + (o_size + A) * (terms.gamma_L + terms.gamma_F)) / (1 - terms.gamma_L);
  if (model.u_out > 0) B = B * (1 + model.u_out) + model.u_out * o_size + model.omega_out;  // known gap G12: u_out = 0
  bound.size = rounded_up(B * terms.slack);
  bound.judged = (terms.n * terms.e_tau) * sizes.largest < R(f.h0_limit);  // H0: n·e^τ·max_j|v_jc| < Θ

  // W_c = λ{[Σ π_j²t_j²(v_jc − o_c)²]^{1/2} + u·√(h + R + k_F + k_pre)·(|o_c| + A'_c) + u_out|o_c| + u_p·A'_c}
  //       + Ω_O + Ω_F + ω_out, λ = 3 (section 9).
  double const roundings = terms.height + terms.R + model.k_f + model.k_pre;
  bound.warning =
      3 * (root(far_off.spread) + f.u * root(roundings) * (o_size + A_abs) + model.u_out * o_size + model.u_p * A_abs) +
      omega_O + omega_F + model.omega_out;
  return bound;
}

// --- section 6, Corollary W ---

template <class R>
struct weight_bound {
  using mask = decltype(R(0) < R(0));
  R size;
  mask by_theorem;
};

/// A_j = min{1, [(1 − π_j)P_j + π_j Σ_{i≠j} P_i]/D + n_far·ω_W/Λ, max(π_j, η_j)}, Λ = 1/2;
/// one pass:      A_j + (π_j + A_j)(Γ_L + Γ_F)/(1 − Γ_L) + 2ω
/// second pass:   [P_j(1 + Γ_F) + π_j(Γ_F + (1 − D) + Γ_L)]/[D(1 − Γ_L)] + ω_W/Λ + 2ω, where the middle entry is A_j;
/// then (…)(1 + u_out) + u_out·π_j + ω_out.
/// Ensures   |â_j − π_j| ≤ the larger of both (Corollary W)
/// Known gaps: G7, no u_p and no ω_p; G14, P_j ≤ 1 and η_j ≤ 1 where scores are formed anew
template <class R>
constexpr weight_bound<R> weight_error(row_terms const& terms, R const& weight_lower, R const& weight_upper, R const& P,
                                       R const& eta) noexcept {
  problem::kernel_model const& model = terms.model;
  double const far_share = 2 * terms.omega_w, omega = model.format.omega;  // ω_W/Λ
  bool const can = terms.theorem_holds && terms.D_lower > 0;
  R A = 1, twice = 1;
  weight_bound<R> bound{};
  bound.by_theorem = R(1) < R(0);
  if (can) {
    R const others = larger(R(0), terms.sum_P * terms.slack - P);  // Σ_{i≠j} P_i
    A = ((1 - weight_lower) * P + weight_upper * others) / terms.D_lower + terms.n_far * far_share;
    bound.by_theorem = logical_not(R(1) < A);
    A = smaller(R(1), A);
    // π[(1 + T)(1 + Γ_F)/(D(1 − Γ_L)) − 1] with the 1 taken inside, so that nothing cancels (E4).
    twice = (P * (1 + terms.gamma_F) + weight_upper * (terms.gamma_F + terms.one_minus_D + terms.gamma_L)) /
                (terms.D_lower * (1 - terms.gamma_L)) +
            far_share;
  }
  R const dominated = larger(weight_upper, eta);  // Clause D: 0 ≤ W_j/ΣW ≤ η_j
  bound.by_theorem = both(bound.by_theorem, logical_not(dominated < A));
  A = smaller(A, dominated);
  R B = A + (weight_upper + A) * (terms.gamma_L + terms.gamma_F) / (1 - terms.gamma_L) + 2 * omega;
  B = select(bound.by_theorem, larger(B, twice + 2 * omega), B);
  if (model.u_out > 0) B = B * (1 + model.u_out) + model.u_out * weight_upper + model.omega_out;  // known gap G12
  bound.size = rounded_up(B * terms.slack);
  return bound;
}

}  // namespace ATTEST_FORMULAS_NAMESPACE
#undef ATTEST_FORMULAS_NAMESPACE
