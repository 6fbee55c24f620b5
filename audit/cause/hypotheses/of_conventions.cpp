// Hypotheses about rows in which no key is seen: the conventions of contracts, and NaN that comes of a division.
#include <cmath>
#include <limits>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/cause/hypotheses/passes.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

/// Rows that a convention is about.
enum class about : std::uint8_t { any_row, empty_rows, empty_rows_of_keys };

bool has_rows(owned_problem const& p, about of) {
  if (of == about::any_row || p.draft().merge || !is_small(p)) return true;
  score_table const score(p);
  bool any = false;
  each_query(p, [&](auto b, auto h, auto i) {
    any = any || (score.is_empty(b, h, i) && (of == about::empty_rows || keys_of(p, b) > 0));
  });
  return any;
}

supposition follows(void (*change)(conventions&), about of) {
  return [=](answered_call const& call, answered_call const*) {
    if (!has_rows(call.problem, of)) return std::vector<answered_call>();
    answered_call supposed = call;
    change(supposed.claim.conventions);
    if (call.problem.draft().merge) supposed.claim.conventions.lse_base = call.claim.conventions.lse_base;
    return supposed.claim.conventions == call.claim.conventions ? std::vector<answered_call>() : std::vector{supposed};
  };
}

/// An empty row is 0/0: O is NaN, and so may be its LSE and its weights.
std::vector<answered_call> divides_nothing(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!is_small(p)) return {};
  score_table const score(p);
  answered_call supposed = call;
  supposed.claim.conventions.empty_row = conventions::row::nan;
  bool any = false;
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
    if (!score.is_empty(row / s.n / s.hq, row / s.n % s.hq, row % s.n)) continue;
    any = true;
    auto const at = static_cast<std::size_t>(row);
    if (auto& lse = supposed.outputs.lse; lse && std::isnan(load(*lse, at)))
      store(*lse, at, -std::numeric_limits<double>::infinity());
    for (std::int64_t j = 0; supposed.outputs.weights && j < s.m; ++j)
      if (auto const place = static_cast<std::size_t>(row * s.m + j);
          std::isnan(load(*supposed.outputs.weights, place)))
        store(*supposed.outputs.weights, place, 0);
  }
  return any ? std::vector{std::move(supposed)} : std::vector<answered_call>();
}

/// A row that sees keys, all with the score -inf, is 0/0, as if one score were NaN; its LSE and its weights may be.
std::vector<answered_call> divides_infinite_scores(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!is_small(p)) return {};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  score_table const score(p);
  problem_draft draft = p.draft();
  answered_call supposed = call;
  bool any = false;
  auto const tolerate = [&](std::optional<owned_tensor>& output, std::int64_t at, double right) {
    auto const place = static_cast<std::size_t>(at);
    if (output && load(*output, place) == right) store(*output, place, nan);
  };
  set_bias(draft, s, [&](auto b, auto h, auto i, auto j) {
    if (!score.is_empty(b, h, i) || !score.visible(b, h, i, j)) return bias_of(p, b, h, i, j);
    any = true;
    std::int64_t const row = (b * s.hq + h) * s.n + i;
    tolerate(supposed.outputs.lse, row, -std::numeric_limits<double>::infinity());
    tolerate(supposed.outputs.weights, row * s.m + j, 0);
    return nan;
  });
  return any ? with_problem(supposed, std::move(draft)) : std::vector<answered_call>();
}

}  // namespace

void add_hypotheses_of_conventions(hypothesis_list& to) {
  auto const adds = [&to](bug_class of_class, about of = about::any_row) {
    return [&to, of_class, of](std::string name, std::string sentence, void (*change)(conventions&)) {
      to.push_back({std::move(name), std::move(sentence), of_class, hypothesis_kind::convention, follows(change, of)});
      to.back().accepted = conventions_set_by(change);
    };
  };
  auto const add_padding = adds(bug_class::entries), add_row = adds(bug_class::empty_row, about::empty_rows),
             add_row_of_keys = adds(bug_class::empty_row, about::empty_rows_of_keys), add_lse = adds(bug_class::lse),
             add_sink = adds(bug_class::sink);
  using row = conventions::row;
  add_row("empty-row-zero", "a query that sees no key gets 0 (the convention empty_row: zero)",
          [](conventions& c) { c.empty_row = row::zero; });
  add_row("empty-lse-minus-inf", "the LSE of a query that sees no key is -inf (the convention empty_lse: -inf)",
          [](conventions& c) { c.empty_lse = conventions::log::minus_infinity; });
  add_row("empty-row-zero-lse-minus-inf", "a query that sees no key gets 0, and the LSE -inf",
          [](conventions& c) { c.empty_row = row::zero, c.empty_lse = conventions::log::minus_infinity; });
  add_row_of_keys("empty-row-mean", "a query that sees no key gets the mean of V (the convention empty_row: mean)",
                  [](conventions& c) { c.empty_row = row::mean; });
  add_row("empty-row-nan", "a query that sees no key gets NaN (the convention empty_row: nan)",
          [](conventions& c) { c.empty_row = row::nan; });
  add_row_of_keys("empty-row-nan-unless-no-keys",
                  "a query whose keys are all hidden gets NaN (the convention empty_row: nan_unless_no_keys)",
                  [](conventions& c) { c.empty_row = row::nan_unless_no_keys; });
  add_row_of_keys("empty-row-unmasked", "a query that sees no key sees every key (the convention empty_row: unmasked)",
                  [](conventions& c) { c.empty_row = row::unmasked; });
  add_row("empty-lse-0", "the LSE of a query that sees no key is 0 (the convention empty_lse: 0)",
          [](conventions& c) { c.empty_lse = conventions::log::zero; });
  add_row("empty-lse-inf", "the LSE of a query that sees no key is +inf (the convention empty_lse: +inf)",
          [](conventions& c) { c.empty_lse = conventions::log::plus_infinity; });
  add_row("empty-row-nan-lse-0", "a query that sees no key gets NaN, and the LSE 0",
          [](conventions& c) { c.empty_row = row::nan, c.empty_lse = conventions::log::zero; });
  add_sink("sink-in-lse", "the LSE counts the sink (the convention lse_sink: included)",
           [](conventions& c) { c.lse_sink = conventions::log_of_sink::included; });
  add_lse("lse-base-2", "the LSE is a logarithm to the base 2 (the convention lse_base: 2)",
          [](conventions& c) { c.lse_base = problem::log_base::two; });
  add_lse("lse-natural", "the LSE is a natural logarithm (the convention lse_base: e)",
          [](conventions& c) { c.lse_base = problem::log_base::e; });
  add_padding("padding-written", "rows that belong to no query are written (the convention padding_rows: any)",
              [](conventions& c) { c.padding_rows = conventions::padding::any; });
  add_sink("sink-inf-nan", "a sink of +inf makes a NaN row (the convention sink_inf: nan)",
           [](conventions& c) { c.sink_inf = conventions::infinite_sink::nan; });
  add_sink("sink-inf-limit", "a sink of +inf takes all weight (the convention sink_inf: limit)",
           [](conventions& c) { c.sink_inf = conventions::infinite_sink::limit; });
  to.push_back({"empty-row-0/0", "a query whose keys are all hidden, or have the score -inf, gets 0/0: NaN",
                bug_class::empty_row, hypothesis_kind::convention, divides_nothing});
  adds_problems_to(to, bug_class::empty_row)("scores-minus-inf-0/0",
                                             "a query that sees keys, all with the score -inf, gets 0/0: NaN",
                                             divides_infinite_scores);
}

}  // namespace attest::audit
