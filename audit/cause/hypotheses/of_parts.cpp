// Hypotheses about keys that are taken in parts and merged, as decoding kernels take them: keys that are lost or count
// twice where parts meet, parts without a key, the LSE of one part. The LSE tells how many parts a call was answered
// with.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/row_index.hpp"

namespace attest::audit {
namespace {

/// The keys of a slot in `of` parts. Each has ⌈m/of⌉ keys, except that the last parts may have fewer or none.
struct parts {
  std::int64_t of, m, most = (m + of - 1) / of;

  std::int64_t first(std::int64_t s) const { return std::min(s * most, m); }
};

/// The weights of a row relative to the largest.
struct row_of_weights {
  double largest;
  std::int64_t keys;            ///< of its entry
  std::vector<double> weights;  ///< e^(s_j − largest), 0 of hidden keys

  /// The sum of some: a difference of two sums would lose small ones.
  double of(std::int64_t first, std::int64_t last) const {
    return last <= first ? 0 : std::accumulate(weights.begin() + first, weights.begin() + last, 0.0);
  }
};

/// The sum of weights that a mistake makes of a row.
using mistaken_sum = std::function<double(row_of_weights const&, parts const&)>;

std::vector<std::pair<row_index, row_of_weights>> some_rows(owned_problem const& problem) {
  constexpr std::int64_t most_rows = 256;
  problem::sizes const& s = problem.size();
  score_table const score(problem);
  std::vector<std::pair<row_index, row_of_weights>> rows;
  std::int64_t const all = s.b * s.hq * s.n, step = all / most_rows + 1;
  for (std::int64_t at = 0; at < all; at += step) {
    std::int64_t const b = at / s.n / s.hq, h = at / s.n % s.hq, i = at % s.n;
    row_of_weights row{score.largest(b, h, i), keys_of(problem, b), {}};
    if (i >= queries_of(problem, b) || std::isinf(row.largest)) continue;
    for (std::int64_t j = 0; j < s.m; ++j)
      row.weights.push_back(score.visible(b, h, i, j) ? std::exp(score(b, h, i, j) - row.largest) : 0);
    // A row with a NaN is NaN whatever the parts.
    if (std::ranges::any_of(row.weights, [](double weight) { return std::isnan(weight); })) continue;
    rows.emplace_back(row_index{b, h, i}, std::move(row));
  }
  return rows;
}

/// The number of parts by which the mistake fits the LSE best.
/// `has_sink`: the sink of a row counts, where it has one.
/// Ensures   returns nothing if that is one part, which has no mistake, or if the LSE does not tell
std::optional<parts> fitted(answered_call const& call, mistaken_sum const& sum, bool has_sink) {
  problem_draft const& draft = call.problem.draft();
  std::int64_t const m = call.problem.size().m;
  if (!call.outputs.lse || call.outputs.weights || draft.keep || m < 2 || !is_small(call.problem)) return std::nullopt;
  bool const counts_sink =
      has_sink && draft.sink && call.claim.conventions.lse_sink == conventions::log_of_sink::included;
  auto const rows = some_rows(call.problem);
  auto const error_of = [&](parts const& tried) {
    constexpr double no_fit = 1e6;
    problem::sizes const& s = call.problem.size();
    double total = 0;
    for (auto const& [at, row] : rows) {
      double const got = load(*call.outputs.lse, static_cast<std::size_t>((at.b * s.hq + at.h) * s.n + at.i));
      double const of_sink = counts_sink ? std::exp(sink_of(draft, at.b, at.h) - row.largest) : 0;
      double const expected = row.largest + std::log(sum(row, tried) + of_sink);
      bool const same = got == expected || (std::isnan(got) && std::isnan(expected));
      total += same ? 0 : std::isfinite(got - expected) ? std::abs(got - expected) : no_fit;
    }
    return total;
  };
  double const whole = error_of({1, m});
  std::int64_t best = 1;
  double least = whole / 4;  // roundings alone differ less
  for (std::int64_t const of : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32, 64})
    if (double const error = error_of({std::min(of, m), m}); error < least) best = std::min(of, m), least = error;
  return best > 1 ? std::optional(parts{best, m}) : std::nullopt;
}

using mistaken_answer = std::function<std::vector<answered_call>(answered_call const&, parts const&)>;
void add_mistake(hypothesis_list& to, std::optional<bug_class> of_class, std::string name, std::string sentence,
                 mistaken_sum sum, mistaken_answer answer, bool has_sink = true) {
  adds_problems_to(to, of_class)(
      std::move(name), "keys are taken in parts" + sentence,
      [sum = std::move(sum), answer = std::move(answer), has_sink](answered_call const& call, answered_call const*) {
        auto const of = fitted(call, sum, has_sink);
        return of ? answer(call, *of) : std::vector<answered_call>();
      });
  to.back().fits_answers = true;
}

/// Of the keys that are visible, those are that `kept` names.
using kept_keys_of = std::function<bool(std::int64_t b, std::int64_t j)>;
std::vector<answered_call> seeing(answered_call const& call, kept_keys_of const& kept) {
  problem_draft draft = call.problem.draft();
  show(draft, call.problem.size(),
       [&](auto b, auto h, auto i, auto j) { return kept(b, j) && sees(call.problem, b, h, i, j); });
  return with_problem(call, std::move(draft));
}

// --- the mistakes ---

/// Key first(s) − 1 counts in part s > 0, too, where that has keys.
double with_edges_twice(row_of_weights const& row, parts const& of) {
  double sum = row.of(0, row.keys);
  for (std::int64_t s = 1; s < of.of && of.first(s) < row.keys; ++s) sum += row.of(of.first(s) - 1, of.first(s));
  return sum;
}
std::vector<answered_call> edges_twice(answered_call const& call, parts const& of) {
  std::vector<std::int64_t> last_keys;
  for (std::int64_t next = 1; next < of.of; ++next) last_keys.push_back(of.first(next) - 1);
  further_keys copies = copies_of(call.problem, std::move(last_keys));
  copies.shown = [&, seen = std::move(copies.shown)](auto b, auto h, auto i, auto n) {
    return of.first(n + 1) < keys_of(call.problem, b) && seen(b, h, i, n);
  };
  return with_further_keys(call, copies);
}

/// Parts of ⌊m/of⌋ keys: those behind the last part are in none.
double without_remainder(row_of_weights const& row, parts const& of) {
  return row.of(0, std::min(row.keys, of.m / of.of * of.of));
}
std::vector<answered_call> remainder_lost(answered_call const& call, parts const& of) {
  return seeing(call, [&](std::int64_t, std::int64_t j) { return j < of.m / of.of * of.of; });
}

std::int64_t empty_parts(std::int64_t keys, parts const& of) {
  std::int64_t empty = 0;
  for (std::int64_t s = 0; s < of.of; ++s) empty += of.first(s) >= keys;
  return empty;
}
double with_empty_parts(row_of_weights const& row, parts const& of) {
  return row.of(0, row.keys) + static_cast<double>(empty_parts(row.keys, of)) * std::exp(-row.largest);
}
/// Each empty part acts as one key with score 0 and value 0.
std::vector<answered_call> empty_parts_weigh_1(answered_call const& call, parts const& of) {
  auto const zero = [](std::int64_t) { return std::optional<std::int64_t>(); };
  return with_further_keys(
      call, {.count = of.of,
             .key = zero,
             .value = zero,
             .shown = [&](auto b, auto, auto, auto n) { return n < empty_parts(keys_of(call.problem, b), of); },
             .bias = {},
             .weight = {}});
}

double nan_at_the_beginning(row_of_weights const& row, parts const& of) {
  bool const begins_with_nothing = row.of(0, of.first(2)) == 0 && row.of(0, of.m) > 0;
  return begins_with_nothing ? std::nan("") : row.of(0, row.keys);
}
std::vector<answered_call> nan_after_nothing(answered_call const& call, parts const& of) {
  return with_nan_rows(call, of.first(2));
}

/// The first key of the last part that has keys.
std::int64_t last_part(std::int64_t keys, parts const& of) { return keys > 0 ? (keys - 1) / of.most * of.most : 0; }
double of_last_part(row_of_weights const& row, parts const& of) { return row.of(last_part(row.keys, of), row.keys); }
std::vector<answered_call> lse_of_last_part(answered_call const& call, parts const& of) {
  answered_call output = call, lse = call;
  output.outputs.lse.reset(), lse.outputs.o.reset();
  if (call.problem.draft().sink) {  // it joins when the parts are merged
    problem_draft draft = call.problem.draft();
    draft.sink.reset();
    lse.problem = owned_problem::of_valid(std::move(draft));
  }
  auto supposed =
      seeing(lse, [&](std::int64_t b, std::int64_t j) { return j >= last_part(keys_of(call.problem, b), of); });
  if (!supposed.empty() && output.outputs.o) supposed.push_back(std::move(output));
  return supposed;
}

double times_parts(row_of_weights const& row, parts const& of) {
  return row.of(0, row.keys) * static_cast<double>(of.of - empty_parts(row.keys, of));
}
std::vector<answered_call> lse_counts_parts(answered_call const& call, parts const& of) {
  auto less = with_lse(call, [&](auto b, auto, auto, double got) {
    std::int64_t const used = of.of - empty_parts(keys_of(call.problem, b), of);
    return std::isfinite(got) ? got - std::log(static_cast<double>(std::max<std::int64_t>(used, 1))) : got;
  });
  return less ? std::vector<answered_call>{*std::move(less)} : std::vector<answered_call>();
}

}  // namespace

void add_hypotheses_of_parts(hypothesis_list& to) {
  add_mistake(to, bug_class::accuracy, "parts-share-keys", ", and the last key of each counts in the next, too",
              with_edges_twice, edges_twice);
  add_mistake(to, bug_class::lse, "empty-parts-weigh-1", ", and one without keys has LSE 0", with_empty_parts,
              empty_parts_weigh_1);
  add_mistake(to, bug_class::empty_block, "empty-parts-nan", ", and where the first two see nothing the row is NaN",
              nan_at_the_beginning, nan_after_nothing);
  add_mistake(to, bug_class::lse, "lse-counts-parts", ", and ln of the number of parts with keys is added to the LSE",
              times_parts, lse_counts_parts, false);
  add_mistake(to, bug_class::lse, "lse-of-last-part", ", and the LSE is the last one's", of_last_part, lse_of_last_part,
              false);
}

void add_hypotheses_of_remainders(hypothesis_list& to) {
  add_mistake(to, bug_class::accuracy, "parts-lose-remainder", " of equally many, and those behind the last are lost",
              without_remainder, remainder_lost);
}

}  // namespace attest::audit
