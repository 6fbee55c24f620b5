// Hypotheses about the LSE, the division by the sum of the weights, and partial results.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

/// The LSE through a function of the returned one.
supposition maps_lse(double (*f)(double)) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    auto supposed = with_lse(call, [=](auto, auto, auto, double got) { return f(got); });
    return supposed ? calls{*std::move(supposed)} : calls{};
  };
}

/// The LSE through a function of the returned one and the row's largest score. Empty rows stay as they are.
supposition maps_lse_beside_maximum(double (*f)(double got, double maximum, double sum)) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    if (!call.outputs.lse || !is_small(call.problem)) return {};
    score_table const score(call.problem);
    auto supposed = with_lse(call, [&](auto b, auto h, auto i, double got) {
      double const most = score.largest(b, h, i);
      if (!std::isfinite(most)) return got;
      return f(got, most, score.sum_of_weights(b, h, i));
    });
    return supposed ? calls{*std::move(supposed)} : calls{};
  };
}

/// The LSE is m/σ + ln l, where m is the maximum of scores without softcap and bias.
calls has_unscaled_maximum(answered_call const& call, answered_call const*) {
  problem_draft const& of = call.problem.draft();
  double const sigma = call.problem.size().d > 0 ? sigma_of(call.problem) : 0;
  if (of.softcap > 0 || of.bias || of.sink || sigma == 0 || sigma == 1 || !call.outputs.lse || !is_small(call.problem))
    return {};
  score_table const score(call.problem);
  bool const wide = call.problem.type() == problem::element_type::f64;
  auto supposed = with_lse(call, [&](auto b, auto h, auto i, double got) {
    double const most = score.largest(b, h, i);
    if (!std::isfinite(most)) return got;
    double const is = got - most / sigma + most, exact = most + std::log(score.sum_of_weights(b, h, i));
    // What the roundings of a large maximum leave.
    return std::abs(is - exact) <= std::abs(got) * (wide ? 0x1p-50 : 0x1p-21) ? exact : is;
  });
  return supposed ? calls{*std::move(supposed)} : calls{};
}

/// The same of merges alone.
supposition of_merges(supposition of_any) {
  return [of_any = std::move(of_any)](answered_call const& call, answered_call const* before) {
    return call.problem.draft().merge ? of_any(call, before) : calls();
  };
}

/// The call with an LSE, where it has one, from which the row's largest score is taken, where that is finite.
answered_call with_lse_beside_maximum(answered_call const& call, score_table const& score) {
  auto beside = with_lse(call, [&](auto b, auto h, auto i, double got) {
    double const most = score.largest(b, h, i);
    return std::isfinite(most) ? got - most : got;
  });
  return beside ? *std::move(beside) : call;
}

/// Every element of O and of the weights is 0.
calls answers_zero(answered_call const& call, answered_call const*) {
  problem_draft draft = call.problem.draft();
  std::fill(draft.v.bytes.begin(), draft.v.bytes.end(), std::byte{0});
  answered_call others = call;
  if (auto& weights = others.outputs.weights) {
    bool const zero = std::ranges::all_of(weights->bytes, [](std::byte x) { return x == std::byte{0}; });
    if (zero) weights.reset();
  }
  return with_problem(others, std::move(draft));
}

/// O and the weights are not divided by their sum l = Σ e^(s − m): the returned ones are divided by it here.
calls is_not_divided(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!is_small(p) || !call.outputs.o) return {};
  score_table const score(p);
  answered_call supposed = with_model(call);
  supposed.claim.fixed.k_f += 2;
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
    std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n;
    if (!std::isfinite(score.largest(b, h, i))) continue;
    double const sum = score.sum_of_weights(b, h, i);
    auto const divide = [&](std::optional<owned_tensor>& t, std::int64_t width) {
      for (std::int64_t c = 0; t && c < width; ++c) {
        auto const at = static_cast<std::size_t>(row * width + c);
        store(*t, at, load(*t, at) / sum);
      }
    };
    divide(supposed.outputs.o, s.dv), divide(supposed.outputs.weights, s.m);
  }
  return {supposed};
}

/// Every visible key weighs the same. The LSE is the largest score and ln of the number of keys.
calls weighs_equally(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  if (!is_small(p)) return {};
  problem_draft draft = p.draft();
  draft.scale = 0, draft.softcap = 0, draft.bias.reset();
  score_table const score(p);
  return with_problem(with_lse_beside_maximum(call, score), std::move(draft));
}

/// Every key weighs the same, hidden ones too.
calls weighs_all_equally(answered_call const& call, answered_call const* before) {
  problem_draft shown = call.problem.draft();
  if (!shown.mask && !shown.block_mask && shown.band == problem::band{}) return {};
  shown.mask.reset(), shown.band = {};
  shown.block_mask.reset(), shown.block_q = shown.block_k = 0;
  auto const open = with_problem(call, std::move(shown));
  return open.empty() ? open : weighs_equally(open.front(), before);
}

/// The mistake is made in O alone: LSE and weights are right.
supposition in_output(supposition mistake) {
  return [mistake = std::move(mistake)](answered_call const& call, answered_call const* before) -> calls {
    if (!call.outputs.o) return {};
    answered_call output = call, others = call;
    output.outputs.lse.reset(), output.outputs.weights.reset(), others.outputs.o.reset();
    calls supposed = mistake(output, before);
    if (!supposed.empty() && (others.outputs.lse || others.outputs.weights)) supposed.push_back(std::move(others));
    return supposed;
  };
}

/// A number ε is added to the sum of the weights: a key with the score m + ln ε and the value 0.
supposition adds_to_sum(double epsilon) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    if (!is_small(p) || p.size().m == 0) return {};
    score_table const score(p);
    auto const finite = [&](auto b, auto h, auto i) { return std::isfinite(score.largest(b, h, i)); };
    auto const none = [](std::int64_t) { return std::optional<std::int64_t>(); };
    answered_call alone = call;
    alone.outputs.lse.reset();
    auto supposed = with_further_keys(
        alone, {.count = 1,
                .key = none,
                .value = none,
                .shown = [&](auto b, auto h, auto i, auto) { return finite(b, h, i); },
                .bias = [&](auto b, auto h, auto i,
                            auto) { return finite(b, h, i) ? score.largest(b, h, i) + std::log(epsilon) : 0.0; },
                .weight = {}});
    if (!supposed.empty() && call.outputs.lse) {  // the LSE belongs to the sum before
      supposed.push_back(call);
      supposed.back().outputs.o.reset(), supposed.back().outputs.weights.reset();
    }
    return supposed;
  };
}

/// Parts of the keys are added without their weights e^(m_part − m): a key counts by its score beside `reference`.
using reference_point = std::function<double(score_table const&, std::int64_t b, std::int64_t h, std::int64_t i,
                                             std::int64_t j, std::int64_t m)>;
supposition adds_unweighted(reference_point reference) {
  return [reference = std::move(reference)](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m < 2) return {};
    score_table const score(p);
    problem_draft draft = p.draft();
    set_bias(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
      double const beside = reference(score, b, h, i, j, m);
      return bias_of(p, b, h, i, j) - (std::isfinite(beside) ? beside : 0.0);
    });
    // The weights are formed from the final maximum, and divided by another sum.
    return with_problem(with_lse_beside_maximum(without_weights(call), score), std::move(draft));
  };
}

double ln_2(double got) { return got * 0.693147180559945309417; }
double negated(double got) { return std::isfinite(got) ? -got : got; }
double plus_maximum(double got, double maximum, double) { return got + maximum; }
/// Of got = maximum + log2 l, and of got = maximum·log2 e + ln l.
double sum_from_base_2(double got, double maximum, double) { return maximum + ln_2(got - maximum); }
double maximum_from_base_2(double got, double maximum, double) {
  return got - maximum * (std::numbers::log2e_v<double> - 1);
}
double plus_log_of_sum(double got, double, double sum) { return got + std::log(sum); }

}  // namespace

void add_hypotheses_of_results(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_to_lse = adds_problems_to(to, bug_class::lse),
             add_mean = adds_problems_to(to, bug_class::weak_test);
  add_to_lse("merge-lse-base-2", "the LSE of a merge is a logarithm to the base 2", of_merges(maps_lse(ln_2)));
  add_to_lse("lse-negated", "the LSE has the wrong sign", maps_lse(negated));
  add_to_lse("lse-without-maximum", "the LSE lacks the maximum", maps_lse_beside_maximum(plus_maximum));
  add_to_lse("merge-lse-is-maximum", "the LSE of a merge is the largest of its parts",
             of_merges(maps_lse_beside_maximum(plus_log_of_sum)));
  add_to_lse("lse-is-maximum", "the LSE is the largest score", maps_lse_beside_maximum(plus_log_of_sum));
  add_to_lse("lse-sum-base-2", "the LSE is the maximum and the logarithm to the base 2 of the sum",
             maps_lse_beside_maximum(sum_from_base_2));
  add_to_lse("lse-maximum-base-2", "the LSE is the maximum in base 2 and the natural logarithm of the sum",
             maps_lse_beside_maximum(maximum_from_base_2));
  add_to_lse("lse-maximum-unscaled", "the LSE has the maximum of q·k without the scale", has_unscaled_maximum);
  add("answer-0", "the answer is 0", answers_zero);
  add_mean("weights-equal", "every visible key weighs the same", weighs_equally, "the mean of the visible rows of V");
  add_mean("all-weights-equal", "every key weighs the same, hidden ones too", weighs_all_equally,
           "the mean of all rows of V");
  add_mean("weights-equal-in-o", "every visible key weighs the same in O, and the LSE is right",
           in_output(weighs_equally));
  add_mean("all-weights-equal-in-o", "every key weighs the same in O, hidden ones too, and the LSE is right",
           in_output(weighs_all_equally));
  add("not-divided", "O is not divided by the sum of the weights", is_not_divided);
  for (double const epsilon : {1e-20, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3})
    add(fmt::format("sum-plus-{:g}", epsilon), fmt::format("{:g} is added to the sum of the weights", epsilon),
        adds_to_sum(epsilon));
  for (std::int64_t const block : {1, 4, 8, 16, 32, 64, 128})
    add_to_lse(fmt::format("not-rescaled-{}", block),
               fmt::format("O and l are not rescaled when the maximum moves, in blocks of {} keys", block),
               adds_unweighted([=](score_table const& score, auto b, auto h, auto i, auto j, auto) {
                 return score.largest(b, h, i, 0, (j / block + 1) * block);
               }));
  for (std::int64_t const keys : {64, 128, 256, 512, 1024})
    add_to_lse(fmt::format("parts-of-{}-keys-unweighted", keys),
               fmt::format("parts of {} keys are added without their weights", keys),
               adds_unweighted([=](score_table const& score, auto b, auto h, auto i, auto j, auto) {
                 return score.largest(b, h, i, j / keys * keys, j / keys * keys + keys);
               }));
  for (std::int64_t const parts : {2, 4, 8})
    add_to_lse(fmt::format("{}-parts-unweighted", parts),
               fmt::format("{} parts of the keys are added without their weights", parts),
               adds_unweighted([=](score_table const& score, auto b, auto h, auto i, auto j, auto m) {
                 std::int64_t part = 0;
                 while (m * (part + 1) / parts <= j) ++part;
                 return score.largest(b, h, i, m * part / parts, m * (part + 1) / parts);
               }));
  for (std::int64_t const most : {64, 128, 256, 512, 1024})
    add_to_lse(fmt::format("parts-of-at-most-{}-keys-unweighted", most),
               fmt::format("equal parts, of at most {} keys, are added without their weights", most),
               adds_unweighted([=](score_table const& score, auto b, auto h, auto i, auto j, auto m) {
                 std::int64_t const parts = std::max<std::int64_t>((m + most - 1) / most, 1),
                                    keys = (m + parts - 1) / parts;
                 return score.largest(b, h, i, j / keys * keys, j / keys * keys + keys);
               }));
}

}  // namespace attest::audit
