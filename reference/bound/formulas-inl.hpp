// Sections 3 and 4 of docs/bound.md for one key or one output column, on lanes: R is double, or a SIMD vector of
// doubles. This text is the only statement of these formulas. It is compiled for plain doubles in namespace
// attest::reference::scalar (by reference/bound/bound.hpp), and once for every SIMD target in the namespace that
// ATTEST_FORMULAS_NAMESPACE then names (by reference/machine/bounds-inl.hpp).
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

/// Enclosures of one key's numbers: the fields of key_facts.
template <class R>
struct key_numbers {
  R x_lower, x_upper, score_upper, product_upper, key_norm, bias_upper, weight_lower, weight_upper;
};

/// |c·tanh(x_j/c)| ≤ min(c, |x_j|), and |x_j| ≤ S_j. (S_j for |x_j| costs little: E_j has γ_{k_qk}·S_j already.)
template <class R>
constexpr R capped_upper(row_terms const& terms, key_numbers<R> const& key) noexcept {
  return smaller(R(terms.softcap), terms.scale_upper * key.product_upper);
}

/// E_j ≥ |ŝ_j − s_j|.
template <class R>
constexpr R score_error(row_terms const& terms, key_numbers<R> const& key) noexcept {
  R product = terms.product_error * (terms.scale_upper * key.product_upper) + terms.score_absolute +
              terms.per_key_norm * key.key_norm;
  if (terms.softcap > 0) product = (1 + terms.model.e_c) * product + terms.model.e_c * capped_upper(terms, key) + terms.cap_absolute;
  return ((1 + terms.e_s) * (product + terms.model.g_b * key.bias_upper) + terms.e_s * key.score_upper + terms.model.omega_s) *
         terms.slack;
}

/// M⁺ − m, M⁻ − m, max E_j, and the largest number that H0 limits.
template <class R>
struct score_extremes {
  R above, below, largest_E, largest_size;

  static constexpr score_extremes none() noexcept { return {R(0), R(-infinity), R(0), R(0)}; }

  constexpr void add(row_terms const& terms, key_numbers<R> const& key, R const& E) noexcept {
    above = larger(above, rounded_up(key.x_upper + E));
    below = larger(below, rounded_down(key.x_lower - E));
    largest_E = larger(largest_E, E);
    // Amendment 7: a key this far down may overflow to −∞, and its bias is exempt from H0.
    R const bias = select(rounded_up(key.x_upper + E) < R(-terms.sunk()), R(0), key.bias_upper);
    largest_size = larger(larger(largest_size, key.product_upper), larger(terms.scale_upper * key.product_upper, bias));
  }
};

/// What a key's weight may suffer: z_j, T_j, P_j, t_j².
template <class R>
struct key_errors {
  using mask = decltype(R(0) < R(0));
  R z, T, P, t_squared, reference_error, Y;
  mask small, far, flushed;
};

template <class R>
constexpr key_errors<R> weight_errors(row_terms const& terms, key_numbers<R> const& key, R const& E,
                                      R const& rescales) noexcept {
  problem::kernel_model const& model = terms.model;
  key_errors<R> my{};
  R const X = rounded_up(terms.max_above - key.x_lower) + E + terms.X_extra;
  my.Y = larger(key.score_upper + E + model.tau, R(terms.largest_max));
  my.reference_error = terms.reference_factor * my.Y;
  my.z = (E + terms.gamma_x * X + my.reference_error + (rescales + 1) * terms.eps_hat + terms.z_extra + terms.z_per_Y * my.Y) *
         terms.slack;
  double const u = model.format.u;
  R const S = terms.scale_upper * key.product_upper;
  my.t_squared = (terms.u_qk * terms.u_qk * terms.k_qk) * S * S + (u * u) * key.x_lower * key.x_lower + model.eps * model.eps +
                 (model.k_add * u * u) * key.score_upper * key.score_upper +
                 (model.g_b * model.g_b) * key.bias_upper * key.bias_upper;
  if (terms.softcap > 0) {
    R const cap_error = model.e_c * capped_upper(terms, key) + terms.cap_absolute;
    my.t_squared = my.t_squared + cap_error * cap_error;
  }
  R const X_hat = X * (1 + terms.gamma_x) + my.reference_error;
  my.far = terms.far_limit < X_hat;
  // Amendment 7: an additive mask of finfo.min size may overflow to −∞. Such a weight is 0, or underflows like any far
  // one: its large z_j and Y_j say nothing about the row.
  my.flushed = either(model.x0 < X_hat, rounded_up(key.x_upper + E) < R(terms.max_below - model.format.h0_limit / 64));
  auto const sunk = both(my.flushed, rounded_up(key.x_upper + my.z) < R(-terms.sunk()));
  my.z = select(sunk, R(0), my.z);
  my.Y = select(sunk, R(terms.largest_max), my.Y);
  my.small = my.z < R(1);
  my.T = select(my.small, my.z / (1 - smaller(my.z, R(1)) * 0.5) * (1 + 0x1p-50), R(infinity));
  my.T = select(my.flushed, larger(my.T, R(1)), my.T);
  my.P = key.weight_upper * select(my.small, my.T, R(1));
  if (!all(my.small))
    my.P = select(my.small, my.P,
                  smaller(R(1), exp_upper(rounded_up(key.x_upper + my.z)) / terms.normaliser_lower));
  return my;
}

/// Sums and extremes over the keys.
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
    auto const near = both(my.small, logical_not(either(my.far, my.flushed)));
    one_minus_D = one_minus_D + key.weight_upper * select(near, smaller(R(1), my.T), R(1));
    D_lower = D_lower + select(near, key.weight_lower / (1 + my.T), R(0));
    dominance_top = larger(dominance_top, rounded_down(key.x_lower - E - my.reference_error) * (1 + 0x1p-50));
  }
};

/// Dominance (amendment 1): η_j, which is 1 on J.
template <class R>
constexpr R dominance(row_terms const& terms, key_numbers<R> const& key, R const& E, R const& reference_error,
                      decltype(R(0) < R(0))& dominant) noexcept {
  R const gap = rounded_down(terms.dominance_top - rounded_up(key.x_upper + (E + reference_error)));
  dominant = logical_not(R(0) < gap);
  R const exponent = -larger(gap, R(0)) * ((1 - 2 * terms.gamma_x) * (1 - 0x1p-50)) + terms.eta_extra;
  return select(dominant, R(1), smaller(R(1), exp_upper(exponent)) + terms.omega_w * 2);  // ω_W/Λ, Λ = 1/2
}

/// A key's share of ΣW, at most.
template <class R>
constexpr R share_of(row_terms const& terms, R const& weight_upper, R const& P, decltype(R(0) < R(0)) far) noexcept {
  if (!(terms.D_lower > 0)) return R(1);
  return smaller(R(1), (weight_upper + P) / terms.D_lower + select(far, R(terms.omega_w * 2), R(0)));
}

/// γ_k(u) with k on lanes.
template <class R>
constexpr R gamma_on(R const& k, double u) noexcept {
  R const ku = k * u;
  return select(ku < R(1), ku / (1 - smaller(ku, R(1 - 0x1p-53))) * (1 + 0x1p-50), R(infinity));
}

template <class R>
constexpr R gamma_L_of(row_terms const& terms, R const& rescales) noexcept {
  return gamma_on(terms.height + terms.merges_L + rescales, terms.model.format.u);
}

/// Γ_O of a key that meets so many rescales.
template <class R>
constexpr R gamma_O_of(row_terms const& terms, R const& rescales) noexcept {
  R const g = gamma_on(terms.height + 1 + terms.model.k_pre + terms.merges_O + rescales, terms.u_pv);
  return (terms.u_p + g + terms.u_p * g) * (1 + 0x1p-50);
}

/// What section 4 needs of a column before o_c is known: max|v|, Σ|v|, ā_c from both sides, Σ share_j·Γ_O,j·|v_jc|.
template <class R>
struct column_sizes {
  R largest, sum, average, average_lower, shared;
  R middle, half_width;  ///< ā_c ∈ middle ± half_width

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

/// What it needs once a midpoint of o_c is: Σ P_j|y_j − ȳ| for y = v_c and y = |v_c|, and Σ (π_j·t_j·|v_jc − o_c|)²;
/// each ȳ is replaced by its midpoint.
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

/// What the clauses need (amendment 1, and the first entry of A): only where theorem_is_sharpest is false.
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

template <class R>
struct column_bound {
  using mask = decltype(R(0) < R(0));
  R size, warning;
  mask judged, by_theorem;
};

/// A(y) of section 3 with its dominance clause. `width` is how far the midpoint may be from ȳ.
template <class R>
constexpr R average_error(row_terms const& terms, R const& farthest, R const& weighted, R const& dominant,
                          R const& dominated, double sum_eta, R const& width,
                          decltype(R(0) < R(0))& by_theorem) noexcept {
  R const hull = rounded_up(farthest) + width;
  bool const can = terms.theorem_holds && terms.D_lower > 0;
  R theorem(infinity);
  if (can)
    theorem = ((weighted + terms.sum_P * width) / terms.D_lower + terms.n_far * 2 * terms.omega_w * hull) * terms.slack;
  R const clauses =
      terms.theorem_is_sharpest
          ? R(infinity)
          : smaller(hull, (rounded_up(dominant) + width + dominated + sum_eta * width) * terms.slack);
  by_theorem = logical_not(clauses < theorem);
  return smaller(theorem, clauses);
}

/// Section 4: B_c and W_c(3). o_c lies within `width` of `mid`; sum_eta is Σ_{j∉J} η_j.
template <class R>
constexpr column_bound<R> output_bound(row_terms const& terms, R const& mid, R const& width, column_sizes<R> const& sizes,
                                       column_deviations<R> const& far_off, column_clauses<R> const& clauses,
                                       double sum_eta) noexcept {
  problem::kernel_model const& model = terms.model;
  problem::working_format const& f = model.format;
  column_bound<R> made{};
  typename column_bound<R>::mask ignored{};
  R const o_size = rounded_up(absolute(mid) + width);
  R const evaluation = terms.n * 0x1p-1074 * larger(R(1), sizes.largest);
  R const A = average_error(terms, clauses.farthest, far_off.weighted, clauses.dominant, clauses.dominated, sum_eta,
                            width, made.by_theorem) + evaluation;
  R const A_abs = sizes.average + evaluation +
                  average_error(terms, clauses.farthest_size, far_off.weighted_size, clauses.dominant_size,
                                clauses.dominated_size, sum_eta, sizes.half_width, ignored);

  // Γ_O·A′ with each key's own R_j, or with the largest: whichever is smaller.
  R sums = smaller(gamma_O_of(terms, R(terms.R)) * A_abs, sizes.shared) * (1 + 0x1p-40);
  if (model.merge == problem::split_merge::lse_normalised) sums = sums + (1.01 * terms.combine_error()) * A_abs;
  R omega_O = 8 * (terms.n + model.splits) * f.omega;
  if (model.k_pre > 0) omega_O = omega_O + f.omega * sizes.sum;
  if (model.omega_p > 0) {
    double const lost = terms.D_lower > 0 ? terms.e_above / (terms.normaliser_lower * terms.D_lower) : infinity;
    omega_O = omega_O + model.omega_p * smaller(2, lost) * sizes.sum;
  }
  double const omega_F = 2 * f.omega;
  R B = A + omega_F +
        ((1 + terms.gamma_F) * (sums + omega_O) + (o_size + A) * (terms.gamma_L + terms.gamma_F)) / (1 - terms.gamma_L);
  if (model.u_out > 0) B = B * (1 + model.u_out) + model.u_out * o_size + model.omega_out;
  made.size = rounded_up(B * terms.slack);
  made.judged = (terms.n * terms.e_tau) * sizes.largest < R(f.h0_limit);

  // The warning level, λ = 3; the roundings of the division and of normalised weights count like additions.
  double const roundings = terms.height + terms.R + model.k_f + model.k_pre;
  made.warning = 3 * (root(far_off.spread) + f.u * root(roundings) * (o_size + A_abs) + model.u_out * o_size +
                      model.u_p * A_abs) + omega_O + omega_F + model.omega_out;
  return made;
}

template <class R>
struct weight_bound {
  using mask = decltype(R(0) < R(0));
  R size;
  mask by_theorem;
};

/// The first corollary: |â_j − π_j|, whether the kernel forms p_j once or twice.
template <class R>
constexpr weight_bound<R> weight_error(row_terms const& terms, R const& weight_lower, R const& weight_upper, R const& P,
                                       R const& eta) noexcept {
  problem::kernel_model const& model = terms.model;
  double const far_share = 2 * terms.omega_w, omega = model.format.omega;
  bool const can = terms.theorem_holds && terms.D_lower > 0;
  R A = 1, twice = 1;
  weight_bound<R> made{};
  made.by_theorem = R(1) < R(0);
  if (can) {
    R const others = larger(R(0), terms.sum_P * terms.slack - P);
    A = ((1 - weight_lower) * P + weight_upper * others) / terms.D_lower + terms.n_far * far_share;
    made.by_theorem = logical_not(R(1) < A);
    A = smaller(R(1), A);
    // π[(1+T)(1+Γ_F)/(D(1−Γ_L)) − 1] with the 1 taken inside, so that nothing cancels.
    twice = (P * (1 + terms.gamma_F) + weight_upper * (terms.gamma_F + terms.one_minus_D + terms.gamma_L)) /
                (terms.D_lower * (1 - terms.gamma_L)) + far_share;
  }
  R const dominated = larger(weight_upper, eta);
  made.by_theorem = both(made.by_theorem, logical_not(dominated < A));
  A = smaller(A, dominated);
  R B = A + (weight_upper + A) * (terms.gamma_L + terms.gamma_F) / (1 - terms.gamma_L) + 2 * omega;
  B = select(made.by_theorem, larger(B, twice + 2 * omega), B);
  if (model.u_out > 0) B = B * (1 + model.u_out) + model.u_out * weight_upper + model.omega_out;
  made.size = rounded_up(B * terms.slack);
  return made;
}

}  // namespace ATTEST_FORMULAS_NAMESPACE
#undef ATTEST_FORMULAS_NAMESPACE
