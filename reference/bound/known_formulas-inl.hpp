// docs/bound.md, section 5, Theorem (known weights), for one key and for one output column, on lanes: see
// reference/bound/formulas-inl.hpp. The row and its blocks are in reference/bound/known_weights.hpp.
#include "reference/bound/known_weights.hpp"
#include "reference/bound/weight_formulas-inl.hpp"

namespace ATTEST_FORMULAS_NAMESPACE {

/// What section 3 says of a key; near is 1, or 0 where it is far or flushed.
template <class R>
struct evaluated_key {
  R x_lower, x_upper, weight_lower, weight_upper, E, R_j, P, reference_error, near;
};

/// Largest numbers of the keys of a block, before they are rounded outward: s − m and its enclosures, s − m ∓ E.
template <class R>
struct block_extremes {
  R m_lower, m_upper, lowest, highest;

  static constexpr block_extremes none() noexcept { return {R(-infinity), R(-infinity), R(-infinity), R(-infinity)}; }
  constexpr void add(R const& x_lower, R const& x_upper, R const& E) noexcept {
    m_lower = larger(m_lower, x_lower), m_upper = larger(m_upper, x_upper);
    lowest = larger(lowest, x_lower - E), highest = larger(highest, x_upper + E);
  }
};

/// x ≥ 0 rounded to nearest among the numbers of unit roundoff u that are multiples of `quantum`; a midpoint goes up or
/// down.
/// Ensures   a result that does not decrease with x
template <class R>
constexpr R rounded_to(R const& x, double u, double quantum, bool midpoint_up) noexcept {
  R const unit = larger(R(larger(quantum, 0x1p-1074)), 2 * u * leading_power(x));
  R const steps = x / unit;  // exact, below 1/u
  R const whole = whole_part(steps);
  R const rest = steps - whole;
  auto const down = midpoint_up ? rest < R(0.5) : logical_not(R(0.5) < rest);
  return select(x < R(0x1p-1022), R(0), select(down, whole, whole + 1) * unit);
}

/// Of a key, in units of C·Z·e^m: see known_weights. `unknown`: 0 where P̂_j is known, else π_j, or ∞ where P_j ≥ 1.
template <class R>
struct known_weight {
  R center, deviation, unknown;
};

/// π_j(1 + d_j), π_jδ_j of a key of the block `at`.
template <class R>
constexpr known_weight<R> known_weight_of(known_row const& row, weight_block const& at,
                                          evaluated_key<R> const& key) noexcept {
  constexpr double up = 1 + 0x1p-48, down = 1 - 0x1p-48;
  row_terms const& terms = row.terms;
  double const E_t = at.error(), end_error = row.end_error, u_p = terms.model.u_p;
  // e^{s_j − m_t} ∈ [q_lower, q_upper].
  R const above = rounded_up(key.x_upper - at.m_lower), below = rounded_down(key.x_lower - at.m_upper);
  R const q_upper = exp_upper(above);
  R const q_lower = larger(R(0), exp_lower(above, q_upper) * (1 - rounded_up(above - below)) * down);
  // z⁰_j = E_j + E_t + γ_{k_x}(m_t − s_j + E_j + E_t) + κ_j + ε̂ + [flushes or k_x > 1]·(R + 1)k_x·ω.
  R const off = key.E + E_t;
  R const z = (off + terms.gamma_x * (off - below) + key.reference_error + terms.eps_hat + terms.z_extra) * up;
  // r_j = E_t + E_end + γ_{k_x}(M⁺ − m_t + E_t) + 2κ_j + R_j·ε̂_r + […], 0 where no rescale follows.
  R r(0);
  if (at.may_rise || terms.always_rescales())
    r = (E_t + end_error + terms.gamma_x * (terms.max_above - at.m_lower + E_t) + 2 * key.reference_error +
         key.R_j * terms.rescale_eps_hat + terms.z_extra) *
        up;
  R const p_lower = q_lower * (1 - z) * down;
  auto const grid = either(R(0) < R(row.quantum), logical_not(p_lower < R(row.coarse)));
  auto const known = both(both(R(0.5) < key.near, grid), both(both(z < R(0.0625), r < R(0.0625)), R(0) < q_lower));
  R const a = rounded_to(p_lower, u_p, row.quantum, false);
  R const b = rounded_to(q_upper * (1 + z * (1 + z)) * up, u_p, row.quantum, true);
  R const middle = 0.5 * (a + b);  // ½(a_j + b_j) = (1 + d_j)·e^{s_j − m_t}
  R const least = key.weight_lower / select(known, q_upper, R(1)) * middle * down;
  R const upper = key.weight_upper / select(known, q_lower, R(1));
  R const most = upper * middle * up;
  R const half = upper * (0.5 * (b - a)) * up;  // π_jw_j
  R const growth = r * (1 + r);                 // ≥ e^{r_j} − 1
  // Of a key whose P̂_j is not known: d_j = 0, W_j(1 + θ·u_p) + ω_p beside π_j.
  double const other = end_error * (1 + end_error) * (1 + u_p) + u_p;
  R const center = 0.5 * select(known, least + most, key.weight_lower + key.weight_upper);
  R const deviation = select(known, most * growth + half * (1 + growth) + (most - least),
                             key.weight_upper * other + key.P * (1 + other) + (key.weight_upper - key.weight_lower) +
                                 terms.lost_when_divided) *
                      up;
  return {center, deviation, select(known, R(0), select(key.P < R(1), key.weight_upper, R(infinity)))};
}

/// Of a column beside known weights: b_g, in the end o*_c as computed; v⁺_g and v⁻_g of the group so far; Σ_j π_j(1 +
/// d_j)|v_jc| of the groups before, Σ_j π_jδ_j|v_jc|, Σ_g n_g·max(|b_g + v⁺_g|, |b_g − v⁻_g|, v⁺_g, v⁻_g).
template <class R>
struct known_sums {
  R center, added, taken, magnitude, deviation, nodes;

  constexpr void add(R const& value, R const& weight_center, R const& weight_deviation) noexcept {
    R const product = weight_center * value;
    added = added + larger(product, R(0));
    taken = taken - smaller(product, R(0));
    deviation = mul_add(weight_deviation, absolute(value), deviation);
  }
  constexpr void end_group(double keys) noexcept {
    R const reached = larger(absolute(center + added), absolute(center - taken));
    nodes = mul_add(R(keys), larger(reached, larger(added, taken)), nodes);
    magnitude = magnitude + (added + taken);
    center = center + (added - taken), added = taken = R(0);
  }
  /// Σ_j π_j(1 + d_j + δ_j)|v_jc|
  constexpr R size() const noexcept { return magnitude + deviation; }
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
/// N*_c/D and what is lost beside it, + n·γ^h·A*']}, the first alone with a promotion.
/// Ensures   |ô_c − o*_c| ≤ B*_c (section 5, Theorem, known weights)
template <class R>
constexpr known_output<R> known_bound(row_terms const& terms, known_weights const& weights, known_sums<R> const& sums,
                                      R const& largest) noexcept {
  double const growth = weights.growth;
  R const nodes = weights.one_accumulator ? sums.nodes : R(infinity);
  // n·2⁻⁵²·Σ(…)|v_jc|: the rounding of the computed o*_c.
  R const evaluation = terms.n * (0x1p-52 * sums.size() + 0x1p-1074 * larger(R(1), largest));
  R const size = absolute(sums.center) + evaluation;
  double const far = terms.n_far * terms.far_share();
  R const A = ((growth + terms.sum_P) * size + (1 + growth) * sums.deviation) / terms.D_lower +
              far * (2 * largest + size) + evaluation;
  R const A_abs = (1 + growth) * sums.size() / terms.D_lower + 2 * far * largest;
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
