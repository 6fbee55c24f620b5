// docs/bound.md, section 3, over the keys of one row, in its order: Scores, Rescales, Weights, Dominance, Sums. Part of
// reference/bound/bound.hpp.
#pragma once

#include "reference/bound/bound.hpp"
#include "reference/bound/records.hpp"

namespace attest::reference {

constexpr scalar::key_numbers<double> numbers_of(key_facts const& k) noexcept {
  return {k.x_lower, k.x_upper, k.score_upper, k.product_upper, k.key_norm, k.bias, k.weight_lower, k.weight_upper};
}

/// Section 3, Rescales: R_j = min(rank⁺_j, B − 1 + max(S − 1, merges)) with rank⁺_j = #{i ≠ j : s_i + E_i > s_j − E_j}
/// by a sorted search (E5), for an order by index at most merges + max(rec_j, ⌈N/least_block⌉ − 1), and R = max_j R_j.
/// Ensures   no path meets more than R_j rescales after key j (Lemma 2)
constexpr double row_bound::rescales_of(constant_terms const& terms) {
  auto const& keys = facts_->keys;
  double const most = terms.most_rescales();
  sorted_.clear();
  for (std::size_t j = 0; j < keys.size(); ++j) sorted_.push_back(rounded_up(keys[j].x_upper + keys_[j].E));
  std::sort(sorted_.begin(), sorted_.end());
  double largest = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    double const lowest = rounded_down(keys[j].x_lower - keys_[j].E);
    auto const above_it = sorted_.end() - std::upper_bound(sorted_.begin(), sorted_.end(), lowest);
    double const rank = static_cast<double>(above_it > 0 ? above_it - 1 : 0);  // without key j itself
    keys_[j].R = terms.always_rescales() ? most : smaller(most, rank + terms.lazy_merges());
    largest = larger(largest, keys_[j].R);
    auto const equal = std::equal_range(sorted_.begin(), sorted_.end(), rounded_up(keys[j].x_upper + keys_[j].E));
    keys_[j].group = scalar::group_of(static_cast<double>(equal.second - equal.first));
  }
  if (terms.follows_index() && largest > terms.ordered_rescales(0)) {
    std::vector<double> highest(keys.size()), lowest(keys.size()), records(keys.size());
    for (std::size_t j = 0; j < keys.size(); ++j) {
      highest[j] = rounded_up(keys[j].x_upper + keys_[j].E);
      lowest[j] = rounded_down(keys[j].x_lower - keys_[j].E);
    }
    record_memory memory;
    std::size_t const real = real_keys();
    records_of(
        std::span(highest).first(real), std::span(lowest).first(real), std::span(records).first(real),
        [&](std::size_t j) { return keys[j].index; }, memory);
    if (terms.has_sink) add_sink_to_records(highest, lowest, records);
    largest = 0;
    for (std::size_t j = 0; j < keys.size(); ++j) {
      double const ordered = j < real ? terms.ordered_rescales(records[j]) : terms.ordered_rescales(records[j]) + 1;
      keys_[j].R = smaller(keys_[j].R, ordered);
      largest = larger(largest, keys_[j].R);
    }
  }
  return largest;
}

constexpr void row_bound::find_known(row_facts const& facts) {
  auto const index_of = [&](std::size_t j) { return facts.keys[j].index; };
  auto const find_extremes = [&](weight_block& at) {
    auto found = scalar::block_extremes<double>::none();
    for (std::size_t j = at.begin; j < at.end; ++j) found.add(facts.keys[j].x_lower, facts.keys[j].x_upper, keys_[j].E);
    at.set(found.m_lower, found.m_upper, found.lowest, found.highest);
  };
  auto const find_keys = [&](known_row const& row, weight_block const& at) {
    double unknown = 0;
    for (std::size_t j = at.begin; j < at.end; ++j) {
      key_facts const& k = facts.keys[j];
      key const& my = keys_[j];
      double const near = my.far || my.flushed ? 0 : 1;
      auto const found = scalar::known_weight_of<double>(
          row, at, {k.x_lower, k.x_upper, k.weight_lower, k.weight_upper, my.E, my.R, my.P, my.reference_error, near});
      known_.center[j] = found.center, known_.deviation[j] = found.deviation, unknown += found.unknown;
    }
    return unknown;
  };
  find_known_weights(terms_, keys_.size(), index_of, find_extremes, find_keys, known_);
}

/// Scores: E_j, M⁺, M⁻ (Lemma 1); H0; the sink.
constexpr score_terms row_bound::scores_of(constant_terms const& terms) {
  auto const& keys = facts_->keys;
  std::size_t const real = real_keys();
  using extremes_of = scalar::score_extremes<double>;
  auto extremes = terms.has_sink ? extremes_of::none_of_keys() : extremes_of::none();
  for (std::size_t j = 0; j < real; ++j) {
    auto const k = numbers_of(keys[j]);
    keys_[j].E = scalar::score_error(terms, k);
    extremes.add(terms, k, keys_[j].E);
  }
  sink_reach sink;
  if (terms.has_sink) {
    auto const k = numbers_of(keys[real]);
    double const E = keys_[real].E = scalar::sink_error(terms, k);
    sink = terms.meet_sink(extremes, k.x_lower, k.x_upper, E);
    extremes.add(terms, k, E);
    extremes.above = larger(0, extremes.above);
  }
  return score_terms(terms, extremes, sink);
}

/// Reference: |s_j| + E_j over L, where E11 asks for it.
constexpr reference_terms row_bound::references_of(score_terms const& terms) const {
  if (!terms.needs_references()) return reference_terms(terms);
  auto const& keys = facts_->keys;
  std::size_t const real = real_keys();
  auto references = scalar::reference_extremes<double>::none();
  for (std::size_t j = 0; j < real; ++j) references.add(terms, numbers_of(keys[j]), keys_[j].E);
  if (terms.has_sink) references.add_sink(terms, numbers_of(keys[real]), keys_[real].E);
  return reference_terms(terms, references);
}

/// Weights: z_j, T_j, P_j, D (Lemma 3); H4; Λ_T, Λ_H (Corollary L).
constexpr weight_terms row_bound::weights_of(rescale_terms const& terms) {
  auto const& keys = facts_->keys;
  std::size_t const real = real_keys();
  auto sums = scalar::weight_sums<double>::none();
  double sink_slack = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    auto const k = numbers_of(keys[j]);
    key& my = keys_[j];
    auto const errors =
        j < real ? scalar::weight_errors(terms, k, my.E, my.R) : scalar::sink_errors(terms, k, my.E, my.R);
    if (j == real) sink_slack = terms.slack_beside_sink(errors.X, errors.reference_error);
    sums.add(terms, k, my.E, my.group, errors);
    my.z = errors.z, my.P = errors.P;
    my.variance = scalar::grouped_variance(terms, my.group, k.weight_upper, errors);
    my.reference_error = errors.reference_error, my.far = errors.far, my.flushed = errors.flushed;
  }
  weight_terms weights(terms, sums, sink_slack);
  for (std::size_t j = 0; j < keys.size(); ++j)
    if (!keys_[j].far && !keys_[j].flushed) weights.near_key(keys[j].weight_lower, keys_[j].z);
  return weights;
}

/// Dominance: η_j, J (Clause D). Weights: share_j (Lemma 5). Sums: the sums in Γ_L and M_L (Lemma 6).
constexpr row_terms row_bound::sums_of(weight_terms const& terms) {
  auto shares = scalar::share_sums<double>::none();
  double dominant_y = 0, sum_eta = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    auto const k = numbers_of(facts_->keys[j]);
    key& my = keys_[j];
    my.eta = scalar::dominance(terms, k, my.E, my.reference_error, my.dominant);
    my.share = scalar::share_of(terms, k.weight_upper, my.P, my.far);
    shares.add(terms, my.share, my.R);
    my.shared = my.share * scalar::gamma_beside_sums(terms, my.R);
    double const y = scalar::difference_of_passes(terms, my.z, my.E, !my.far && !my.flushed);
    dominant_y = larger(dominant_y, my.dominant ? y : 0), sum_eta += my.dominant ? 0 : my.eta;
  }
  row_terms found(terms, shares);
  found.after_dominance(dominant_y, sum_eta * terms.slack);
  return found;
}

/// Section 5, weights formed by the LSE: U^L_j.
constexpr void row_bound::find_lse_weights() {
  double const lambda = log_sum_exp_of_term(terms_).size;
  terms_.after_log_sum_exp(lambda);
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    key& my = keys_[j];
    auto const k = numbers_of(facts_->keys[j]);
    auto const again = scalar::lse_weight_error(terms_, k, my.E, my.reference_error, lambda, my.far || my.flushed);
    my.shared = my.lse_error = again.error;
    my.flushed = my.flushed || again.flushed;
  }
}

constexpr void row_bound::evaluate_term(problem::kernel_model const& model, row_facts const& facts) {
  facts_ = &facts;
  keys_.assign(facts.keys.size(), key{});
  score_terms const scores = scores_of(constant_terms(model, facts, keys_.size()));
  if (!scores.scores_in_range) {
    terms_ = row_terms(scores), known_.hold = false;
    return;
  }
  reference_terms const references = references_of(scores);
  rescale_terms const rescales(references, rescales_of(references));
  terms_ = sums_of(weights_of(rescales));
  find_known(facts);
  if (terms_.by_lse_alone()) find_lse_weights();
}

/// Σ_K π_j, not 1 − π_⊥: that would cancel beside a large sink.
constexpr void row_bound::rescale(problem::kernel_model const& model, row_facts const& facts) {
  if (facts.keys_alone.empty()) return;  // not known: nothing is judged
  alone_.resize(1);
  alone_.front().evaluate(model, facts.keys_alone.front());
  key_facts const& t = facts.keys.back();
  sink_numbers sink{keys_.back().E,         absolute(t.bias),      t.weight_upper, 0,
                    facts.sink_above_lower, facts.sink_above_upper};
  double heaviest = t.weight_upper;
  for (std::size_t j = 0; j < real_keys(); ++j) {
    sink.left += facts.keys[j].weight_upper;
    heaviest = larger(heaviest, facts.keys[j].weight_upper);
  }
  sink.left = smaller(1, sink.left * terms_.slack);
  terms_.heaviest_odds = heaviest < 1 ? heaviest / (1 - heaviest) : infinity;
  bound_by_keys_alone(terms_, alone_.front().terms_, sink);
}

constexpr void row_bound::evaluate(problem::kernel_model const& model, row_facts const& facts) {
  evaluate_term(model, facts);
  if (terms_.factor.asked) rescale(model, facts);
}

}  // namespace attest::reference
