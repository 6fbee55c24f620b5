// Scores, weights, normaliser and LSE of one row as double words, with their errors. Compiled once for every SIMD
// target.
//
// u = 2⁻⁵³. M = max_j fl(ŝ_j), a double, replaces the maximum m: e^(s_j − M)/Σ e^(s_i − M) = π_j exactly for every M.
#if defined(ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_WEIGHTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_WEIGHTS_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_WEIGHTS_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_WEIGHTS_INL_HPP
#endif

#include <cmath>
#include <cstddef>

#include "reference/machine/double_word/exp-inl.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/stages-inl.hpp"
#include "reference/machine/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// Scores, products, scales and softcaps above this, and softcaps below its inverse, are left to the ball tier: so
/// nothing overflows.
inline constexpr double word_limit = 0x1p400;

/// The numbers of a row that the stages below compute.
struct word_row_numbers {
  double_word<double> scale{0, 0};  ///< |σ̂ − σ| ≤ 16u²|σ|
  double softcap = 0, cap_error = 0, score_factor = 0, score_tiny = 0;
  bool in_base_2 = false;                                ///< s_j = ln 2·(σ·dot + b_j)
  double size_factor = 0x1.8p-105;                       ///< of |ŝ_j| in ρ_j
  double max = -infinity, max_above = 0, max_below = 0;  ///< M − max_below ≤ m ≤ M + max_above
  double_word<double> Z{0, 0};                           ///< Σŵ_j as computed
  double Z_rounding = 0;                                 ///< |Z − Σŵ_j| ≤ Z_rounding·Z
  double mean_error = 0;                                 ///< ≥ |Σŵ_j − Σe^(s_j − M)|/Σe^(s_j − M)
};

/// 1/√d, d ≤ 2²⁰.
/// Ensures   |result − 1/√d| ≤ 16u²/√d
/// Why       r = fl(1/fl(√d)) is within 2.1u, and d·r² = 1 + e, |e| ≤ 4.3u; 1/√d = r·(1 + e)^(−1/2) = r − r·e/2 up to
///           3/8·e² ≤ 7u². e itself: d·r² in two exact products, 1 subtracted exactly, three roundings of numbers below
///           7u
inline double_word<double> inverse_root_of(double d) {
  double const r = 1 / std::sqrt(d);
  auto const square = two_product(r, r), high = two_product(d, square.hi);
  double const e = (high.hi - 1) + (high.lo + d * square.lo);
  return ordered_two_sum(r, r * e * -0.5);
}

/// c·tanh(x/c) = c·(1 − e^y)/(1 + e^y), y = −2|x|/c.
/// Ensures   |result − c·tanh(x/c)| ≤ 256u²·c
/// Why       in units of u²: y's quotient 40|y|e^y ≤ 15, exp 26 + 2.2·0.37: e is off by 42, through the slope 2/(1 +
///           e)² at most 84; two sums of 2 + 3, the quotient 40, the product 9. y below −600 is replaced by −600: 2⁻⁸⁶³
template <class R>
HWY_INLINE double_word<R> capped(double_word<R> x, double softcap) {
  auto const negative = x.hi < R(0);
  auto const size = select(negative, negated(x), x);
  double_word<R> const twice{size.hi * -2, size.lo * -2};
  auto const y = quotient_of_words(twice, word(R(softcap)));
  auto const e = exp_near(select(y.hi < R(word_exp_lowest), word(R(word_exp_lowest)), y));
  auto const tanh = quotient_of_words(sum_of_word(negated(e), R(1)), sum_of_word(e, R(1)));
  auto const product = product_of_words(tanh, word(R(softcap)));
  return select(negative, negated(product), product);
}

/// ln 2 = ln2_words within 2⁻¹⁰⁹.
inline constexpr double_word<double> ln2_words{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/// ŝ_j = σ̂·dot + b_j, or with softcap capped(σ̂·dot) + b_j, or in base 2 ln 2·(σ̂·dot + b_j), and ρ_j.
/// Ensures   |ŝ_j − s_j| ≤ ρ_j = (1.01(d+1)² + 32)u²(1 + 2⁻³⁰)|σ|·size_j + [softcap] 256u²c + 3u²|ŝ_j| + [base 2]
/// 13u²|ŝ_j| + tiny
/// Why       dot: multiply_word_tile; σ̂ 16u², the product 9u²; c·tanh(x/c) is a contraction, so the
/// errors before it
///           do not grow. The sum with the bias: u²(|product| + |ŝ_j|), |product| ≤ 1.01|σ|size_j, with softcap too.
///           The product with ln 2: 9u², and 2⁻¹⁰⁹/ln 2 < 0.2u² of ln2_words; what was off before it becomes smaller
struct word_score_stage {
  key_columns& keys;
  word_row_numbers const& row;
  template <class R>
  struct extremes {
    R max, size;
    static HWY_INLINE extremes none() { return {R(-infinity), R(0)}; }
  };
  accumulator<extremes>& found;

  template <class R>
  HWY_INLINE void at(std::size_t j) {
    R const size = load<R>(&keys.product_upper[j]);
    auto s = product_of_words(double_word<R>{load<R>(&keys.score[j]), load<R>(&keys.score_low[j])}, word<R>(row.scale));
    R const before = absolute(s.hi);
    if (row.softcap > 0) s = capped(s, row.softcap);
    s = sum_of_word(s, load<R>(&keys.bias[j]));
    if (row.in_base_2) s = product_of_words(s, word<R>(ln2_words));
    R const error = size * row.score_factor + (absolute(s.hi) * row.size_factor + (row.cap_error + row.score_tiny));
    store(s.hi, &keys.score[j]);
    store(s.lo, &keys.score_low[j]);
    store(error, &keys.score_error[j]);
    auto& f = found.of<R>();
    f.max = larger(f.max, s.hi);
    f.size = f.size + (before + absolute(s.hi) + absolute(s.lo) + error + size);  // a sum propagates NaN
    f.size = f.size + load<R>(&keys.key_norm[j]) * (word_limit * 0x1p-1000);
  }
};

/// x_j = ŝ_j − M, ŵ_j and η_j.
/// Ensures   |x̂_j − (s_j − M)| ≤ ρ′_j = ρ_j + u²(|ŝ_j| + |x̂_j|)·1.1; e^(s_j − M) ∈ ŵ_j·(1 ± η_j), η_j = 1.01(ρ′_j +
///           (26 + 2.2|x̂_j|)u²), if η_j ≤ 2⁻⁷; a far key has ŵ_j = 0, e^(s_j − M) ≤ e^−600 < 2⁻⁸⁶⁵
struct word_weight_stage {
  key_columns& keys;
  word_row_numbers const& row;
  template <class R>
  struct sums {
    R Z, Z_rest, errors, largest_error, above, below;
    static HWY_INLINE sums none() { return {R(0), R(0), R(0), R(0), R(-infinity), R(-infinity)}; }
  };
  accumulator<sums>& total;

  template <class R>
  HWY_INLINE void at(std::size_t j) {
    double_word<R> const s{load<R>(&keys.score[j]), load<R>(&keys.score_low[j])};
    auto const x = sum_of_word(s, R(-row.max));
    R const rho = load<R>(&keys.score_error[j]) + (absolute(s.hi) + absolute(x.hi)) * 0x1.2p-106;
    auto const far = x.hi + (rho + absolute(x.hi) * 0x1p-51) < R(word_exp_lowest);
    auto const e = exp_near(select(x.hi < R(word_exp_lowest - 1), word(R(word_exp_lowest)), x));
    auto const weight = select(far, word(R(0)), e);
    R const error = select(far, R(0), (rho + word_exp_error(x.hi)) * 1.01);
    store(x.hi, &keys.x_lower[j]);
    store(rho + absolute(x.hi) * 0x1.1p-53, &keys.score_error[j]);  // of x_j as one double
    store(weight.hi, &keys.weight[j]);
    store(weight.lo, &keys.weight_low[j]);
    store(error, &keys.weight_error[j]);
    auto& t = total.of<R>();
    auto const sum = two_sum(t.Z, weight.hi);
    t.Z = sum.hi;
    t.Z_rest = t.Z_rest + (sum.lo + weight.lo);
    t.errors = mul_add(weight.hi, error, t.errors);
    t.largest_error = larger(t.largest_error, error);
    t.above = larger(t.above, x.hi + (rho + absolute(x.hi) * 0x1p-51));
    t.below = larger(t.below, x.hi - (rho + absolute(x.hi) * 0x1p-51));
  }
};

/// The fields of key_facts, and weights outward in doubles.
/// Why       each takes a few operations, each with relative error u: 2⁻⁴⁹ covers them
struct word_facts_stage {
  key_columns& keys;
  word_row_numbers const& row;
  double size_slack, weight_up, weight_down;  ///< 1 + (d+2)2⁻⁵², and rounded-outward 1/Z_lower, 1/Z_upper

  template <class R>
  HWY_INLINE void at(std::size_t j) {
    R const s = load<R>(&keys.score[j]), x = load<R>(&keys.x_lower[j]), rho = load<R>(&keys.score_error[j]);
    R const reach = rho + row.max_below;
    store((x - (rho + row.max_above)) * (1 + 0x1p-49), &keys.x_lower[j]);
    store(smaller(R(0), x + reach + (reach + absolute(x)) * 0x1p-49), &keys.x_upper[j]);
    store((absolute(s) + rho) * (1 + 0x1p-49), &keys.score_upper[j]);
    store(load<R>(&keys.product_upper[j]) * size_slack + 0x1p-1050, &keys.product_upper[j]);
    store(load<R>(&keys.key_norm[j]) * size_slack, &keys.key_norm[j]);
    R const w = load<R>(&keys.weight[j]), off = w * (load<R>(&keys.weight_error[j]) + 0x1p-53);
    store(smaller(R(1), (w + off) * weight_up + 2 * below_word_exp_lowest), &keys.weight_upper[j]);
    store((w - off) * weight_down, &keys.weight_lower[j]);
  }
};

/// Runs the stages above over the n keys in `keys`, whose score, score_low, product_upper, key_norm and bias hold dot
/// (a double word), size, norm and b_j on entry. Returns false if the row must be handed over to the ball tier.
/// Why       Z: two_sum keeps every rest; at most h = n/lanes + 3·lanes + 4 roundings on a path of rests that are at
///           most (h + 1)u·Z together: (h + 2)²u²·1.01
inline bool find_word_weights(std::size_t n, row_scalars& facts, key_columns& keys, word_row_numbers& row) {
  auto const d = static_cast<double>(facts.d);
  if (!(absolute(row.scale.hi) < word_limit) ||
      (row.softcap > 0 && !(1 / word_limit < row.softcap && row.softcap < word_limit)))
    return false;
  row.score_factor = ((d + 1) * (d + 1) * 1.01 + 32) * 0x1p-106 * absolute(row.scale.hi) * (1 + 0x1p-28);
  row.score_tiny = (d + 8) * 0x1p-1070 * (1 + absolute(row.scale.hi)) + 0x1p-1020;
  if (row.in_base_2) row.size_factor = 0x1p-102;
  row.cap_error = row.softcap > 0 ? row.softcap * 0x1p-98 + 0x1p-860 * row.softcap : 0;
  auto found = accumulator<word_score_stage::extremes>::none();
  word_score_stage scores{keys, row, found};
  each_key(n, scores);
  if (!(sum_of(found.wide.size) + found.single.size < word_limit))
    return false;  // NaN, infinities, and values near overflow
  row.max = larger(largest_of(found.wide.max), found.single.max);

  auto total = accumulator<word_weight_stage::sums>::none();
  word_weight_stage weights{keys, row, total};
  each_key(n, weights);
  auto const& [wide, single] = total;
  row.max_above = larger(0, rounded_up(larger(largest_of(wide.above), single.above)));
  row.max_below = larger(0, rounded_up(-larger(largest_of(wide.below), single.below)));
  if (!(larger(largest_of(wide.largest_error), single.largest_error) <= 0x1p-7) || !(row.max_above < 0x1p-7))
    return false;
  double parts[2 * lane_count];
  store(wide.Z, parts);
  store(wide.Z_rest, parts + lane_count);
  auto Z = word(single.Z);
  double rest = single.Z_rest;
  for (std::size_t l = 0; l < lane_count; ++l) {
    Z = two_sum(Z.hi, parts[l]);
    rest += Z.lo + parts[lane_count + l];
  }
  row.Z = two_sum(Z.hi, rest);
  auto const terms = static_cast<double>(n), lanes_wide = static_cast<double>(lane_count);
  double const height = terms / lanes_wide + 4 * lanes_wide + 6;
  row.Z_rounding = height * height * 0x1p-106 * 1.01 + 0x1p-1000;
  double const errors = (sum_of(wide.errors) + single.errors) * (1 + 0x1p-20) + terms * below_word_exp_lowest;
  row.mean_error = errors / (row.Z.hi - errors) * (1 + 0x1p-20);
  double const off = errors + row.Z.hi * (row.Z_rounding + 0x1p-52);
  double const Z_lower = (row.Z.hi - off) * (1 - 0x1p-50), Z_upper = (row.Z.hi + off) * (1 + 0x1p-50);

  facts.max_upper = rounded_up(absolute(row.max) + larger(row.max_above, row.max_below));
  facts.normaliser_lower = larger(1, Z_lower * (1 - row.max_above) * (1 - 0x1p-50));  // Z·e^(M − m), at least 1
  word_facts_stage stage{keys, row, 1 + (d + 2) * 0x1p-52, 1 / Z_lower * (1 + 0x1p-49), 1 / Z_upper * (1 - 0x1p-49)};
  each_key(n, stage);
  return true;
}

/// LSE = M + ln Z. Returns false if ln Z must be left to the ball tier.
inline bool log_sum_exp_of_words(word_row_numbers const& row, row_scalars& facts, certified_row& certified) {
  auto const ln_Z = log_near(row.Z);
  if (!(ln_Z.radius < infinity)) return false;
  auto const lse = sum_of_word(ln_Z.value, row.max);
  certified.lse = lse.hi, certified.lse_low = lse.lo;
  certified.lse_radius = (ln_Z.radius + 1.01 * (row.mean_error + row.Z_rounding) +
                          (absolute(ln_Z.value.hi) + absolute(lse.hi)) * 0x1.2p-106) *
                         (1 + 0x1p-40);
  facts.lse_upper = rounded_up((absolute(lse.hi) + certified.lse_radius) * (1 + 0x1p-51));
  facts.lse_above_max = rounded_up(larger(0, ln_Z.value.hi * (1 + 0x1p-50) + certified.lse_radius) + row.max_below);
  return true;
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
