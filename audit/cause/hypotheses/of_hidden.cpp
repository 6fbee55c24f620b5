// Hypotheses about hidden keys that are read, finite stand-ins for −∞, and NaN or infinities that are lost.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

constexpr double least_score = -std::numeric_limits<double>::infinity();

struct hidden_reading {
  double score = least_score;      ///< of a hidden key
  bool reads_key = false;          ///< its q·k is formed: a NaN there shows
  bool reads_value = false;        ///< its value is multiplied by its weight
  bool beyond_right_only = false;  ///< only keys behind the right edge, where there is no mask
};

/// q·k added up one after the other in the arithmetic of the kernel, where sums may overflow.
double product_in_order(owned_problem const& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  owned_tensor const &q = p.draft().q, &k = p.draft().k;
  problem::sizes const& s = p.size();
  bool const wide = p.type() == problem::element_type::f64;
  auto const rounded = [&](double x) { return wide ? x : static_cast<double>(static_cast<float>(x)); };
  double sum = 0;
  for (std::int64_t t = 0; t < s.d; ++t) {
    double const x = load(q, offset_of(q, b, h, i, t)), y = load(k, offset_of(k, b, h / (s.hq / s.hk), j, t));
    sum = rounded(sum + rounded(x * y));
  }
  return sum;
}

/// A hidden key is read: it stands a second time behind the last key, visible, with the score of a hidden one.
supposition reads_hidden(hidden_reading how) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    problem::band const& band = p.draft().band;
    bool const banded = band.left >= 0 || band.right >= 0;
    // What lies behind the last key is known; a finite number there, of weight 0, would change nothing.
    auto const is_finite = [](double x) { return std::isfinite(x); };
    bool const shortened = p.draft().k_lengths && !call.given && how.score == least_score &&
                           (!all_of(p.draft().k, is_finite) || !all_of(p.draft().v, is_finite));
    if (!is_small(p) || s.m == 0 || (!p.draft().mask && !banded && !shortened)) return {};
    if (how.beyond_right_only && (p.draft().mask || band.right < 0)) return {};
    auto const hidden = [&](auto b, auto h, auto i, auto j) { return !sees(p, b, h, i, j); };
    auto const source = [](std::int64_t j) { return std::optional(j); };
    auto const none = [](std::int64_t) { return std::optional<std::int64_t>(); };
    auto const& weights = call.outputs.weights;
    // Beside −∞, all that matters of q·k is whether it is NaN or +∞, in the arithmetic of the kernel.
    bool const adds_infinity = how.reads_key && how.score == least_score;
    auto const is_nan = [&](auto b, auto h, auto i, auto j) {
      double const x = product_in_order(p, b, h, i, j);
      return std::isnan(x) || ((sigma_of(p) < 0 ? -x : x) == -least_score && p.draft().softcap == 0);
    };
    return with_further_keys(call, {.count = s.m,
                                    .key = how.reads_key && !adds_infinity ? decltype(further_keys::key)(source) : none,
                                    .value = how.reads_value ? decltype(further_keys::value)(source) : none,
                                    .weighs_0 = how.score == least_score,
                                    .shown = hidden,
                                    .bias =
                                        [&](auto b, auto h, auto i, auto j) {
                                          if (adds_infinity && hidden(b, h, i, j) && is_nan(b, h, i, j))
                                            return std::nan("");
                                          return hidden(b, h, i, j) ? how.score : 0.0;
                                        },
                                    .weight =
                                        [&](auto b, auto h, auto i, auto j) {
                                          std::int64_t const key = j % s.m;
                                          return hidden(b, h, i, key) == (j >= s.m)
                                                     ? load(*weights, offset_of(*weights, b, h, i, key))
                                                     : 0.0;
                                        }});
  };
}

/// The mask comes before the softcap, which makes −c of −∞.
std::vector<answered_call> softcap_of_hidden(answered_call const& call, answered_call const* before) {
  double const cap = call.problem.draft().softcap;
  return cap > 0 ? reads_hidden({.score = -cap, .reads_value = true})(call, before) : std::vector<answered_call>();
}

/// Hidden keys have the most negative finite score: where no other key is seen they weigh the same, and the LSE is that
/// score, which absorbs ln of their number.
std::vector<answered_call> lowest_hides(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!is_small(p) || s.m == 0) return {};
  score_table const score(p);
  auto const hidden_of = [&](auto b, auto h, auto i) {
    std::int64_t hidden = 0;
    for (std::int64_t j = 0; j < s.m; ++j) {
      if (!sees(p, b, h, i, j)) ++hidden;
      else if (score(b, h, i, j) != least_score) return std::int64_t{0};
    }
    return hidden;
  };
  std::vector<std::int64_t> hidden(static_cast<std::size_t>(s.b * s.hq * s.n));
  for (std::size_t row = 0; row < hidden.size(); ++row) {
    auto const at = static_cast<std::int64_t>(row);
    hidden[row] = hidden_of(at / s.n / s.hq, at / s.n % s.hq, at % s.n);
  }
  auto const of_row = [&](auto b, auto h, auto i) {
    return hidden[static_cast<std::size_t>((b * s.hq + h) * s.n + i)];
  };
  if (std::ranges::all_of(hidden, [](std::int64_t count) { return count == 0; })) return {};
  double const lowest = -limits_of(p.type()).largest;
  auto const beside = with_lse(call, [&](auto b, auto h, auto i, double got) {
    std::int64_t const count = of_row(b, h, i);
    return count > 0 && got == lowest ? std::log(static_cast<double>(count)) : got;
  });
  auto const shown = [&](auto b, auto h, auto i, auto j) { return of_row(b, h, i) > 0 && !sees(p, b, h, i, j); };
  auto const& weights = call.outputs.weights;
  return with_further_keys(
      beside ? *beside : call,
      {.count = s.m,
       .key = [](std::int64_t) { return std::optional<std::int64_t>(); },
       .value = [](std::int64_t j) { return std::optional(j); },
       .shown = shown,
       .bias = {},
       .weight =
           [&](auto b, auto h, auto i, auto j) {
             std::int64_t const key = j % s.m;
             return shown(b, h, i, key) == (j >= s.m) ? load(*weights, offset_of(*weights, b, h, i, key)) : 0.0;
           }});
}

/// Keys whose score is NaN, or stands out otherwise, are seen by no query: `lost` tells them by their score.
supposition loses_scores(bool (*lost)(double)) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    if (!is_small(call.problem)) return {};
    score_table const score(call.problem);
    return with_sight(call, [&](auto b, auto h, auto i, auto j) {
      return !lost(score(b, h, i, j)) && sees(call.problem, b, h, i, j);
    });
  };
}

/// A row with a score of NaN or +∞, whose sum is NaN, is answered as a row without keys.
std::vector<answered_call> empties_nan_rows(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  if (!is_small(p)) return {};
  score_table const score(p);
  bool broken = false;
  return with_sight(call, [&](auto b, auto h, auto i, auto j) {
    auto const breaks = [&](std::int64_t at) {
      double const s = score(b, h, i, at);
      return sees(p, b, h, i, at) && (std::isnan(s) || s == -least_score);
    };
    if (j == 0) {
      broken = false;
      for (std::int64_t at = 0; at < p.size().m && !broken; ++at) broken = breaks(at);
    }
    return !broken && sees(p, b, h, i, j);
  });
}

/// A score of +∞ counts as the largest number: beside it all others have weight 0, and the LSE is that number.
std::vector<answered_call> infinity_is_largest(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!is_small(p)) return {};
  score_table const score(p);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  auto const has_infinite = [&](auto b, auto h, auto i) {
    bool nan = false, any = false;
    for (std::int64_t j = 0; j < s.m; ++j)
      if (sees(p, b, h, i, j)) any |= score(b, h, i, j) == infinite, nan |= std::isnan(score(b, h, i, j));
    return any && !nan;
  };
  bool any = false;
  problem_draft draft = p.draft();
  draft.scale = sigma_of(p);
  std::vector<char> rows(static_cast<std::size_t>(s.b * s.hq * s.n));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto const at = static_cast<std::int64_t>(row);
    rows[row] = has_infinite(at / s.n / s.hq, at / s.n % s.hq, at % s.n);
    any |= rows[row] != 0;
  }
  if (!any) return {};
  auto const is_infinite = [&](auto b, auto h, auto i) {
    return rows[static_cast<std::size_t>((b * s.hq + h) * s.n + i)] != 0;
  };
  show(draft, s, [&](auto b, auto h, auto i, auto j) {
    return sees(p, b, h, i, j) && (!is_infinite(b, h, i) || score(b, h, i, j) == infinite);
  });
  // q·k of such a row is not looked at: its keys weigh the same. The scores of the other rows become a bias.
  draft.softcap = 0;
  draft.scale = 0;
  for (owned_tensor* t : {&draft.q, &draft.k})
    for (std::size_t at = 0; at < t->bytes.size() / problem::size_of(t->type); ++at)
      if (!std::isfinite(load(*t, at))) store(*t, at, 0);
  set_bias(draft, s, [&](auto b, auto h, auto i, auto j) { return is_infinite(b, h, i) ? 0.0 : score(b, h, i, j); });
  answered_call without_lse = call;
  without_lse.outputs.lse.reset();
  return with_problem(without_lse, std::move(draft));
}

/// NaN in one of the inputs counts as 0.
supposition nan_is_zero(owned_tensor problem_draft::* which) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    problem_draft draft = call.problem.draft();
    bool any = false;
    owned_tensor& t = draft.*which;
    for (std::size_t at = 0; at < t.bytes.size() / problem::size_of(t.type); ++at)
      if (std::isnan(load(t, at))) store(t, at, 0), any = true;
    return any ? with_problem(call, std::move(draft)) : std::vector<answered_call>();
  };
}

}  // namespace

void add_hypotheses_of_hidden(hypothesis_list& to) {
  auto const add_read = adds_problems_to(to, bug_class::masked_read),
             add_softcap = adds_problems_to(to, bug_class::softcap_order),
             add_seen = adds_problems_to(to, bug_class::mask_polarity),
             add_stand_in = adds_problems_to(to, bug_class::sentinel),
             add_nan = adds_problems_to(to, bug_class::nan_swallowed);
  std::size_t const first = to.size();
  add_read("hidden-value-times-0-right", "V behind the right edge of a band is multiplied by 0, where there is no mask",
           reads_hidden({.reads_value = true, .beyond_right_only = true}));
  add_read("hidden-score-plus-infinity-right",
           "-inf is added to the scores behind the right edge of a band, where there is no mask: a NaN stays",
           reads_hidden({.reads_key = true, .beyond_right_only = true}));
  add_read("hidden-value-times-0", "V at hidden keys is multiplied by 0: a NaN there shows",
           reads_hidden({.reads_value = true}));
  add_read("hidden-score-plus-infinity", "-inf is added to the scores of hidden keys: a NaN there stays",
           reads_hidden({.reads_key = true}));
  add_read("hidden-read", "K and V at hidden keys are read: a NaN there shows",
           reads_hidden({.reads_key = true, .reads_value = true}));
  for (hypothesis& weightless : std::span(to).subspan(first)) weightless.accepted = {"masked_values=must_be_finite"};
  add_softcap("hidden-score-minus-softcap", "the mask comes before the softcap c: hidden keys have the score -c",
              softcap_of_hidden);
  add_seen("hidden-keys-in-sum", "hidden keys count in the sum of the weights, and not in the product with V",
           reads_hidden({.score = 0, .reads_key = true}));
  for (double const score : finite_masks)
    for (bool const reads : {false, true})
      add_stand_in(fmt::format("hidden-score{:g}{}", score, reads ? "" : "-unread"),
                   fmt::format("hidden keys have the score {:g}{}", score, reads ? "" : " in the sum of the weights"),
                   reads_hidden({.score = score, .reads_value = reads}));
  for (double const score : {0.0, -1.0, -10.0, -100.0, -1000.0})
    (score == 0 ? add_seen : add_stand_in)(fmt::format("hidden-score{:g}", score),
                                           fmt::format("hidden keys have the score {:g}", score),
                                           reads_hidden({.score = score, .reads_value = true}));
  // The number in base 2, where scores hold log₂ e.
  for (double const added : {-1e4, -1e5, -1e6, -1e9})
    add_stand_in(
        fmt::format("hidden-score-plus{:g}-base-2", added),
        fmt::format("{:g} is added to the scores of hidden keys, in base 2, and nothing else hides them", added),
        reads_hidden({.score = added * std::numbers::ln2, .reads_key = true, .reads_value = true}));
  for (double const added : {-1e4, -1e5, -1e6, -65504.0, -1e9, -1e30})
    add_stand_in(fmt::format("hidden-score-plus{:g}", added),
                 fmt::format("{:g} is added to the scores of hidden keys", added),
                 reads_hidden({.score = added, .reads_key = true, .reads_value = true}));
  add_stand_in("hidden-score-lowest",
               "hidden keys have the most negative finite score, and count where no other key is seen", lowest_hides);
  add_nan("nan-score-lost", "a score that is NaN counts as no score",
          loses_scores([](double s) { return std::isnan(s); }));
  add_nan("nan-row-empty",
          "a row with a NaN or +inf among its scores, whose sum is NaN, is answered as a row without keys",
          empties_nan_rows);
  add_nan("infinite-score-largest", "a score of +inf counts as the largest number", infinity_is_largest);
  add_nan("nan-value-0", "a NaN in V counts as 0", nan_is_zero(&problem_draft::v));
  add_nan("nan-query-0", "a NaN in Q counts as 0", nan_is_zero(&problem_draft::q));
  add_nan("nan-key-0", "a NaN in K counts as 0", nan_is_zero(&problem_draft::k));
}

}  // namespace attest::audit
