// docs/bound.md, section 5, Theorem (known weights), for one output column, on lanes: see
// reference/bound/formulas-inl.hpp. The weights themselves are in reference/bound/known_weights.hpp.
#include "reference/bound/weight_formulas-inl.hpp"

namespace ATTEST_FORMULAS_NAMESPACE {

/// Of a column beside known weights: o*_c = Σ_j π_j(1 + d_j)v_jc as computed, Σ_j π_jδ_j|v_jc|, Σ_j π_j(1 + d_j +
/// δ_j)|v_jc|.
template <class R>
struct known_sums {
  R center, deviation, size;

  constexpr void add(R const& value, R const& weight_center, R const& weight_deviation, R const& weight_size) noexcept {
    R const magnitude = absolute(value);
    center = mul_add(weight_center, value, center);
    deviation = mul_add(weight_deviation, magnitude, deviation);
    size = mul_add(weight_size, magnitude, size);
  }
};

/// N*_c of a column whose keys one accumulator takes in groups (section 5, known weights): b_g, P⁺_g and P⁻_g of the
/// group so far, and Σ_g n_g·max(|b_g + P⁺_g|, |b_g − P⁻_g|, P⁺_g, P⁻_g).
template <class R>
struct walked_sums {
  R before, added, taken, nodes;

  /// product is π_j(1 + d_j)v_jc.
  constexpr void add(R const& product) noexcept {
    added = added + larger(product, R(0));
    taken = taken + larger(R(0) - product, R(0));
  }
  constexpr void end_group(double keys) noexcept {
    R const reached = larger(absolute(before + added), absolute(before - taken));
    nodes = mul_add(R(keys), larger(reached, larger(added, taken)), nodes);
    before = before + (added - taken), added = taken = R(0);
  }
};

/// |ô_c − center| ≤ size; infinite where the theorem is silent.
template <class R>
struct known_output {
  R center, size;
};

/// B*_c = A* + [(1 + Γ_F)(Φ*_c + 4n_ω·ω/Λ) + (|o*_c| + A*)(Γ_L + Γ_F)]/(1 − Γ_L) + Ω_F, then rounded to the
/// output format, with A*  = D⁻¹[(e^{E_end} − 1)|o*_c| + e^{E_end}Σ_j π_jδ_j|v_jc| + |o*_c|ΣP_j] +
/// n_far·(ω_W/Λ)(2max_j|v_jc| + |o*_c|), A*' = D⁻¹e^{E_end}Σ_j π_j(1 + d_j + δ_j)|v_jc| + 2n_far·(ω_W/Λ)max_j|v_jc|,
/// Φ*_c = min{γ^h·A*', γ_k(u_pv)·A*' + (1 + γ^h)²·u_pv·[ν_O(A*' + |o*_c| + A*)/2, or where one accumulator is declared
/// N*_c/D and what is lost beside it, + n·γ^h·A*']}, the first alone with a promotion. growth is e^{E_end} − 1; nodes
/// is N*_c, or infinite. Ensures   |ô_c − o*_c| ≤ B*_c (section 5, Theorem, known weights)
template <class R>
constexpr known_output<R> known_bound(row_terms const& terms, double growth, known_sums<R> const& sums, R const& nodes,
                                      R const& largest) noexcept {
  // n·2⁻⁵²·Σ(…)|v_jc|: the rounding of the computed o*_c.
  R const evaluation = terms.n * (0x1p-52 * sums.size + 0x1p-1074 * larger(R(1), largest));
  R const size = absolute(sums.center) + evaluation;
  double const far = terms.n_far * terms.far_share();
  R const A = ((growth + terms.sum_P) * size + (1 + growth) * sums.deviation) / terms.D_lower +
              far * (2 * largest + size) + evaluation;
  R const A_abs = (1 + growth) * sums.size / terms.D_lower + 2 * far * largest;
  R const by_path = terms.gamma_h * A_abs;
  R const walked = (1 + growth) * (nodes + terms.n * (sums.deviation + evaluation)) / terms.D_lower +
                   terms.n * (2 * far * largest + by_path);
  R const at_nodes = smaller(terms.additions_O * ((A_abs + size + A) * 0.5 + by_path), walked);
  R const by_node = terms.gamma_beside * A_abs + ((1 + terms.gamma_h) * (1 + terms.gamma_h) * terms.u_pv) * at_nodes;
  R const sums_error = terms.model.promote > 0 ? by_path : smaller(by_path, by_node);
  R const B = A + 2 * terms.model.format.omega +
              ((1 + terms.gamma_F) * (sums_error + terms.lost_in_sums) + (size + A) * (terms.gamma_L + terms.gamma_F)) /
                  (1 - terms.gamma_L);
  return {sums.center, rounded_up(with_output_rounding(terms.model, B, size) * terms.slack)};
}

}  // namespace ATTEST_FORMULAS_NAMESPACE
