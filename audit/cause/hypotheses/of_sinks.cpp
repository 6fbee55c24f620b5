// Hypotheses about sinks: which sink a head has, what it weighs, and where it counts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

bool has_sink(owned_problem const& p) { return p.draft().sink.has_value(); }

using number_change = std::function<double(problem_draft const& p, std::int64_t b, std::int64_t h, double t)>;

/// The sink of every entry and head through `f`, in f32 (f64 beside f64). Requires a sink.
void map_sink(problem_draft& p, number_change const& f) {
  std::int64_t const entries = p.q.layout.shape[0], heads = p.q.layout.shape[1];
  owned_tensor to = owned_tensor::compact(
      p.q.type == problem::element_type::f64 ? problem::element_type::f64 : problem::element_type::f32,
      {entries, heads});
  for (std::int64_t b = 0; b < entries; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      store(to, static_cast<std::size_t>(b * heads + h), f(p, b, h, sink_of(p, b, h)));
  p.sink = std::move(to);
}

void cap_sinks(problem_draft& p) {
  map_sink(p, [](problem_draft const& of, auto, auto, double t) { return capped(t, of.softcap); });
}

/// The sink as a key with the value 0 behind the last one.
struct sink_key {
  std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, double t)> score;
  std::function<bool(std::int64_t b, std::int64_t h, std::int64_t i)> counts;
};
calls with_sink_as_key(answered_call const& call, score_table const& score, sink_key const& sink) {
  problem_draft const& given = call.problem.draft();
  problem_draft draft = given;
  draft.sink.reset();
  answered_call without = call;
  without.problem = owned_problem::of_valid(std::move(draft));
  std::int64_t const m = call.problem.size().m;
  auto const& weights = call.outputs.weights;
  auto const of_sink = [&](auto b, auto h, auto i) { return sink.score(b, h, i, sink_of(given, b, h)); };
  // No output has the weight of the sink: the right one stands for it.
  auto const weight = [&](auto b, auto h, auto i) {
    double const most = score.largest(b, h, i), s = of_sink(b, h, i), top = std::max(most, s);
    if (!sink.counts(b, h, i)) return 0.0;
    double const others = most == -HUGE_VAL ? 0 : score.sum_of_weights(b, h, i) * std::exp(most - top);
    return std::exp(s - top) / (std::exp(s - top) + others);
  };
  return with_further_keys(
      without,
      {.count = 1,
       .key = [](std::int64_t) { return std::optional<std::int64_t>(); },
       .value = [](std::int64_t) { return std::optional<std::int64_t>(); },
       .shown = [&](auto b, auto h, auto i, auto) { return sink.counts(b, h, i); },
       .bias = [&](auto b, auto h, auto i, auto) { return sink.counts(b, h, i) ? of_sink(b, h, i) : 0.0; },
       .weight = [&](auto b, auto h, auto i,
                     auto j) { return j < m ? load(*weights, offset_of(*weights, b, h, i, j)) : weight(b, h, i); }});
}

/// What a sink counts is e^t, where the weights of the keys are relative to the row maximum: its score is t and the
/// maximum. Where e^t overflows, the LSE is +inf and O is 0, as beside a sink far above all scores.
supposition is_not_shifted(bool sink_in_maximum) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (!has_sink(p) || !is_small(p)) return {};
    score_table const score(p);
    double const largest =
        std::log(limits_of(p.type() == problem::element_type::f64 ? p.type() : problem::element_type::f32).largest);
    auto const effective = [&](auto b, auto h, auto i, double t) {
      double const most = score.largest(b, h, i), top = sink_in_maximum ? std::max(most, t) : most;
      if (!std::isfinite(t) || !std::isfinite(most)) return t;
      constexpr double far_above = 1e4;
      return top + (t > largest ? far_above : t);
    };
    answered_call changed = call;
    for (std::int64_t row = 0; changed.outputs.lse && row < s.b * s.hq * s.n; ++row) {
      std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n;
      double const t = sink_of(p.draft(), b, h);
      auto const at = static_cast<std::size_t>(row);
      if (t > largest && std::isfinite(t) && std::isfinite(score.largest(b, h, i)))
        store(*changed.outputs.lse, at,
              load(*changed.outputs.lse, at) == HUGE_VAL ? effective(b, h, i, t) : std::nan(""));
    }
    return with_sink_as_key(changed, score, {effective, [](auto...) { return true; }});
  };
}

/// The LSE of a query that sees a key leaves the sink out, unless that is NaN or infinite, and the LSE of another has
/// it.
calls is_in_empty_rows_only(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  if (!has_sink(p) || !call.outputs.lse || !is_small(p)) return {};
  score_table const score(p);
  answered_call others = call, alone = call;
  others.outputs.lse.reset(), alone.outputs.o.reset(), alone.outputs.weights.reset();
  calls supposed = with_sink_as_key(alone, score,
                                    {[](auto, auto, auto, double t) { return t; },
                                     [&](auto b, auto h, auto i) {
                                       double const t = sink_of(p.draft(), b, h);
                                       return score.is_empty(b, h, i) || t == HUGE_VAL || std::isnan(t);
                                     }});
  if (!supposed.empty()) supposed.push_back(std::move(others));
  return supposed;
}

/// The sink is counted twice, except in the LSE of a query that sees no key.
calls is_twice_beside_keys(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!has_sink(p) || !is_small(p)) return {};
  score_table const score(p);
  auto const twice = [](double t) { return t + std::log(2.0); };
  bool empty = false;
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row)
    empty |= score.is_empty(row / s.n / s.hq, row / s.n % s.hq, row % s.n);
  if (empty)
    return with_sink_as_key(call, score,
                            {[&](auto b, auto h, auto i, double t) { return score.is_empty(b, h, i) ? t : twice(t); },
                             [](auto...) { return true; }});
  problem_draft draft = p.draft();
  map_sink(draft, [&](auto const&, auto, auto, double t) { return twice(t); });
  return with_problem(call, std::move(draft));
}

/// The sink is a factor 1/(1 + e^(t − LSE)) of the answer of the keys, which is at least e^-20: no sink weighs more
/// than the score LSE + ln(e²⁰ − 1). The LSE counts the whole sink.
calls has_least_factor(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!has_sink(p) || !is_small(p)) return {};
  score_table const score(p);
  auto const most = [&](auto b, auto h, auto i) {
    double const top = score.largest(b, h, i);
    return std::isfinite(top) ? top + std::log(score.sum_of_weights(b, h, i)) + 20 + std::log1p(-std::exp(-20.0))
                              : HUGE_VAL;
  };
  bool any = false;
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
    std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq;
    double const t = sink_of(p.draft(), b, h);
    any |= std::isfinite(t) && t > most(b, h, row % s.n);
  }
  if (!any) return {};
  answered_call others = call, alone = call;
  others.outputs.lse.reset(), alone.outputs.o.reset(), alone.outputs.weights.reset();
  calls supposed = with_sink_as_key(
      others, score,
      {[&](auto b, auto h, auto i, double t) { return std::isfinite(t) ? std::min(t, most(b, h, i)) : t; },
       [](auto...) { return true; }});
  if (!supposed.empty() && call.outputs.lse) supposed.push_back(std::move(alone));
  return supposed;
}

/// The LSE of a query that sees no key is `instead`, as if there were no sink.
supposition is_not_in_empty_rows(double instead) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (!has_sink(p) || !call.outputs.lse || !is_small(p)) return {};
    score_table const score(p);
    answered_call others = call, alone = call;
    others.outputs.lse.reset(), alone.outputs.o.reset(), alone.outputs.weights.reset();
    owned_tensor& lse = *alone.outputs.lse;
    owned_tensor known = owned_tensor::compact(lse.type, {1});
    store(known, 0, instead);
    bool any = false;
    for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
      std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n;
      if (!score.is_empty(b, h, i)) continue;
      auto const at = static_cast<std::size_t>(row);
      bool const none = sink_of(p.draft(), b, h) == -HUGE_VAL;  // there −inf is right, too
      if (none && load(lse, at) == -HUGE_VAL) continue;
      any = true;
      store(lse, at, load(lse, at) == load(known, 0) ? -HUGE_VAL : std::nan(""));
    }
    if (!any) return {};
    calls supposed = with_sink_as_key(alone, score,
                                      {[](auto, auto, auto, double t) { return t; },
                                       [&](auto b, auto h, auto i) { return !score.is_empty(b, h, i); }});
    if (!supposed.empty()) supposed.push_back(std::move(others));
    return supposed;
  };
}

}  // namespace

void add_hypotheses_of_sinks(hypothesis_list& to) {
  auto const add = adds_changes_to(to, bug_class::sink);
  add("sink-ignored", "the sink is ignored", has_sink, [](problem_draft& p) { p.sink.reset(); });
  add(
      "sink-ignored-but-in-decoding", "the sink counts only where a call has one query",
      [](owned_problem const& p) { return has_sink(p) && p.size().n != 1; }, [](problem_draft& p) { p.sink.reset(); });
  add("sink-scaled", "the sink is multiplied by the scale", has_sink, [](problem_draft& p) {
    map_sink(p, [](problem_draft const& of, auto, auto, double t) {
      return t * of.scale.value_or(1 / std::sqrt(static_cast<double>(of.q.layout.shape[3])));
    });
  });
  add(
      "sink-softcapped", "the sink is softcapped",
      [](owned_problem const& p) { return has_sink(p) && p.draft().softcap > 0; }, cap_sinks);
  add(
      "sink-softcapped-also-none", "the sink is softcapped, also one of -inf where there is none: minus the cap counts",
      [](owned_problem const& p) { return p.draft().softcap > 0; },
      [](problem_draft& p) {
        if (!p.sink) {
          p.sink = owned_tensor::compact(problem::element_type::f32, {p.q.layout.shape[1]});
          for (std::int64_t h = 0; h < p.q.layout.shape[1]; ++h) store(*p.sink, static_cast<std::size_t>(h), -HUGE_VAL);
        }
        cap_sinks(p);
      });
  add("sink-twice", "the sink is counted twice", has_sink,
      [](problem_draft& p) { map_sink(p, [](auto const&, auto, auto, double t) { return t + std::log(2.0); }); });
  add(
      "sink-of-kv-head", "a query head has the sink of its key-value head",
      [](owned_problem const& p) { return has_sink(p) && p.size().hq != p.size().hk; },
      [](problem_draft& p) {
        map_sink(p, [](problem_draft const& of, auto b, auto h, double) {
          return sink_of(of, b, h / (of.q.layout.shape[1] / of.k.layout.shape[1]));
        });
      });
  add(
      "sink-interleaved", "query head h has the sink h mod hk",
      [](owned_problem const& p) { return has_sink(p) && p.size().hq != p.size().hk; },
      [](problem_draft& p) {
        map_sink(p, [](problem_draft const& of, auto b, auto h, double) {
          return sink_of(of, b, h % of.k.layout.shape[1]);
        });
      });
  add(
      "sink-of-first-head", "every head has the sink of head 0",
      [](owned_problem const& p) { return has_sink(p) && p.size().hq > 1; },
      [](problem_draft& p) {
        map_sink(p, [](problem_draft const& of, auto b, auto, double) { return sink_of(of, b, 0); });
      });
  add("sink-in-bf16", "the sink passes through bf16", has_sink, [](problem_draft& p) {
    map_sink(p, [](auto const&, auto, auto, double t) {
      return static_cast<double>(
          std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(t)) & 0xffff0000u));
    });
  });
  add("sink-at-most-20", "a sink above 20 counts as 20", has_sink,
      [](problem_draft& p) { map_sink(p, [](auto const&, auto, auto, double t) { return t > 20 ? 20 : t; }); });
  // The LSE alone, of the keys.
  to.push_back({"sink-not-in-lse", "the LSE leaves the sink out", bug_class::sink, hypothesis_kind::problem,
                [](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
                  if (!has_sink(call.problem) || !call.outputs.lse) return {};
                  answered_call others = call;
                  others.outputs.lse.reset();
                  problem_draft draft = call.problem.draft();
                  draft.sink.reset();
                  auto supposed = with_problem(call, std::move(draft));
                  if (supposed.empty()) return {};
                  supposed.front().outputs.o.reset(), supposed.front().outputs.weights.reset();
                  supposed.push_back(std::move(others));
                  return supposed;
                }});
  to.push_back({"sink-in-lse-of-empty-rows-only", "the LSE leaves the sink out where a key is seen", bug_class::sink,
                hypothesis_kind::problem, is_in_empty_rows_only});
  auto const add_more = adds_problems_to(to, bug_class::sink);
  add_more("sink-unshifted", "exp of the sink is taken without the row maximum, in which it is", is_not_shifted(true));
  add_more("sink-unshifted-beside-maximum-of-keys",
           "exp of the sink is taken without the row maximum, which is the maximum of the keys", is_not_shifted(false));
  add_more("sink-twice-beside-keys", "the sink is counted twice where a key is seen", is_twice_beside_keys);
  add_more("sink-factor-from-e^-20",
           "the answer of the keys is multiplied by the factor of the sink, which is at least e^-20", has_least_factor);
  for (double const instead : {-HUGE_VAL, -1e4, -1e9, -1e30, -double{std::numeric_limits<float>::max()}}) {
    bool const lowest = instead == -std::numeric_limits<float>::max();
    std::string const number = fmt::format("{:g}", instead);
    add_more("empty-lse-beside-sink" + (lowest ? "-lowest" : number),
             fmt::format("the LSE of a query that sees no key is {} beside a sink",
                         lowest ? "the most negative number of f32" : number),
             is_not_in_empty_rows(instead));
  }
}

}  // namespace attest::audit
