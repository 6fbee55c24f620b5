// docs/bound.md, section 3, over the keys of one row: reference/bound/formulas-inl.hpp on lanes, in the steps of
// row_bound::evaluate and in the order of section 3; `keys` holds what belongs to each key between the steps. Compiled
// once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_BOUNDS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_BOUNDS_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_BOUNDS_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_BOUNDS_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <span>

#include "problem/kernel_model.hpp"
#include "reference/bound/bound.hpp"
#include "reference/machine/known_weights-inl.hpp"
#include "reference/machine/rank.hpp"
#include "reference/machine/stages-inl.hpp"
#include "reference/machine/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

template <class R>
HWY_INLINE key_numbers<R> numbers_at(key_columns const& k, std::size_t j) {
  return {load<R>(&k.x_lower[j]),  load<R>(&k.x_upper[j]), load<R>(&k.score_upper[j]),  load<R>(&k.product_upper[j]),
          load<R>(&k.key_norm[j]), load<R>(&k.bias[j]),    load<R>(&k.weight_lower[j]), load<R>(&k.weight_upper[j])};
}

HWY_INLINE lanes as_number(lane_mask mask) { return select(mask, lanes(1.0), lanes(0.0)); }
HWY_INLINE double as_number(bool mask) { return mask ? 1 : 0; }

/// Section 3, Scores (Lemma 1): E_j; s_j + E_j − m and s_j − E_j − m, from which ranks_of makes R_j (E5).
struct score_error_stage {
  key_columns& keys;
  constant_terms const& terms;
  double* above;
  accumulator<score_extremes>& found;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    auto const k = numbers_at<R>(keys, j);
    add(j, k, score_error(terms, k), found.of<R>());
  }
  template <class R>
  HWY_INLINE void add(std::size_t j, key_numbers<R> const& k, R const& E, score_extremes<R>& into) {
    into.add(terms, k, E);
    store(E, &keys.E[j]);
    store(rounded_up(k.x_upper + E), above + j);
    store(rounded_down(k.x_lower - E), &keys.R[j]);
  }
};

/// Section 3, Reference: g, g⁺ and max_{j∈L} Y_j (E11).
struct reference_stage {
  key_columns& keys;
  score_terms const& terms;
  accumulator<reference_extremes>& found;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    found.of<R>().add(terms, numbers_at<R>(keys, j), load<R>(&keys.E[j]));
  }
};

/// Section 3, Weights (Lemma 3): z_j, P_j, κ_j, the variance of section 9; is the key far, is it neither far nor
/// flushed.
struct weight_error_stage {
  key_columns& keys;
  rescale_terms const& terms;
  accumulator<weight_sums>& found;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    auto const k = numbers_at<R>(keys, j);
    R const E = load<R>(&keys.E[j]);
    add(j, k, E, weight_errors(terms, k, E, load<R>(&keys.R[j])));
  }
  template <class R>
  HWY_INLINE void add(std::size_t j, key_numbers<R> const& k, R const& E, key_errors<R> const& my) {
    R const group = load<R>(&keys.group[j]);
    found.of<R>().add(terms, k, E, group, my);
    store(my.z, &keys.z[j]);
    store(my.P, &keys.P[j]);
    store(my.reference_error, &keys.reference_error[j]);
    store(grouped_variance(terms, group, k.weight_upper, my), &keys.variance[j]);
    store(as_number(logical_not(either(my.far, my.flushed))), &keys.near[j]);
    store(as_number(my.far), &keys.far[j]);
  }
};

/// Section 3: the sums of Γ_L and M_L (Lemmas 5, 6), share_j·Γ¹_j of Φ_c (Lemma 6), and, unless E6 spares it, η_j and J
/// (Clause D).
struct share_stage {
  key_columns& keys;
  weight_terms const& terms;
  bool dominance_matters;
  template <class R>
  struct sums {
    share_sums<R> shares;
    R eta, dominant_y;
    static HWY_INLINE sums none() { return {share_sums<R>::none(), R(0), R(0)}; }
  };
  accumulator<sums>& total;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    auto const k = numbers_at<R>(keys, j);
    R const rescales = load<R>(&keys.R[j]);
    R const share = share_of(terms, k.weight_upper, load<R>(&keys.P[j]), R(0.5) < load<R>(&keys.far[j]));
    auto& t = total.of<R>();
    t.shares.add(terms, share, rescales);
    store(share * gamma_beside_sums(terms, rescales), &keys.shared_gamma[j]);
    if (!dominance_matters) return;
    auto dominant = R(0) < R(0);
    R const eta = dominance(terms, k, load<R>(&keys.E[j]), load<R>(&keys.reference_error[j]), dominant);
    R const outside = select(dominant, R(0), eta);
    auto const near = R(0.5) < load<R>(&keys.near[j]);
    R const y = difference_of_passes(terms, load<R>(&keys.z[j]), load<R>(&keys.E[j]), near);
    t.dominant_y = larger(t.dominant_y, select(dominant, y, R(0)));
    t.eta = t.eta + outside;
    store(eta, &keys.z[j]);  // z is no longer needed; Corollary W takes η of every key
    store(outside, &keys.eta[j]);
    store(as_number(dominant), &keys.in_J[j]);
  }
};

/// Section 5, weights formed by the LSE: U^L_j in place of share_j·Γ¹_j. λ is the bound of Corollary L.
struct lse_weight_stage {
  key_columns& keys;
  rescale_terms const& terms;
  double lambda;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    auto const k = numbers_at<R>(keys, j);
    R const U = lse_weight_error(terms, k, load<R>(&keys.E[j]), load<R>(&keys.reference_error[j]), lambda,
                                 load<R>(&keys.near[j]) < R(0.5))
                    .error;
    store(U, &keys.lse_error[j]);
    store(U, &keys.shared_gamma[j]);
  }
};

/// Corollary W: the bound of |â_j − π_j|. keys.z holds η_j by now.
struct weight_bound_stage {
  key_columns& keys;
  row_terms const& terms;
  template <class R>
  HWY_INLINE void at(std::size_t j) {
    auto const bound = weight_error(terms, load<R>(&keys.weight_lower[j]), load<R>(&keys.weight_upper[j]),
                                    load<R>(&keys.P[j]), load<R>(&keys.z[j]), load<R>(&keys.lse_error[j]));
    store(bound.size, &keys.weight_bound[j]);
    store(as_number(bound.by_theorem), &keys.weight_by_theorem[j]);
  }
};

/// E_j of the n keys; M⁺, M⁻, H0 of the scores. A sink is the last key.
inline score_terms scores_of(constant_terms const& terms, std::size_t n, key_columns& keys, rank_memory& ranks) {
  std::size_t const real = n - (terms.has_sink ? 1 : 0);
  ranks.above.resize(std::max(n, ranks.above.size()));
  auto extremes = accumulator<score_extremes>::none();
  if (terms.has_sink) extremes = {score_extremes<lanes>::none_of_keys(), score_extremes<double>::none_of_keys()};
  score_error_stage scores{keys, terms, ranks.above.data(), extremes};
  each_key(real, scores);
  auto const& [wide, single] = extremes;
  score_extremes<double> found{larger(largest_of(wide.above), single.above),
                               larger(largest_of(wide.below), single.below),
                               larger(largest_of(wide.largest_E), single.largest_E),
                               larger(largest_of(wide.largest_size), single.largest_size),
                               larger(largest_of(wide.largest_norm), single.largest_norm),
                               larger(largest_of(wide.largest_reach), single.largest_reach)};
  sink_reach sink;
  if (terms.has_sink) {
    auto const k = numbers_at<double>(keys, real);
    double const E = sink_error(terms, k);
    sink = terms.meet_sink(found, k.x_lower, k.x_upper, E);
    scores.add(real, k, E, found);
    found.above = larger(0, found.above);
  }
  return score_terms(terms, found, sink);
}

/// g, g⁺; H5.
inline reference_terms references_of(score_terms const& terms, std::size_t n, key_columns& keys) {
  if (!terms.needs_references()) return reference_terms(terms);
  std::size_t const real = n - (terms.has_sink ? 1 : 0);
  auto references = accumulator<reference_extremes>::none();
  reference_stage stage{keys, terms, references};
  each_key(real, stage);
  auto const& [wide, single] = references;
  reference_extremes<double> found{larger(largest_of(wide.reach_of_L), single.reach_of_L),
                                   larger(largest_of(wide.reach_of_unmasked), single.reach_of_unmasked),
                                   larger(largest_of(wide.reach_of_unbiased), single.reach_of_unbiased),
                                   larger(largest_of(wide.reach_beyond_mask_limit), single.reach_beyond_mask_limit)};
  if (terms.has_sink) found.add_sink(terms, numbers_at<double>(keys, real), keys.E[real]);
  return reference_terms(terms, found);
}

/// z_j, T_j, P_j, D; H4; Λ_T, Λ_H of Corollary L.
inline weight_terms weights_of(rescale_terms const& terms, std::size_t n, key_columns& keys) {
  std::size_t const real = n - (terms.has_sink ? 1 : 0);
  auto sums = accumulator<weight_sums>::none();
  weight_error_stage weights{keys, terms, sums};
  each_key(real, weights);
  double sink_slack = 0;
  if (terms.has_sink) {
    auto const k = numbers_at<double>(keys, real);
    auto const my = sink_errors(terms, k, keys.E[real], keys.R[real]);
    sink_slack = terms.slack_beside_sink(my.X, my.reference_error);
    weights.add(real, k, keys.E[real], my);
  }
  auto const& [wide, single] = sums;
  weight_sums<double> const found{sum_of(wide.n_far) + single.n_far,
                                  sum_of(wide.D_lower) + single.D_lower,
                                  sum_of(wide.one_minus_D) + single.one_minus_D,
                                  sum_of(wide.sum_P) + single.sum_P,
                                  sum_of(wide.sum_U) + single.sum_U,
                                  sum_of(wide.sum_groups) + single.sum_groups,
                                  sum_of(wide.sum_grouped_squares) + single.sum_grouped_squares,
                                  larger(largest_of(wide.largest_weight), single.largest_weight),
                                  larger(largest_of(wide.largest_T), single.largest_T),
                                  larger(largest_of(wide.kappa_beside_gap), single.kappa_beside_gap),
                                  larger(largest_of(wide.largest_near_X), single.largest_near_X),
                                  larger(largest_of(wide.largest_stored), single.largest_stored),
                                  larger(largest_of(wide.dominance_top), single.dominance_top)};
  weight_terms result(terms, found, sink_slack);
  for (std::size_t j = 0; j < n; ++j)
    if (keys.near[j] > 0) result.near_key(keys.weight_lower[j], keys.z[j]);
  return result;
}

/// Section 5: weights formed by the LSE.
inline void find_lse_weights(std::size_t n, key_columns& keys, row_terms& terms) {
  if (!terms.by_lse_alone()) return;
  double const lambda = log_sum_exp_of_term(terms).size;
  terms.after_log_sum_exp(lambda);
  lse_weight_stage stage{keys, terms, lambda};
  each_key(n, stage);
}

/// Computes terms and the arrays of `keys` from E on. Returns Σ_{j∉J} η_j, or a negative number if the row must be
/// handed over to the ball tier; then `terms` is as before.
inline double bound_row(std::size_t n, problem::kernel_model const& model, row_scalars const& facts, bool with_weights,
                        key_columns& keys, rank_memory& ranks, known_weights& known, row_terms& terms) {
  score_terms const scores = scores_of(constant_terms(model, facts, n), n, keys, ranks);
  if (!(scores.largest_E < 0x1p1000)) return -1;
  reference_terms const references = references_of(scores, n, keys);
  double const R = rescales_of(references, std::span(keys.j).first(n), ranks, std::span(keys.R).first(n),
                               std::span(keys.group).first(n));
  weight_terms const weights = weights_of(rescale_terms(references, R), n, keys);

  // Dominance and Sums: η_j, share_j, Γ_L; E6.
  auto total = accumulator<share_stage::sums>::none();
  share_stage shares{keys, weights, with_weights || !weights.may_be_sharpest, total};
  each_key(n, shares);
  auto const& wide = total.wide.shares;
  auto const& single = total.single.shares;
  row_terms found(weights,
                  share_sums<double>{sum_of(wide.per_key) + single.per_key, sum_of(wide.rescaled) + single.rescaled,
                                     sum_of(wide.nodes) + single.nodes,
                                     larger(largest_of(wide.largest_share), single.largest_share)});
  if (!shares.dominance_matters && !found.theorem_is_sharpest) return -1;
  double const sum_eta = sum_of(total.wide.eta) + total.single.eta;
  found.after_dominance(larger(largest_of(total.wide.dominant_y), total.single.dominant_y), sum_eta * found.slack);
  terms = found;
  find_known_weights(n, keys, known, terms);
  find_lse_weights(n, keys, terms);
  if (with_weights) {
    weight_bound_stage bounds{keys, terms};
    each_key(n, bounds);
  }
  return sum_eta;
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
