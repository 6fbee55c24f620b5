// Hypotheses about scores: a factor, a bound, a softcap in another form, weights that sum to 1 over the queries.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

/// The default scale is another number.
supposition has_default(std::function<double(problem::sizes const&)> scale) {
  return [scale = std::move(scale)](answered_call const& call, answered_call const*) -> calls {
    problem::sizes const& s = call.problem.size();
    if (call.problem.draft().scale || s.d == 0 || s.m == 0 || s.n == 0) return {};
    double const usual = 1 / std::sqrt(static_cast<double>(s.d)), other = scale(s);
    if (other == usual || !std::isfinite(other)) return {};
    problem_draft draft = call.problem.draft();
    draft.scale = other;
    return with_problem(call, std::move(draft));
  };
}

/// Every score, with its softcap and bias, is `factor` times the right one. The maximum in the LSE may be the right
/// one.
supposition has_factor(double factor, bool of_maximum) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    if (p.size().d == 0 || p.draft().sink || (!of_maximum && (!is_small(p) || !call.outputs.lse))) return {};
    problem_draft draft = p.draft();
    draft.scale = sigma_of(p) * factor, draft.softcap *= factor;
    if (draft.bias) {
      if (!is_small(p)) return {};
      set_bias(draft, p.size(), [&](auto b, auto h, auto i, auto j) { return factor * bias_of(p, b, h, i, j); });
    }
    if (of_maximum) return with_problem(call, std::move(draft));
    score_table const score(p);
    auto const beside = with_lse(call, [&](auto b, auto h, auto i, double got) {
      double const most = score.largest(b, h, i);
      return std::isfinite(most) ? got - most * (1 - factor) : got;
    });
    return with_problem(*beside, std::move(draft));
  };
}

/// Each score s, its bias included, is f(s).
supposition maps_scores(std::function<double(double)> f) {
  return [f = std::move(f)](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    if (!is_small(p)) return {};
    score_table const score(p);
    problem_draft draft = p.draft();
    bool any = false;
    set_bias(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
      double const s = score(b, h, i, j), to = std::isfinite(s) ? f(s) : s;
      any |= std::isfinite(s) && to != s;
      return std::isfinite(s) ? bias_of(p, b, h, i, j) + (to - s) : bias_of(p, b, h, i, j);
    });
    return any ? with_problem(call, std::move(draft)) : calls();
  };
}

/// The softcap c makes f(σ·q·k, c) of a score, in place of c·tanh(σ·q·k/c).
supposition caps_scores(double (*f)(double s, double cap)) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    double const cap = p.draft().softcap;
    if (cap <= 0 || !is_small(p)) return {};
    problem_draft draft = p.draft();
    draft.softcap = 0;
    draft.bias.reset();
    score_table const raw(owned_problem::of_valid(draft));
    set_bias(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
      double const s = raw(b, h, i, j), bias = bias_of(p, b, h, i, j);
      return std::isfinite(s) ? f(s, cap) - s + bias : bias;
    });
    return with_problem(call, std::move(draft));
  };
}

/// The weights of a key sum to 1 over the queries that see it. O is divided here by the sum of each row.
calls softmax_over_queries(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!is_small(p) || !call.outputs.o || p.draft().sink || s.n < 1) return {};
  score_table const score(p);
  std::vector<double> most(static_cast<std::size_t>(s.b * s.hq * s.m), -HUGE_VAL), sum(most.size());
  auto const each = [&](auto const& f) {
    for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row)
      for (std::int64_t j = 0; j < s.m; ++j) {
        std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq;
        if (score.visible(b, h, row % s.n, j))
          f(score(b, h, row % s.n, j), static_cast<std::size_t>((b * s.hq + h) * s.m + j));
      }
  };
  each([&](double x, std::size_t at) { most[at] = std::max(most[at], x); });
  each([&](double x, std::size_t at) { sum[at] += std::isfinite(most[at]) ? std::exp(x - most[at]) : 0; });
  auto const lse_of_key = [&](auto b, auto h, auto j) {
    auto const at = static_cast<std::size_t>((b * s.hq + h) * s.m + j);
    return std::isfinite(most[at]) ? most[at] + std::log(sum[at]) : 0;
  };
  answered_call supposed = with_model(call);
  supposed.outputs.lse.reset(), supposed.outputs.weights.reset();
  scale_rows_of_o(supposed, [&](auto b, auto h, auto i) {
    double share = 0;
    for (std::int64_t j = 0; j < s.m; ++j)
      if (score.visible(b, h, i, j)) share += std::exp(score(b, h, i, j) - lse_of_key(b, h, j));
    return 1 / share;
  });
  problem_draft draft = p.draft();
  set_bias(draft, s, [&](auto b, auto h, auto i, auto j) { return bias_of(p, b, h, i, j) - lse_of_key(b, h, j); });
  return with_problem(supposed, std::move(draft));
}

/// O is divided by the sum of another row.
supposition divides_by_row(std::function<std::int64_t(std::int64_t i, std::int64_t n)> other) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (!is_small(p) || !call.outputs.o || s.n < 2) return {};
    score_table const score(p);
    answered_call supposed = without_weights(with_model(call));
    auto const sum_of = [&](auto b, auto h, auto i) {
      return std::isfinite(score.largest(b, h, i)) ? score.sum_of_weights(b, h, i) : 1;
    };
    scale_rows_of_o(supposed, [&](auto b, auto h, auto i) { return sum_of(b, h, other(i, s.n)) / sum_of(b, h, i); });
    return {supposed};
  };
}

double real(std::int64_t x) { return static_cast<double>(x); }

}  // namespace

void add_hypotheses_of_scores(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_scale = adds_problems_to(to, bug_class::accuracy),
             add_softcap = adds_problems_to(to, bug_class::softcap_order);
  add_scale("default-scale-of-whole-root", "the default scale is 1/⌊√d⌋, not 1/√d",
            has_default([](problem::sizes const& s) { return 1 / std::floor(std::sqrt(real(s.d))); }));
  add_scale("default-scale-of-model", "the default scale is 1/√(hq·d), not 1/√d",
            has_default([](problem::sizes const& s) { return 1 / std::sqrt(real(s.hq * s.d)); }));
  add_scale("default-scale-of-keys", "the default scale is 1/√m, not 1/√d",
            has_default([](problem::sizes const& s) { return 1 / std::sqrt(real(s.m)); }));
  add_scale("default-scale-of-queries", "the default scale is 1/√n, not 1/√d",
            has_default([](problem::sizes const& s) { return 1 / std::sqrt(real(s.n)); }));
  add_scale("default-scale-root-d", "the default scale is √d, not 1/√d",
            has_default([](problem::sizes const& s) { return std::sqrt(real(s.d)); }));
  add_scale("default-scale-fourth-root", "the default scale is 1/⁴√d, not 1/√d",
            has_default([](problem::sizes const& s) { return 1 / std::sqrt(std::sqrt(real(s.d))); }));
  for (double const factor : {0.5, 2.0})
    add(fmt::format("scores-times-{:g}", factor), fmt::format("scores are multiplied by {:g}", factor),
        has_factor(factor, true));
  add("weights-in-base-2", "weights are 2^s, not e^s", has_factor(std::numbers::ln2, true));
  add("weights-in-base-2-beside-maximum", "weights are 2^s, not e^s, and the maximum in the LSE is that of s",
      has_factor(std::numbers::ln2, false));
  add("scores-times-log2-e", "log₂ e is applied to scores of e^s", has_factor(std::numbers::log2e, true));
  for (double const digits : {1.4, 1.44, 1.442, 1.443, 1.4426, 1.4427})
    add(fmt::format("log2-e-is-{:g}", digits), fmt::format("log₂ e is taken to be {:g}", digits),
        has_factor(digits / std::numbers::log2e, true));
  for (double const most : {10.0, 20.0, 30.0, 50.0, 80.0, 88.0, 100.0}) {
    add(fmt::format("scores-at-most-{:g}", most), fmt::format("scores above {0:g} count as {0:g}", most),
        maps_scores([=](double s) { return std::min(s, most); }));
    add(fmt::format("scores-from-{:g}", -most), fmt::format("scores below {0:g} count as {0:g}", -most),
        maps_scores([=](double s) { return std::max(s, -most); }));
    add(fmt::format("scores-within-{:g}", most), fmt::format("scores beyond ±{0:g} count as ±{0:g}", most),
        maps_scores([=](double s) { return std::clamp(s, -most, most); }));
  }
  add("scores-without-sign", "a score counts without its sign", maps_scores([](double s) { return std::abs(s); }));
  add_softcap("softcap-not-multiplied", "the softcap c makes tanh(s/c) of a score, not c·tanh(s/c)",
              caps_scores([](double s, double cap) { return std::tanh(s / cap); }));
  add_softcap("softcap-not-divided", "the softcap c makes c·tanh(s) of a score, not c·tanh(s/c)",
              caps_scores([](double s, double cap) { return cap * std::tanh(s); }));
  add_softcap("softcap-twice", "the softcap is applied twice",
              caps_scores([](double s, double cap) { return cap * std::tanh(std::tanh(s / cap)); }));
  add_softcap("softcap-rational", "the softcap takes x(27 + x²)/(27 + 9x²), cut at ±1, for tanh(x)",
              caps_scores([](double s, double cap) {
                double const x = s / cap, square = x * x;
                return cap * std::clamp(x * (27 + square) / (27 + 9 * square), -1.0, 1.0);
              }));
  add_softcap("softcap-flat-from-3", "the softcap takes ±1 for tanh(x) beyond ±3",
              caps_scores([](double s, double cap) {
                return std::abs(s) > 3 * cap ? std::copysign(cap, s) : cap * std::tanh(s / cap);
              }));
  add_softcap("softcap-x-over-1-plus-x", "the softcap takes x/(1 + |x|) for tanh(x)",
              caps_scores([](double s, double cap) { return s / (1 + std::abs(s / cap)); }));
  add_softcap("softcap-clamps", "the softcap c cuts scores at ±c",
              caps_scores([](double s, double cap) { return std::clamp(s, -cap, cap); }));
  add("softmax-over-queries", "the weights of a key sum to 1 over the queries, not those of a query over the keys",
      softmax_over_queries);
  add("sum-of-row-before", "O is divided by the sum of the weights of the query before",
      divides_by_row([](std::int64_t i, std::int64_t) { return std::max<std::int64_t>(i - 1, 0); }));
  add("sum-of-next-row", "O is divided by the sum of the weights of the next query",
      divides_by_row([](std::int64_t i, std::int64_t n) { return std::min(i + 1, n - 1); }));
  add("sum-of-first-row", "O is divided by the sum of the weights of query 0",
      divides_by_row([](std::int64_t, std::int64_t) { return std::int64_t{0}; }));
  for (std::int64_t const tile : {2, 4, 8, 16, 32, 64})
    add(fmt::format("sum-of-first-row-of-{}", tile),
        fmt::format("O is divided by the sum of the weights of the first query of its tile of {}", tile),
        divides_by_row([=](std::int64_t i, std::int64_t) { return i / tile * tile; }));
}

}  // namespace attest::audit
