// Attention, enclosed: one query row at a time.
//
//   O_ic = Σ_j π_ij·v_jc,  π_ij = e^(s_ij − m_i)/Z_i,  Z_i = Σ_j e^(s_ij − m_i),  LSE_i = m_i + ln Z_i
//
// over the keys visible to query i, s_ij = softcap(σ·(q_i·k_j)) + b_ij, m_i = max_j s_ij. A sink is one more key of the
// row, with the score t and the value 0. Dropout replaces v_jc by [keep_ij]·v_jc/(1 − p). docs/semantics.md states
// every rule.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem/instance.hpp"
#include "reference/attention/dropout.hpp"
#include "reference/attention/score.hpp"
#include "reference/attention/sink.hpp"
#include "reference/attention/softcap.hpp"
#include "reference/attention/visibility.hpp"
#include "reference/real/ball.hpp"
#include "reference/real/exp.hpp"
#include "reference/real/log.hpp"
#include "reference/real/weighted_sum.hpp"

namespace attest::reference {

enum class row_kind : std::uint8_t {
  finite,  ///< some visible key, or the sink, has a finite score and none makes the row NaN
  empty,   ///< no such score: O = 0, weights 0, LSE = −∞, or the +∞ or NaN of a sink if no key is visible
  nan,     ///< a NaN or +∞ score: O, LSE and weights are NaN
};

enum class value_kind : std::uint8_t {
  finite,       ///< the exact value is inside the ball
  nan,          ///< NaN
  not_finite,   ///< an infinity or NaN; which one is unspecified
  unspecified,  ///< no check may read it
};

/// One output element: its kind, and an enclosure if it is finite.
template <unsigned W>
struct enclosed_value {
  value_kind kind = value_kind::finite;
  ball<W> value{};
};

/// A visible key whose score is finite, or a finite sink.
template <unsigned W, class T>
struct enclosed_key {
  std::int64_t j = 0;  ///< sink_index: the sink
  exact_score<T> score{};
  ball<W> below_max{};  ///< s_j − m ≤ 0
  ball<W> weight{};     ///< e^(s_j − m), not normalised; the ball lies in [0, ∞)
};

/// One query row, with its keys in index order. A sink is the last of them.
template <unsigned W, class T>
struct enclosed_row {
  std::int64_t b = 0, h = 0, i = 0;
  row_kind kind = row_kind::empty;
  score_rule rule{};
  std::vector<enclosed_key<W, T>> keys;                   ///< visible, finite score; then the sink, if it is finite
  std::vector<std::int64_t> without_weight;               ///< visible, score −∞
  ball<W> max_score{};                                    ///< m
  ball<W> normaliser{};                                   ///< Z, in [1, number of keys]
  number_class empty_lse = number_class::minus_infinity;  ///< the LSE of an empty row: −∞, or its sink's +∞ or NaN

  constexpr bool has_sink() const noexcept { return !keys.empty() && keys.back().j == sink_index; }
  /// The keys that have a row of K and V, and a weight that a kernel may return.
  constexpr std::span<enclosed_key<W, T> const> real_keys() const noexcept {
    return std::span(keys).first(keys.size() - (has_sink() ? 1 : 0));
  }
};

/// e^x for an x ≤ 0 in the ball below_max. The result lies in [0, 1] however wide that ball is (σ·a + b may cancel
/// completely), so that Z stays positive.
template <unsigned W>
constexpr ball<W> unnormalised_weight(ball<W> const& below_max) noexcept {
  ball<W> const e = exp(below_max);
  if (certain_sign(e) > 0) return e;
  ball<W> half;  // [0, min(1, upper end of e)]
  magnitude const most = e.upper_size();
  magnitude const width = most <= magnitude(1, 0) ? most.scaled(-1) : magnitude(1, -1);
  half.mid = width.mantissa(), half.exponent = width.exponent(), half.radius = width;
  return half;
}

namespace detail {

/// m and s_j − m, if the order of the scores is decided exactly.
template <unsigned W, class T>
constexpr void place_below_max(enclosed_row<W, T>& row) noexcept {
  exact_score<T> const* top = &row.keys.front().score;
  for (auto const& key : row.keys)
    if (order(row.rule.scale, key.score, *top) > 0) top = &key.score;
  scores_at<W> const scores(row.rule);
  row.max_score = scores.difference(*top, exact_score<T>{});
  for (auto& key : row.keys) key.below_max = scores.difference(key.score, *top);
}

/// The same with a softcap, if the order of the scores cannot be decided exactly. Let t be a key that no score
/// certainly exceeds; δ ≥ max_j (s_j − s_t) bounds m − s_t, and is added to every radius.
template <unsigned W, class T>
constexpr void place_below_capped_max(enclosed_row<W, T>& row) noexcept {
  scores_at<W> const scores(row.rule);
  // One tanh for each key: `weight` holds c·tanh until the weights are computed.
  for (auto& key : row.keys) key.weight = scores.product(key.score);
  auto const between = [&](auto const& x, auto const& y) {
    bool const same = x.score.saturated == y.score.saturated && (x.score.saturated != 0 || x.score.dot == y.score.dot);
    return (same ? ball<W>() : x.weight - y.weight) + (ball<W>::from(x.score.bias) - ball<W>::from(y.score.bias));
  };
  auto const* top = &row.keys.front();
  for (auto const& key : row.keys)
    if (between(key, *top).mid.sign() > 0) top = &key;
  magnitude delta{};
  for (auto& key : row.keys) {
    key.below_max = between(key, *top);
    bool const may_be_above =
        key.below_max.is_exact() ? key.below_max.mid.sign() > 0 : certain_sign(key.below_max) >= 0;
    if (may_be_above && !(key.below_max.upper_size() <= delta)) delta = key.below_max.upper_size();
  }
  row.max_score = top->weight + ball<W>::from(top->score.bias);
  row.max_score.radius = row.max_score.radius + delta;
  for (auto& key : row.keys) key.below_max.radius = key.below_max.radius + delta;
}

/// [1, n].
template <unsigned W>
constexpr ball<W> between_one_and(std::size_t n) noexcept {
  ball<W> interval = ball<W>(static_cast<std::int64_t>(n) + 1).scaled_by_power_of_two(-1);
  interval.radius = magnitude(n - 1, -1);
  return interval;
}

}  // namespace detail

/// m, Z, and each s_j − m and e^(s_j − m), of the scores in row.keys.
/// Requires  row.keys not empty
template <unsigned W, class T>
constexpr void enclose_weights(enclosed_row<W, T>& row) noexcept {
  if (row.rule.capped()) detail::place_below_capped_max(row);
  else detail::place_below_max(row);
  for (auto& key : row.keys) key.weight = unnormalised_weight(key.below_max);
  row.normaliser = weighted_sum<W>(
      static_cast<std::int64_t>(row.keys.size()),
      [&](std::int64_t at) -> ball<W> const& { return row.keys[static_cast<std::size_t>(at)].weight; },
      [](std::int64_t) { return element{number_class::finite, 1, 0}; });
  // With a softcap the weight of the maximum may be a wide ball. One weight is 1 and none is above 1, so Z is in [1,
  // n].
  if (certain_sign(row.normaliser) <= 0) row.normaliser = detail::between_one_and<W>(row.keys.size());
}

/// Encloses row (b, h, i) of `p` in `row`, whose memory is reused.
/// Requires  b and h inside p.size(), i < p.queries(b)
/// Cost      per visible key: d exact products, one exp; with softcap one tanh more
template <unsigned W, class T>
constexpr void enclose_row(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                           enclosed_row<W, T>& row) {
  problem::sizes const& s = p.size();
  row.b = b, row.h = h, row.i = i;
  row.kind = row_kind::empty;
  row.empty_lse = number_class::minus_infinity;
  row.rule = score_rule::of(p);
  row.keys.clear();
  row.without_weight.clear();
  std::int64_t const hk = key_head(s, h);
  T const* const q = p.q().row(b, h, i);
  for (std::int64_t j = 0; j < p.keys(b); ++j) {
    if (!visible(p, b, h, i, j)) continue;
    exact_score<T> score = exact_dot(q, p.k().row(b, hk, j), s.d);
    score.bias = bias_at(p, b, h, i, j);
    classify(row.rule, score);
    if (score.kind == number_class::not_a_number || score.kind == number_class::plus_infinity) {
      row.kind = row_kind::nan;
      return;
    }
    if (score.kind == number_class::minus_infinity) row.without_weight.push_back(j);
    else row.keys.push_back({j, std::move(score), {}, {}});
  }
  if (element const sink = sink_at(p, b, h); sink.is_finite()) {
    exact_score<T> score;
    score.bias = sink;  // neither the scale nor the softcap of q·k = 0 moves it
    row.keys.push_back({sink_index, std::move(score), {}, {}});
  } else if (sink.kind != number_class::minus_infinity) {
    bool const alone = row.keys.empty() && row.without_weight.empty();
    row.kind = alone ? row_kind::empty : row_kind::nan;
    row.empty_lse = sink.kind;
    return;
  }
  if (row.keys.empty()) return;
  row.kind = row_kind::finite;
  enclose_weights(row);
}

/// The contribution of the key at position n of row.keys to column c, times 1 − p: v_jc, and 0 for a dropped key and
/// for the sink.
template <unsigned W, class T>
constexpr element value_at(problem::instance<T> const& p, enclosed_row<W, T> const& row, std::size_t n,
                           std::int64_t c) noexcept {
  std::int64_t const j = row.keys[n].j;
  if (j == sink_index || is_dropped(p, row.b, row.h, row.i, j)) return {};
  return value_of(p.v()(row.b, key_head(p.size(), row.h), j, c));
}

/// The kind of O at column c, as NaN and infinities in V determine it.
/// Requires  row was made from p by enclose_row; c < p.size().dv
template <unsigned W, class T>
constexpr value_kind kind_of_output(problem::instance<T> const& p, enclosed_row<W, T> const& row,
                                    std::int64_t c) noexcept {
  if (row.kind == row_kind::nan) return value_kind::nan;
  std::int64_t const hk = key_head(p.size(), row.h);
  value_kind kind = value_kind::finite;
  bool nan = false;
  // Kernels form 0·∞ at a dropped key, or skip it: its column is left open.
  auto const leaves_open = [&](std::int64_t j, element const& x) {
    return !x.is_finite() && is_dropped(p, row.b, row.h, row.i, j);
  };
  auto const at = [&](std::int64_t j) { return value_of(p.v()(row.b, hk, j, c)); };
  for (auto const& key : row.real_keys()) {
    element const x = at(key.j);
    if (leaves_open(key.j, x)) return value_kind::unspecified;
    nan = nan || x.kind == number_class::not_a_number;
    if (!x.is_finite()) kind = value_kind::not_finite;
  }
  for (std::int64_t const j : row.without_weight) {
    element const x = at(j);
    if (leaves_open(j, x)) return value_kind::unspecified;
    if (x.is_finite()) continue;
    nan = nan || (x.kind == number_class::not_a_number && !row.real_keys().empty());
    kind = value_kind::unspecified;
  }
  return nan ? value_kind::nan : kind;
}

/// O at column c.
/// Requires  row was made from p by enclose_row; c < p.size().dv
template <unsigned W, class T>
constexpr enclosed_value<W> output(problem::instance<T> const& p, enclosed_row<W, T> const& row,
                                   std::int64_t c) noexcept {
  value_kind const kind = kind_of_output(p, row, c);
  if (kind != value_kind::finite) return {kind, {}};
  if (row.kind == row_kind::empty) return {};
  ball<W> const sum = weighted_sum<W>(
      static_cast<std::int64_t>(row.keys.size()),
      [&](std::int64_t n) -> ball<W> const& { return row.keys[static_cast<std::size_t>(n)].weight; },
      [&](std::int64_t n) { return value_at(p, row, static_cast<std::size_t>(n), c); });
  ball<W> const o = sum / row.normaliser;
  return {value_kind::finite, dropout_of(p) > 0 ? o / kept_part<W>(p) : o};
}

/// The weight π of the key at position `at` of row.keys; the real keys' weights sum to 1 less the sink's weight.
/// Requires row.kind finite.
template <unsigned W, class T>
constexpr ball<W> weight(enclosed_row<W, T> const& row, std::size_t at) noexcept {
  return row.keys[at].weight / row.normaliser;
}

/// LSE = m + ln Z. Requires row.kind finite.
template <unsigned W, class T>
constexpr ball<W> log_sum_exp(enclosed_row<W, T> const& row) noexcept {
  return row.max_score + log(row.normaliser);
}

/// Entropy of the row's weights, the sink's too, in nats: −Σ π_j·ln π_j = ln Z − Σ π_j·(s_j − m), one logarithm.
/// Requires row.kind finite. (reference/textbook/distribution_entropy.hpp takes the weights of any distribution, one
/// logarithm each.)
template <unsigned W, class T>
constexpr ball<W> entropy(enclosed_row<W, T> const& row) noexcept {
  ball<W> sum;
  for (auto const& key : row.keys) sum = sum + key.weight * key.below_max;
  return log(row.normaliser) - sum / row.normaliser;
}

}  // namespace attest::reference
