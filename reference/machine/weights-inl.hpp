// Scores, weights and the normaliser of one row, with their errors. Compiled once for every SIMD target.
//
// u = 2⁻⁵³. M = max_j ŝ_j, a double, replaces the maximum m: e^(s_j − M)/Σ e^(s_i − M) = π_j exactly for every M.
#if defined(ATTEST_REFERENCE_MACHINE_WEIGHTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_WEIGHTS_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_WEIGHTS_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_WEIGHTS_INL_HPP
#endif

#include <cstddef>

#include "reference/bound/facts.hpp"
#include "reference/machine/exp-inl.hpp"
#include "reference/machine/scores-inl.hpp"
#include "reference/machine/stages-inl.hpp"
#include "reference/machine/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// The numbers of a row that the stages below compute.
struct row_numbers {
  double scale = 0;                          ///< σ̂
  double softcap = 0, cap_error = 0;         ///< c, 0 = none; what capping adds to ρ_j
  bool in_base_2 = false;                    ///< s_j = ln 2·(σ·dot + b_j)
  double score_factor = 0, bias_factor = 0;  ///< ρ_j = score_factor·size_j + bias_factor·|ŝ_j| + tiny
  double max = -infinity;                    ///< M
  double max_above = 0, max_below = 0;       ///< M − max_below ≤ m ≤ M + max_above
  double Z = 0, Z_lower = 0, Z_upper = 0;    ///< Σŵ_j as computed, and Σ e^(s_j − M) enclosed
  double mean_error = 0;                     ///< ≥ Σ ŵ_j·η_j/Z_lower, far keys included
};

/// c·tanh(x/c) by (1 − e^(−2|y|))/(1 + e^(−2|y|)), y = x/c.
/// Ensures   |result − c·tanh(x/c)| ≤ 8u·c
/// Why       in units of u: y's quotient 0.45 (|y|/cosh²y < 0.45), exp's 2u·e gives 1 through the slope 2/(1 + e)², the
///           difference 1, the sum 1, the quotient 1, the product 1; exponents below −708 are replaced by −708
template <class R>
HWY_INLINE R capped(R const& x, double softcap) {
  R const e = exp_near(larger(absolute(x) * -2 / softcap, R(-708.0)));
  R const size = (1 - e) / (1 + e) * softcap;
  return select(x < R(0), -size, size);
}

/// ŝ_j = fl(fl(σ̂·dot) + b_j), or with softcap fl(capped(fl(σ̂·dot)) + b_j), or in base 2 fl(ln 2·fl(fl(σ̂·dot) + b_j)),
/// ρ_j and their extremes.
/// Ensures   |ŝ_j − s_j| ≤ ρ_j = (h + 6)u'·|σ̂|·size_j + [softcap] 8u·c + [bias] 1.01u·|ŝ_j| +
/// [base 2] 2.02u·|ŝ_j| + 2⁻¹⁰²²
/// Why       dot: γ_h·Σ|q·k|, h = dot_roundings(d), and Σ|q·k| ≤ size_j/(1 − γ_h);
/// σ̂: 2.01u (a root and a quotient; 0
///           if it is given), the product: u, together (h + 4)u to first order; u' = u(1 + 2(h + 6)u) covers the
///           second. The sum with the bias: u·|ŝ_j|. Underflow: 2⁻¹⁰⁷⁴. In base 2 the product with fl(ln 2): 2u, and ln
///           2 < 1 makes what was off before it smaller
struct score_stage {
  key_columns& keys;
  row_numbers const& row;
  template <class R>
  struct extremes {
    R max, above, below, size;
    static HWY_INLINE extremes none() { return {R(-infinity), R(-infinity), R(-infinity), R(0)}; }
  };
  accumulator<extremes>& found;

  template <class R>
  HWY_INLINE void at(std::size_t j) {
    R const size = load<R>(&keys.product_upper[j]);
    R product = load<R>(&keys.score[j]) * row.scale;
    if (row.softcap > 0)
      product =
          capped(product, row.softcap);  // x ↦ c·tanh(x/c) is a contraction: the error of the product does not grow
    R s = product + load<R>(&keys.bias[j]);
    if (row.in_base_2) s = s * 0x1.62e42fefa39efp-1;
    R const error = size * row.score_factor + absolute(s) * row.bias_factor + row.cap_error + 0x1p-1022;
    store(s, &keys.score[j]);
    store(error, &keys.score_error[j]);
    auto& f = found.of<R>();
    f.max = larger(f.max, s);
    f.above = larger(f.above, s + error);
    f.below = larger(f.below, s - error);
    f.size = f.size + (absolute(s) + error + size);  // a sum propagates NaN, a maximum may not
  }
};

/// ŵ_j and η_j.
/// Ensures   e^(s_j − M) ∈ ŵ_j·(1 ± η_j), η_j = 1.01(ρ_j + u|x̂_j| + 2u), if η_j ≤ 2⁻⁷; rows with larger η_j are handed
///           over. A far key has ŵ_j = 0 and e^(s_j − M) ≤ e^−700 < 2⁻¹⁰⁰⁹
/// Why       x̂_j = fl(ŝ_j − M) is off by u|x̂_j|, exp by 2u relative; e^t(1 + 2u) − 1 ≤ (t + 2u)(1 + t) for t ≤ 2⁻⁷
struct weight_stage {
  key_columns& keys;
  row_numbers const& row;
  template <class R>
  struct sums {
    R weights, errors, largest_error;
    static HWY_INLINE sums none() { return {R(0), R(0), R(0)}; }
  };
  accumulator<sums>& total;

  template <class R>
  HWY_INLINE void at(std::size_t j) {
    R const x = load<R>(&keys.score[j]) - row.max;
    R const rho = load<R>(&keys.score_error[j]);
    auto const far = x + (rho - x * 0x1p-51) < R(exp_lowest);
    R const near = exp_near(larger(x, R(-708.0)));
    R const weight = select(far, R(0), near);
    R const error = select(far, R(0), (rho - x * 0x1p-53 + exp_error) * 1.01);
    store(weight, &keys.weight[j]);
    store(error, &keys.weight_error[j]);
    auto& t = total.of<R>();
    t.weights = t.weights + weight;
    t.errors = t.errors + weight * error;
    t.largest_error = larger(t.largest_error, error);
  }
};

/// The fields of key_facts, from ŝ, ρ, ŵ, η and the enclosure of Z.
/// Why       each takes a few operations, each with relative error u: 2⁻⁴⁹ covers them
struct facts_stage {
  key_columns& keys;
  row_numbers const& row;
  double size_slack, weight_up, weight_down;  ///< 1 + (d+2)2⁻⁵², and rounded-outward 1/Z_lower, 1/Z_upper

  template <class R>
  HWY_INLINE void at(std::size_t j) {
    R const s = load<R>(&keys.score[j]), rho = load<R>(&keys.score_error[j]), x = s - row.max;
    store((x - (rho + row.max_above)) * (1 + 0x1p-49), &keys.x_lower[j]);
    R const reach = rho + row.max_below;
    store(smaller(R(0), x + reach + (reach - x) * 0x1p-49), &keys.x_upper[j]);
    store((absolute(s) + rho) * (1 + 0x1p-49), &keys.score_upper[j]);
    store(load<R>(&keys.product_upper[j]) * size_slack, &keys.product_upper[j]);
    store(load<R>(&keys.key_norm[j]) * size_slack, &keys.key_norm[j]);
    R const w = load<R>(&keys.weight[j]), off = w * load<R>(&keys.weight_error[j]);
    store(smaller(R(1), (w + off) * weight_up + 2 * below_exp_lowest), &keys.weight_upper[j]);
    store((w - off) * weight_down, &keys.weight_lower[j]);
  }
};

/// Runs the stages above over the n keys in `keys`, whose score, product_upper, key_norm and bias hold dot, size, norm
/// and b_j on entry. Returns false if the row must be handed over to the ball tier.
inline bool find_weights(std::size_t n, bool has_bias, row_scalars& facts, key_columns& keys, row_numbers& row) {
  auto const d = static_cast<double>(facts.d);
  double const roundings = dot_roundings(d) + 6;
  row.score_factor = roundings * 0x1p-53 * (1 + roundings * 0x1p-51) * absolute(row.scale) * (1 + 0x1p-50);
  row.bias_factor = (has_bias ? 1.01 * 0x1p-53 : 0) + (row.in_base_2 ? 2.02 * 0x1p-53 : 0);
  row.cap_error = row.softcap * 0x1p-50;
  auto found = accumulator<score_stage::extremes>::none();
  score_stage scores{keys, row, found};
  each_key(n, scores);
  auto const& [wide, single] = found;
  double const size = sum_of(wide.size) + single.size;
  if (!(size < 0x1p1000)) return false;  // NaN, infinities, and values near overflow
  row.max = larger(largest_of(wide.max), single.max);
  row.max_above = rounded_up(rounded_up(larger(largest_of(wide.above), single.above)) - row.max);
  row.max_below = rounded_up(row.max - rounded_down(larger(largest_of(wide.below), single.below)));

  auto total = accumulator<weight_stage::sums>::none();
  weight_stage weights{keys, row, total};
  each_key(n, weights);
  double const largest_error = larger(largest_of(total.wide.largest_error), total.single.largest_error);
  if (!(largest_error <= 0x1p-7) || !(row.max_above < 0x1p-7)) return false;
  row.Z = sum_of(total.wide.weights) + total.single.weights;
  double const errors = (sum_of(total.wide.errors) + total.single.errors) * (1 + 0x1p-20);
  // A chain of n/lane_count sums on each lane, then at most lane_count + 2 more.
  auto const terms = static_cast<double>(n);
  auto const lanes_wide = static_cast<double>(lane_count);
  double const sum_error = (terms / lanes_wide + 2 * lanes_wide + 2) * 0x1p-53 * 1.01;
  double const off = errors + sum_error * row.Z + terms * 2 * below_exp_lowest;
  row.Z_lower = (row.Z - off) * (1 - 0x1p-50);
  row.Z_upper = (row.Z + off) * (1 + 0x1p-50);
  row.mean_error = (errors + terms * 2 * below_exp_lowest) / row.Z_lower * (1 + 0x1p-49);

  facts.max_upper = rounded_up(absolute(row.max) + larger(row.max_above, row.max_below));
  facts.normaliser_lower = larger(1, row.Z_lower * (1 - row.max_above) * (1 - 0x1p-50));  // Z·e^(M − m), at least 1
  facts_stage stage{keys, row, 1 + (d + 2) * 0x1p-52, 1 / row.Z_lower * (1 + 0x1p-49), 1 / row.Z_upper * (1 - 0x1p-49)};
  each_key(n, stage);
  return true;
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
