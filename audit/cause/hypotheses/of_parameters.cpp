// Hypotheses about scale, softcap and bias.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <tuple>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

bool has_default_scale(owned_problem const& p) { return !p.draft().scale && p.size().d > 0; }
bool has_bias(owned_problem const& p) { return p.draft().bias.has_value(); }
bool has_softcap(owned_problem const& p) { return p.draft().softcap > 0; }

double head_dimension(problem_draft const& p) { return static_cast<double>(p.q.layout.shape[3]); }
double sigma_of_draft(problem_draft const& p) { return p.scale.value_or(1 / std::sqrt(head_dimension(p))); }

/// Holds `question` for an element of the bias?
template <class Question>
bool has_bias_where(owned_problem const& p, Question question) {
  auto const& bias = p.draft().bias;
  for (std::size_t at = 0; bias && at < bias->bytes.size() / problem::size_of(bias->type); ++at)
    if (question(load(*bias, at))) return true;
  return false;
}

/// A finite bias that models add to hide a key.
bool stands_for_hidden(double x) { return x > -1e36 && x < -1e6; }

/// Every element of the bias through `f`. Requires a bias.
void map_bias(problem_draft& p, std::function<double(double)> const& f) {
  for (std::size_t at = 0; at < p.bias->bytes.size() / problem::size_of(p.bias->type); ++at)
    store(*p.bias, at, f(load(*p.bias, at)));
}

/// A bias inside the softcap: q and k get further components, whose products are the bias of their pair. The component
/// of a pair is the bias through the scale, in two parts, so that its own rounding does not matter.
std::vector<answered_call> capped_bias(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  if (!has_bias(p) || !has_softcap(p) || !is_small(p) || p.size().hq != p.size().hk) return {};
  double const sigma = sigma_of(p), cap = p.draft().softcap;
  if (sigma == 0) return {};
  problem::sizes const& s = p.size();
  problem_draft draft = p.draft();
  draft.scale = sigma, draft.bias.reset();
  std::int64_t const wider = s.d + 2 * s.n;
  constexpr double most_products = 0x1p27;
  if (static_cast<double>(s.b * s.hq * s.n * s.m) * static_cast<double>(wider) > most_products) return {};
  draft.q = owned_tensor::compact(p.type(), {s.b, s.hq, s.n, wider});
  draft.k = owned_tensor::compact(p.type(), {s.b, s.hk, s.m, wider});
  fill(draft.q, [&](auto b, auto h, auto i, auto t) {
    return t < s.d ? load(p.draft().q, offset_of(p.draft().q, b, h, i, t)) : (t - s.d) / 2 == i ? 1.0 : 0.0;
  });
  auto const round = [&](double x) { return rounded_to(x, problem::row_of(p.type()).format); };
  fill(draft.k, [&](auto b, auto h, auto j, auto t) {
    if (t < s.d) return load(p.draft().k, offset_of(p.draft().k, b, h, j, t));
    // tanh is −1 to more bits than any format has from −64 on.
    double const whole = std::max(bias_of(p, b, h, (t - s.d) / 2, j), -64 * cap) / sigma, high = round(whole);
    return (t - s.d) % 2 == 0 ? high : round(whole - high);
  });
  return with_problem(call, std::move(draft));
}

std::vector<answered_call> bias_of_kv_head(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!has_bias(p) || !is_small(p) || s.hk == 0 || s.hq == s.hk || p.draft().bias->layout.shape[1] == 1) return {};
  problem_draft draft = p.draft();
  set_bias(draft, s, [&](auto b, auto h, auto i, auto j) { return bias_of(p, b, h / (s.hq / s.hk), i, j); });
  return with_problem(call, std::move(draft));
}

/// Q times the scale, or times the scale and log₂ e, is stored in 16 bits before it meets K.
void add_scaled_queries(hypothesis_list& to) {
  auto const has_scores = [](owned_problem const& p) {
    return p.size().d > 0 && std::isfinite(sigma_of(p)) && sigma_of(p) != 0 && is_small(p);
  };
  for (auto const& [name, format] :
       {std::pair{"bf16", problem::format_of<problem::bf16>}, std::pair{"f16", problem::format_of<problem::f16>}})
    for (bool const base_2 : {false, true})
      adds_problems_to(to, bug_class::low_precision)(
          fmt::format("q-scaled-in-{}{}", name, base_2 ? "-base-2" : ""),
          fmt::format("Q times the scale{} is rounded to {} before it meets K", base_2 ? " and log₂ e" : "", name),
          solves(has_scores, [base_2, to_format = format](problem_draft& p) {
            double const times = sigma_of_draft(p) * (base_2 ? std::numbers::log2e : 1);
            owned_tensor const old = p.q;
            auto const& n = old.layout.shape;
            p.q = owned_tensor::compact(old.type, {n[0], n[1], n[2], n[3]});
            fill(p.q, [&](auto b, auto h, auto i, auto t) {
              return rounded_to(load(old, offset_of(old, b, h, i, t)) * times, to_format);
            });
            p.scale = base_2 ? std::numbers::ln2 : 1;
          }));
}

void add_scales(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::accuracy),
             add_rounded = adds_problems_to(to, bug_class::low_precision),
             add_softcap = adds_problems_to(to, bug_class::softcap_order);
  add("default-scale-1", "the default scale is 1, not 1/√d",
      solves(has_default_scale, [](problem_draft& p) { p.scale = 1; }));
  add("default-scale-of-dv", "the default scale is 1/√dv, not 1/√d",
      solves(
          [](owned_problem const& p) { return has_default_scale(p) && p.size().dv > 0 && p.size().dv != p.size().d; },
          [](problem_draft& p) { p.scale = 1 / std::sqrt(static_cast<double>(p.v.layout.shape[3])); }));
  add("default-scale-1-over-d", "the default scale is 1/d, not 1/√d",
      solves(has_default_scale, [](problem_draft& p) { p.scale = 1 / head_dimension(p); }));
  for (std::int64_t const tile : {8, 16, 32, 64, 128}) {
    auto const whole = [=](std::int64_t d) { return (d + tile - 1) / tile * tile; };
    add(fmt::format("default-scale-of-whole-{}", tile),
        fmt::format("the default scale is 1/√d of d rounded up to a multiple of {}", tile),
        solves(
            [=](owned_problem const& p) {
              return has_default_scale(p) && p.size().d > 0 && whole(p.size().d) != p.size().d;
            },
            [=](problem_draft& p) { p.scale = 1 / std::sqrt(static_cast<double>(whole(p.q.layout.shape[3]))); }));
  }
  for (std::int64_t const width : {16, 32, 40, 48, 64, 72, 80, 96, 128, 192, 256})
    add(fmt::format("default-scale-of-width-{}", width),
        fmt::format("the default scale is 1/√{} for every head dimension", width),
        solves([=](owned_problem const& p) { return has_default_scale(p) && p.size().d != width; },
               [=](problem_draft& p) { p.scale = 1 / std::sqrt(static_cast<double>(width)); }));
  for (auto const& [name, format] :
       {std::pair{"f16", problem::format_of<problem::f16>}, std::pair{"bf16", problem::format_of<problem::bf16>}})
    add_rounded(fmt::format("scale-in-{}", name), fmt::format("the scale is rounded to {}", name),
                solves([](owned_problem const& p) { return p.size().d > 0 || p.draft().scale; },
                       [to_format = format](problem_draft& p) { p.scale = rounded_to(sigma_of_draft(p), to_format); }));
  add_scaled_queries(to);
  add("scale-0-is-default", "an explicit scale of 0 counts as none",
      solves([](owned_problem const& p) { return p.draft().scale == 0 && p.size().d > 0; },
             [](problem_draft& p) { p.scale.reset(); }));
  add("scale-is-default", "an explicit scale is ignored: 1/√d is used",
      solves([](owned_problem const& p) { return p.draft().scale && p.size().d > 0; },
             [](problem_draft& p) { p.scale.reset(); }),
      "the answer with the default scale");
  add("scale-ignored", "there is no scale: scores are q·k",
      solves([](owned_problem const&) { return true; }, [](problem_draft& p) { p.scale = 1; }),
      "the answer with scale 1");
  add("scale-twice", "the scale is applied twice",
      solves([](owned_problem const& p) { return p.size().d > 0 || p.draft().scale; },
             [](problem_draft& p) { p.scale = std::pow(sigma_of_draft(p), 2); }));
  add_softcap(
      "scale-twice-in-softcap", "the scale is applied twice where there is a softcap",
      solves([](owned_problem const& p) { return p.draft().softcap > 0 && (p.size().d > 0 || p.draft().scale); },
             [](problem_draft& p) { p.scale = std::pow(sigma_of_draft(p), 2); }));
  add("stated-scale-twice", "a scale that is stated is applied twice, and the default scale once",
      solves([](owned_problem const& p) { return p.draft().scale.has_value(); },
             [](problem_draft& p) { p.scale = std::pow(*p.scale, 2); }));
  add("scale-sign-lost", "the sign of a negative scale is lost",
      solves([](owned_problem const& p) { return p.draft().scale && *p.draft().scale < 0; },
             [](problem_draft& p) { p.scale = std::abs(*p.scale); }));
}

void add_softcaps(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::softcap_order);
  add("softcap-ignored", "the softcap is ignored", solves(has_softcap, [](problem_draft& p) { p.softcap = 0; }),
      "the answer without the softcap");
  // σ·c·tanh(q·k/c) is the softcap σ·c of σ·(q·k).
  add("softcap-before-scale", "the softcap comes before the scale",
      solves([](owned_problem const& p) { return has_softcap(p) && sigma_of(p) > 0; },
             [](problem_draft& p) { p.softcap *= sigma_of_draft(p); }));
  // (c·tanh(s·log₂e/c))·ln 2 is the softcap c·ln 2 of s.
  add("softcap-in-base-2", "log₂ e is folded into the scale before the softcap, which so is ln 2 times as large",
      solves(has_softcap, [](problem_draft& p) { p.softcap *= std::numbers::ln2; }));
  add("softcap-after-bias", "the bias is inside the softcap", capped_bias);
}

void add_biases(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::accuracy), add_stand_in = adds_problems_to(to, bug_class::sentinel),
             add_hiding = adds_problems_to(to, any_class);
  add_stand_in("finite-masks-ignored", "biases between -1e36 and -1e6, which stand for -inf, are not added",
               solves([](owned_problem const& p) { return has_bias_where(p, stands_for_hidden); },
                      [](problem_draft& p) { map_bias(p, [](double x) { return stands_for_hidden(x) ? 0 : x; }); }));
  for (double const least : finite_masks)
    add_stand_in(
        fmt::format("bias-from{:g}", least), fmt::format("a bias below {0:g} counts as {0:g}", least),
        solves([least](owned_problem const& p) { return has_bias_where(p, [=](double x) { return x < least; }); },
               [least](problem_draft& p) { map_bias(p, [=](double x) { return x < least ? least : x; }); }));
  std::vector<double> hiding{-HUGE_VAL};
  hiding.insert(hiding.end(), std::begin(finite_masks), std::end(finite_masks));
  for (double const least : hiding)
    add_hiding(fmt::format("bias-from{:g}-hides", least),
               least == -HUGE_VAL ? "a bias of -inf hides its key: a NaN of that, or of its V, is lost"
                                  : fmt::format("a bias of {:g} and below hides its key", least),
               [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
                 owned_problem const& p = call.problem;
                 if (!has_bias(p) || !is_small(p)) return {};
                 return with_sight(call, [&](auto b, auto h, auto i, auto j) {
                   return bias_of(p, b, h, i, j) > least && sees(p, b, h, i, j);
                 });
               });
  add("bias-ignored", "the bias is ignored",
      solves(has_bias,
             [](problem_draft& p) {
               if (p.d_out) map_bias(p, [](double) { return 0.0; });  // its gradient may be asked
               else p.bias.reset();
             }),
      "the answer without the bias");
  add("bias-of-first-key", "every key uses the bias of key 0",
      solves([](owned_problem const& p) { return has_bias(p) && p.draft().bias->layout.shape[3] > 1; },
             [](problem_draft& p) {
               owned_tensor const from = *p.bias;
               auto const& n = from.layout.shape;
               p.bias = owned_tensor::compact(from.type, {n[0], n[1], n[2], n[3]});
               fill(*p.bias, [&](auto b, auto h, auto i, auto) { return element(from, b, h, i, 0); });
             }));
  add("bias-scaled", "the bias is scaled, too",
      solves([](owned_problem const& p) { return has_bias(p) && p.size().d > 0 && sigma_of(p) != 1; },
             [](problem_draft& p) {
               double const sigma = sigma_of_draft(p);
               map_bias(p, [=](double x) { return x * sigma; });
             }));
  for (auto const& [name, sentence, factor] :
       {std::tuple{"bias-in-base-2", "the bias is taken in base 2: it is multiplied by ln 2", std::numbers::ln2},
        std::tuple{"bias-times-log2-e", "log₂ e is applied to a bias of e^s", std::numbers::log2e}})
    add(name, sentence,
        solves(has_bias, [times = factor](problem_draft& p) { map_bias(p, [=](double x) { return x * times; }); }));
  add("bias-of-kv-head", "query head h uses the bias of its kv head h/(hq/hk)", bias_of_kv_head);
  add_uses_of_the_first(to, bug_class::accuracy, "bias", &problem_draft::bias);
}

}  // namespace

void add_hypotheses_of_parameters(hypothesis_list& to) {
  add_scales(to);
  add_softcaps(to);
  add_biases(to);
}

}  // namespace attest::audit
