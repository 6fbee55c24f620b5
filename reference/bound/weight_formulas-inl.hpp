// docs/bound.md, the rounding to the output format and theorem T2 for one result, then Corollary W of section 6, on
// lanes: see reference/bound/formulas-inl.hpp.
#include "reference/bound/formulas-inl.hpp"

namespace ATTEST_FORMULAS_NAMESPACE {

// --- section 6, Corollary W ---

/// What the rounding to the output format adds: B(1 + u_out) + u_out·|exact| + ω_out (Theorem, Corollary W).
template <class R>
constexpr R with_output_rounding(problem::kernel_model const& model, R const& B, R const& exact_size) noexcept {
  return B * (1 + model.u_out) + model.u_out * exact_size + model.omega_out;
}

/// B before and after the output rounding, and W, of a result that a sink scales behind the keys.
template <class R>
struct rescaled_bound {
  R unrounded, size, warning;
};

/// |ô − o| ≤ f(1 + Φ)B_K + fΦ|o_K| + (2ω + ω_drop)κ + ν(|o_K| + B_K), then the output rounding; W alike. B, W and |o_K|
/// belong to the keys alone, as they may be stored. exact_size is |o|. A weight is such a result, too.
/// Ensures   |ô − o| ≤ size of a kernel that multiplies ô_K by the factor of a sink (Theorem T2)
template <class R>
constexpr rescaled_bound<R> rescaled(row_terms const& terms, R const& B, R const& W, R const& keys_size,
                                     R const& exact_size) noexcept {
  sink_factor const& f = terms.factor;
  R const beside = f.off * keys_size + f.absolute + f.lost * (keys_size + B);
  R const unrounded = rounded_up((f.whole * B + beside) * terms.slack);
  R const size = rounded_up(with_output_rounding(terms.model, unrounded, exact_size) * terms.slack);
  return {unrounded, size, smaller(size, with_output_rounding(terms.model, R(f.whole * W + beside), exact_size))};
}

template <class R>
struct weight_bound {
  using mask = decltype(R(0) < R(0));
  R size;
  mask by_theorem;
};

/// The bound of a returned weight by T2, or, if the sink may be a term too, the larger one of this and the bound by T1
/// (`by_term`). B and keys_weight belong to the keys alone.
template <class R>
constexpr weight_bound<R> with_rescaled_weight(row_terms const& terms, weight_bound<R> const& by_term, R const& B,
                                               decltype(R(0) < R(0)) by_theorem, R const& keys_weight,
                                               R const& weight_upper) noexcept {
  R const size = rescaled(terms, B, B, keys_weight, weight_upper).size;
  if (terms.factor.only) return {size, by_theorem};
  return {larger(size, by_term.size), both(by_theorem, by_term.by_theorem)};
}

/// A_j = min{1, [(1 − π_j)P_j + π_j Σ_{i≠j} P_i]/D + n_far·ω_W/Λ, max(π_j, η_j)};
/// one pass:      A_j + (π_j + A_j)(Γ_L + Γ_W)/(1 − Γ_L) + 2ω + α_W
/// second pass:   [P_j(1 + Γ_W) + π_j(Γ_W + Δ_D + Γ_L)]/[D(1 − Γ_L)] + ω_W/Λ + 2ω + α_W, where the middle entry is A_j,
///                else the first with e^{η⁺ + 2θ + max μ_i} + ω_W/Λ for 1 (Δ_D: off_sum);
/// then (…)(1 + u_out) + u_out·π_j + ω_out. lse_error is U^L_j where weights are exp(s − LSE), else unused.
/// Ensures   |â_j − π_j| ≤ the larger of both (Corollary W)
template <class R>
constexpr weight_bound<R> weight_error(row_terms const& terms, R const& weight_lower, R const& weight_upper, R const& P,
                                       R const& eta, R const& lse_error) noexcept {
  problem::kernel_model const& model = terms.model;
  double const omega = model.format.omega, gamma_W = terms.gamma_W;
  weight_bound<R> bound{};
  if (terms.by_lse_alone()) {
    double const rounded = model.returned_weights == problem::returned_weights::unrounded ? 0 : model.u_p;
    R const exact = weight_upper * terms.lse_growth + (1 + terms.lse_growth) * lse_error;
    R const B = exact + rounded * (weight_upper + exact) + 2 * omega + terms.omega_w + model.omega_p;
    bound.size = rounded_up(with_output_rounding(model, B, weight_upper) * terms.slack);
    bound.by_theorem = bound.size < R(infinity);
    return bound;
  }
  bool const can = terms.theorem_holds && terms.D_lower > 0;
  R A = 1, twice = 1;
  bound.by_theorem = R(1) < R(0);
  if (can) {
    R const others = larger(R(0), terms.sum_P * terms.slack - P);  // Σ_{i≠j} P_i
    A = ((1 - weight_lower) * P + weight_upper * others) / terms.D_lower + terms.n_far * terms.far_share();
    bound.by_theorem = logical_not(R(1) < A);
    A = smaller(R(1), A);
    // π[(1 + T)(1 + Γ_W)/(D(1 − Γ_L)) − 1] with the 1 taken inside, so that nothing cancels (E4).
    twice = (P * (1 + gamma_W) + weight_upper * (gamma_W + terms.off_sum + terms.gamma_L)) /
                (terms.D_lower * (1 - terms.gamma_L)) +
            terms.far_share();
  }
  R const dominated = larger(weight_upper, eta);  // Clause D: 0 ≤ W_j/ΣW ≤ η_j
  bound.by_theorem = both(bound.by_theorem, logical_not(dominated < A));
  A = select(either(bound.by_theorem, eta < R(1)), smaller(A, dominated), R(terms.again));
  if (terms.weighs_again()) A = A + (weight_upper + A) * terms.off_again;
  R B = A + (weight_upper + A) * (terms.gamma_L + gamma_W) / (1 - terms.gamma_L);
  B = select(bound.by_theorem, larger(B, twice), B) + (2 * omega + terms.lost_weight);
  bound.size = rounded_up(with_output_rounding(model, B, weight_upper) * terms.slack);
  if (!(terms.off_again < infinity)) bound.size = R(infinity);
  return bound;
}

}  // namespace ATTEST_FORMULAS_NAMESPACE
