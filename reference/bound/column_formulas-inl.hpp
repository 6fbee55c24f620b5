// docs/bound.md, section 3 for one output column (Averages, Φ_c), then the Theorem of section 5 and sections 8 and 9,
// on lanes: see reference/bound/formulas-inl.hpp.
#include "reference/bound/known_formulas-inl.hpp"

namespace ATTEST_FORMULAS_NAMESPACE {

// --- section 3, Averages (Lemma 7) and Φ_c ---

/// What a column asks before o_c is known: max|v|, Σ|v|, Σv, ā_c from both sides, Σ share_j·Γ¹_j·|v_jc| (Φ_c).
template <class R>
struct column_sizes {
  R largest, sum, total, average, average_lower, shared;
  R heaviest;            ///< v_jc of a key with the largest weight (Dull elements)
  R middle, half_width;  ///< ā_c ∈ middle ± half_width (E7)

  constexpr void add_value(R const& value) noexcept {
    R const size = absolute(value);
    largest = larger(largest, size);
    sum = sum + size;
    total = total + value;
  }
  constexpr void add(R const& size, R const& weight_lower, R const& weight_upper, R const& shared_gamma) noexcept {
    average = mul_add(weight_upper, size, average);
    average_lower = mul_add(weight_lower, size, average_lower);
    shared = mul_add(shared_gamma, size, shared);
  }
  constexpr void finish(constant_terms const& terms) noexcept {
    average = average * terms.slack;
    average_lower = average_lower * (2 - terms.slack);
    middle = (average + average_lower) * 0.5;
    half_width = rounded_up(larger(average - middle, middle - average_lower));
  }
};

/// γ_j·(d_j² + (2/3)u_p²·π_j²) of section 9, d_j = π_j·t_j where z_j < 1, else P_j.
template <class R>
constexpr R grouped_variance(constant_terms const& terms, R const& group, R const& weight_upper,
                             key_errors<R> const& my) noexcept {
  R const of_score = select(my.small, weight_upper * weight_upper * my.t_squared, my.P * my.P);
  return group * (of_score + weight_upper * weight_upper * (terms.u_p * terms.u_p * (2.0 / 3)));
}

/// What A^T asks once a midpoint of o_c is known: Σ P_j|y_j − ȳ| for y = v_c and y = |v_c|; and for section 9
/// Σ γ_j·(d_j² + (2/3)u_p²·π_j²)(v_jc − o_c)². Each ȳ is replaced by its midpoint (E7).
template <class R>
struct column_deviations {
  R weighted, weighted_size, spread;

  /// variance is the result of grouped_variance.
  constexpr void add(R const& distance, R const& size_distance, R const& P, R const& variance) noexcept {
    weighted = mul_add(P, distance, weighted);
    weighted_size = mul_add(P, size_distance, weighted_size);
    spread = mul_add(variance * distance, distance, spread);  // a square alone may overflow, and 0·∞ is NaN
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
    theorem = ((weighted + terms.sum_P * width) / terms.D_lower + terms.n_far * terms.far_share() * hull) * terms.slack;
  // A^D = max_{j∈J}|y_j − ȳ| + Σ_{j∉J} η_j|y_j − ȳ|; neither it nor A^H where E6 says that A^T is smaller.
  R const clauses = terms.theorem_is_sharpest
                        ? R(infinity)
                        : smaller(hull, (rounded_up(dominant) + width + dominated + sum_eta * width) * terms.slack);
  by_theorem = logical_not(clauses < theorem);
  return smaller(theorem, clauses);
}

// --- section 5, weights formed by the LSE ---

/// Weights exp(s − LSE): U^L_j; is the key flushed in the second pass, X̂^L_j > x0.
template <class R>
struct lse_weight {
  R error;
  decltype(R(0) < R(0)) flushed;
};

/// U^L_j = π_j·T^L_j where z^L_j < 1, else e^{x_j + z^L_j}/Z, at least π_j for a key that is far, or flushed in either
/// pass; with X^L_j = |x_j| + ln Z + E_j + λ and κ^L_j = κ_j + γ_{c_m}(1 + γ_{k_x})·ln Z:
/// z^L_j = E_j + γ_{k_x}X^L_j + κ^L_j + ε̂ + û_p + […](R + 1)k_x·ω; X̂^L_j = (1 + γ_{k_x})X^L_j + κ^L_j (section 5,
/// second theorem).
template <class R>
constexpr lse_weight<R> lse_weight_error(rescale_terms const& terms, key_numbers<R> const& key, R const& E,
                                         R const& reference_error, double lambda,
                                         decltype(R(0) < R(0)) underflows) noexcept {
  R const X = terms.lse_above_max + lambda - key.x_lower + E;
  R const kappa = reference_error + terms.reference_factor * terms.lse_above_max;
  R const z = (E + terms.gamma_x * X + kappa + terms.eps_hat + terms.z_extra) * terms.slack;
  auto const flushed = R(terms.model.x0) < (X * (1 + terms.gamma_x) + kappa) * terms.slack;
  R const near = key.weight_upper * (z / (1 - smaller(z, R(1)) * 0.5) * (1 + 0x1p-50));
  R const U = select(z < R(1), near, exp_upper(rounded_up(key.x_upper + z)) / terms.normaliser_lower);
  return {select(either(underflows, flushed), larger(key.weight_upper, U), U), flushed};
}

// --- section 5, Theorem; section 9, Warning level ---

/// B_c; B_c before the output rounding; W_c; does the column satisfy H0 (E10), is A^T the smallest entry of A_c, is the
/// element dull.
template <class R>
struct column_bound {
  using mask = decltype(R(0) < R(0));
  R size, unrounded, warning;
  mask judged, by_theorem, dull;
};

/// A column of the keys alone (Theorem T2): B_c and W_c as they may be stored, |o_c| from above, all times κ.
template <class R>
struct column_alone {
  using mask = decltype(R(0) < R(0));
  R size, warning, o_size;
  mask judged, by_theorem;
};

/// Section 8, Dull elements: does the bound admit the mean of V, or o_c without its heaviest key, where that differs
/// from o_c by more than one rounding of the output? (Not directed: it is counted, nothing rests on it.)
template <class R>
constexpr auto is_dull(row_terms const& terms, R const& bound, R const& mid, column_sizes<R> const& sizes) noexcept {
  double const rounding = larger(terms.model.u_out, terms.model.format.u);
  R const one_rounding = absolute(mid) * rounding;
  R const mean = absolute(sizes.total / terms.n - mid);
  R const lost = terms.n > 1 ? absolute(sizes.heaviest - mid) * terms.heaviest_odds : absolute(mid);
  auto const admits = [&](R const& off) { return both(one_rounding < off, logical_not(bound < off)); };
  return either(admits(mean), admits(lost));
}

/// H0 of states, Lemma 8: by what a part may exceed the largest value that it averages, relatively, before it is
/// rounded to its format: the relative term of Clause H for one part, without u_state.
constexpr double state_growth(row_terms const& terms) noexcept {
  if (!(terms.gamma_part < 1)) return infinity;
  double const on_paths = compounded(compounded(terms.u_p, terms.gamma_h), terms.delta_wide) +
                          1.01 * terms.combine_error * (1 + terms.delta_wide);
  return (on_paths + terms.gamma_part + terms.gamma_F) / (1 - terms.gamma_part) * (1 + terms.gamma_F) * terms.slack;
}

/// The result of a part in size: (1 + growth)·max_j|v_jc| + Ω' + Ω_F (Lemma 8). `sum` is Σ_j|v_jc|.
template <class R>
constexpr R largest_part(row_terms const& terms, R const& largest, R const& sum) noexcept {
  return (1 + state_growth(terms)) * largest + terms.lost_beside_part * sum +
         (terms.lost_in_part + 2 * terms.model.format.omega);
}

/// E_σ·V'_c + 8μ_σω (Lemma 8); 0 where nothing is merged by a sigmoid.
template <class R>
constexpr R merged_by_sigmoid(row_terms const& terms, R const& largest, R const& sum) noexcept {
  if (!terms.by_sigmoid()) return R(0);
  return largest_part(terms, largest, sum) * terms.mixed + terms.lost_when_mixed;
}

/// Φ_c = min{Γ_O·A'_c, Σ_j share_j·Γ¹_j·|v_jc| + (1 + u_p)(1 + γ^h)²·u_pv·N_c} (Lemma 6; E8), and 1.01μ(ε + k_x·min(K,
/// X⁺)·u)(1 + Δ)A'_c more under lse_normalised (Lemma 4).
template <class R>
constexpr R sum_error(row_terms const& terms, column_sizes<R> const& sizes, R const& A, R const& A_abs, R const& o_size,
                      R const& omega_O) noexcept {
  R const by_path = terms.gamma_O * A_abs;
  // N_c = min{h_O·A'_c, ν_O[(A'_c + |o_c| + A_c)/2 + (γ^h + u_p + Δ)A'_c], max(A'_c, max_j|v_jc|)·M_L + 2n·Ω_O/u where
  // u_pv = u}.
  R N = terms.height_O * A_abs;
  N = smaller(N, terms.additions_O * ((A_abs + o_size + A) * 0.5 + (terms.gamma_h + terms.u_p + terms.delta) * A_abs));
  if (double const u = terms.model.format.u; !(u < terms.u_pv))
    N = smaller(N, larger(A_abs, sizes.largest) * terms.nodes_L + (2 * terms.n / u) * omega_O);
  R const by_node = sizes.shared + terms.node_factor * N;
  R const sums = (terms.model.promote > 0 ? by_path : smaller(by_path, by_node)) * (1 + 0x1p-40);
  return terms.model.merge == problem::split_merge::lse_normalised
             ? sums + (1.01 * terms.combine_error * (1 + terms.delta)) * A_abs
             : sums;
}

/// The bound of T2, or, if the sink may be a term too, the larger one of this and the bound of T1 (`by_term`).
/// exact_size is κ|o_c|.
template <class R>
constexpr column_bound<R> with_rescaled(row_terms const& terms, column_bound<R> const& by_term,
                                        column_alone<R> const& alone, R const& exact_size) noexcept {
  auto const found = rescaled(terms, alone.size, alone.warning, alone.o_size, exact_size);
  column_bound<R> bound{};
  bound.size = found.size, bound.unrounded = found.unrounded, bound.warning = found.warning;
  bound.judged = both(alone.judged, found.size < R(infinity)), bound.by_theorem = alone.by_theorem;
  if (terms.factor.only) return bound;
  bound.size = larger(bound.size, by_term.size), bound.unrounded = larger(bound.unrounded, by_term.unrounded);
  bound.warning = larger(bound.warning, by_term.warning);
  bound.judged = both(bound.judged, by_term.judged), bound.by_theorem = both(bound.by_theorem, by_term.by_theorem);
  return bound;
}

/// B_c = A_c + [(1 + Γ_F)(Φ_c + Ω_O) + (|o_c| + A_c)(Γ_L + Γ_F)]/(1 − Γ_L) + Ω_F, and what merges by a sigmoid add
/// (Lemma 8), then κ·B_c(1 + u_out) + u_out·κ|o_c| + ω_out, where with dropout v, o_c and B_c are those times 1 − p.
/// o_c lies within `width` of `mid`; sum_eta is Σ_{j∉J} η_j. (known matters for dull alone.)
/// Ensures   |ô_c − o_c| ≤
/// B_c (Theorem); where B_c is not finite it judges nothing
template <class R>
constexpr column_bound<R> output_bound(row_terms const& terms, R const& mid, R const& width,
                                       column_sizes<R> const& sizes, column_deviations<R> const& far_off,
                                       column_clauses<R> const& clauses, double sum_eta, known_output<R> const& known,
                                       column_alone<R> const& alone) noexcept {
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

  // Ω_O = 4n_ω·ω/Λ + [k_pre > 0]·(4/3)ω·Σ_j|v_jc| + ω_p·κ_p·Σ_j|v_jc| (Lemma 6, Underflow).
  R const omega_O = terms.lost_in_sums + terms.lost_beside_values * sizes.sum;
  double const omega_F = 2 * f.omega;  // Ω_F
  R const merging = merged_by_sigmoid(terms, sizes.largest, sizes.sum);
  // Weights formed again: A_c + χ(|o_c| + A_c) for A_c, and (1 + χ)Φ_c for Φ_c.
  R away = A, sums = sum_error(terms, sizes, A, A_abs, o_size, omega_O);
  if (terms.weighs_again()) away = A + (o_size + A) * terms.off_again, sums = sums * (1 + terms.off_again);
  R const B = terms.by_lse_alone()
                  // Theorem of a second pass by the LSE: `shared` holds Σ U^L_j·|v_jc|.
                  ? terms.lse_growth * o_size +
                        (1 + terms.lse_growth) *
                            (sizes.shared * (1 + terms.gamma_O) + terms.gamma_O * (sizes.average + evaluation)) +
                        4 * terms.n * f.omega + 2 * terms.n * terms.omega_w * sizes.largest +
                        model.omega_p * (4.0 / 3) * sizes.sum
                  : away + omega_F + merging +
                        ((1 + terms.gamma_F) * (sums + omega_O) + (o_size + away) * (terms.gamma_L + terms.gamma_F)) /
                            (1 - terms.gamma_L);
  if (terms.by_lse_alone()) bound.by_theorem = logical_not(R(infinity) < B);
  double const kept = terms.kept_factor;  // κ; 1 without dropout
  bound.unrounded = rounded_up(B * kept * terms.slack);
  bound.size = rounded_up(with_output_rounding(model, B * kept, o_size * kept) * terms.slack);
  // H0: n·e^{τ + g⁺}·κ·max_j|v_jc| < Θ; κ·max_j|v_jc| below out_limit where it may be rounded to that format,
  // and a state below state_limit.
  bound.judged = both((terms.n * terms.e_tau_g * kept) * sizes.largest < R(f.h0_limit), bound.size < R(infinity));
  if (!(terms.off_again < infinity)) bound.judged = R(1) < R(0);
  if (terms.states > 0)
    bound.judged =
        both(bound.judged,
             (largest_part(terms, sizes.largest, sizes.sum) + merging) * (kept * (1 + 0x1p-40)) < R(model.state_limit));
  if (terms.drops && model.u_drop > 0)
    bound.judged = both(bound.judged, sizes.largest * (kept * (1 + 0x1p-50)) < R(model.out_limit));

  // W_c of section 9, λ = 6; far_off.spread is Σ γ_j·(d_j² + (2/3)u_p²·π_j²)(v_jc − o_c)².
  R const rounded = A_abs + o_size;
  R const variance = far_off.spread + terms.spread_of_sizes * o_size * o_size +
                     terms.spread_of_sums * rounded * rounded + terms.spread_of_result * o_size * o_size;
  R const common = (terms.gamma_C + (terms.by_lse_alone() ? terms.lse_growth : 0) + terms.off_again) * o_size;
  R const usual =
      6 * root(variance) + model.u_out * o_size + terms.drift * rounded + common + omega_O + omega_F + merging;
  bound.warning = smaller(bound.size, usual * kept + model.omega_out);
  if (terms.factor.asked) bound = with_rescaled(terms, bound, alone, o_size * kept);
  bound.dull = is_dull(terms, smaller(bound.size / kept, absolute(known.center - mid) + known.size), mid, sizes);
  return bound;
}

}  // namespace ATTEST_FORMULAS_NAMESPACE
#undef ATTEST_FORMULAS_NAMESPACE
