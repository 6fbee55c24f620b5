// Rows with a score of +∞: O and weights are NaN, and ln Σ e^s is +∞.
#pragma once

#include <cstdint>

#include "reference/attention/score.hpp"
#include "reference/attention/sink.hpp"
#include "reference/attention/softcap.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::reference {

/// LSE = ln Σ e^s = +∞: some visible score, or the sink, is +∞ and none is NaN. (A kernel that forms m + ln Σ e^(s − m)
/// gets NaN from ∞ − ∞; docs/semantics.md accepts both.)
/// Cost      d exact products a visible key
template <class T>
constexpr bool lse_is_infinite(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
  problem::sizes const& s = p.size();
  score_rule const rule = score_rule::of(p);
  std::int64_t const hk = key_head(s, h);
  element const sink = sink_at(p, b, h);
  if (sink.kind == number_class::not_a_number) return false;
  bool infinite = sink.kind == number_class::plus_infinity;
  for (std::int64_t j = 0; j < p.keys(b); ++j) {
    if (!visible(p, b, h, i, j)) continue;
    exact_score<T> score = exact_dot(p.q().row(b, h, i), p.k().row(b, hk, j), s.d);
    score.bias = bias_at(p, b, h, i, j);
    classify(rule, score);
    if (score.kind == number_class::not_a_number) return false;
    infinite = infinite || score.kind == number_class::plus_infinity;
  }
  return infinite;
}

}  // namespace attest::reference
