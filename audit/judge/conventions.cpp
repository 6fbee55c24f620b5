#include "audit/judge/conventions.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <tbb/task_group.h>

#include "audit/contract/contract_fields.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/judge/infinite_sink.hpp"
#include "audit/judge/one_query.hpp"
#include "audit/judge/padding_rows.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/score.hpp"
#include "reference/attention/sink.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/outward.hpp"

namespace attest::audit {
namespace {

using reference::infinity;

/// Are the numbers of the problem finite, but for a bias of −∞? Then its exact scores are finite or, by that bias, −∞.
bool is_ordinary(owned_problem const& problem) {
  auto const& sink = problem.draft().sink;
  return !has_nonfinite(problem) && !(sink && has_nonfinite(*sink, true));
}

/// The offsets of the elements of one row in compact outputs of any rank.
class row_offsets {
 public:
  row_offsets(owned_problem const& problem, std::int64_t b, std::int64_t h, std::int64_t i)
      : row_(output_row(problem, b, h, i)) {}
  std::size_t of(std::int64_t width, std::int64_t at) const {
    return row_ * static_cast<std::size_t>(width) + static_cast<std::size_t>(at);
  }

 private:
  std::size_t row_;
};

/// Calls f(b, h, i) for those of the given rows that are queries, or for all queries where there are none given, until
/// the task is cancelled.
template <class T, class F>
void each_row(problem::instance<T> const& p, std::span<row_index const> rows, F&& f) {
  problem::sizes const& s = p.size();
  std::int64_t const count = rows.empty() ? s.b * s.hq * s.n : std::ssize(rows);
  for (std::int64_t at = 0; at < count && !tbb::is_current_task_group_canceling(); ++at) {
    auto const [b, h, i] =
        rows.empty() ? row_index{at / s.n / s.hq, at / s.n % s.hq, at % s.n} : rows[static_cast<std::size_t>(at)];
    if (i < p.queries(b)) f(b, h, i);
  }
}

/// Judges the rows that a convention decides, then overwrites them with the outputs of docs/semantics.md, so that
/// judge() accepts them.
class convention_judge {
 public:
  convention_judge(owned_problem const& problem, contract const& claim, owned_outputs kernel_outputs)
      : outputs(std::move(kernel_outputs)), problem_(problem), how_(claim.conventions), claim_(claim) {}

  void all(std::span<row_index const> rows) {
    if (!decides_empty_rows_ && how_.nan != conventions::invalid::unspecified && !keys_alone_) return;
    std::visit([&](auto const& p) { each_row(p, rows, [&](auto b, auto h, auto i) { row(p, b, h, i); }); },
               problem_.instance());
  }

  /// Takes what judge() counts of the elements that were overwritten, which `found` has already, from `total`.
  void count_once(judgement& total) const {
    for (empty_rows const* of : {&with_keys_, &without_keys_}) {
      owned_outputs replaced = outputs;
      if (!of->replaces_o) replaced.o.reset();
      if (!of->replaces_lse) replaced.lse.reset();
      if (!of->replaces_weights) replaced.weights.reset();
      take_from(total, replaced, of->rows);
    }
    take_from(total, outputs, sink_rows_);
  }

  judgement found;
  owned_outputs outputs;

 private:
  void take_from(judgement& total, owned_outputs const& replaced, std::vector<row_index> const& rows) const {
    if (rows.empty()) return;
    judgement const again = judge(problem_.instance(), replaced, claim_, rows);
    total.by_rule -= again.by_rule;
    for (std::size_t output = 0; output < again.shares.size(); ++output) {
      total.shares[output].judged -= again.shares[output].judged;
      total.shares[output].outside -= again.shares[output].outside;
    }
    for (std::size_t why = 0; why < again.left_out.size(); ++why) total.left_out[why] -= again.left_out[why];
  }

  /// Has the query a visible key whose bias is not −∞? Where the inputs are ordinary, its row is not empty then.
  template <class T>
  static bool sees_a_key(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
    for (std::int64_t j = 0; j < p.keys(b); ++j)
      if (reference::visible(p, b, h, i, j) &&
          reference::bias_at(p, b, h, i, j).kind != reference::number_class::minus_infinity)
        return true;
    return false;
  }

  template <class T>
  void row(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
    if (is_ordinary_ && (!decides_empty_rows_ || sees_a_key(p, b, h, i))) return;
    reference::compiled::enclose_row(p, b, h, i, truth_of<T>());
    auto const& truth = truth_of<T>();
    row_offsets const at(problem_, b, h, i);
    if (truth.kind == reference::row_kind::empty && !has_a_sink(p, b, h))
      empty(p.size(), p.keys(b) > 0 ? with_keys_ : without_keys_, at, b, h, i);
    else if (truth.kind == reference::row_kind::nan && keys_alone_ && taken(p, at, b, h, i)) return;
    else if (how_.nan == conventions::invalid::unspecified) accept_any(p, truth, at);
  }

  void rule(output_kind output, std::array<std::int64_t, 4> where, double got, double expected,
            bug_class kind = bug_class::empty_row,
            char const* why = "no key is visible to this query (or every score is -inf)") {
    found.count_by_rule(output);
    if (std::isnan(expected) ? std::isnan(got) : got == expected) return;
    ++found.failed;
    violation v;
    v.output = output_names[static_cast<std::size_t>(output)], v.index = where, v.got = got,
    v.truth_lower = v.truth_upper = expected;
    v.error_in_bounds = infinity, v.bug_class = kind;
    v.sentence = fmt::format("{}[{}] is {}, expected {}: {}, and the contract {} says so", v.output,
                             fmt::join(where, ", "), got, expected, why, claim_.name);
    found.add(std::move(v));
  }

  /// The rows without a visible key, in entries that have keys or in those that have none: what the conventions say of
  /// them, and which of their elements are overwritten.
  struct empty_rows {
    empty_row_rule says;
    bool replaces_o = false, replaces_lse = false, replaces_weights = false;
    std::vector<row_index> rows{};
  };
  empty_rows empty_rows_in(std::int64_t keys) const {
    empty_row_rule const says = empty_rows_of(how_, keys);
    return {says,
            outputs.o && (says.unmasked || says.mean || says.nan),
            outputs.lse && (says.unmasked || says.lse),
            outputs.weights && (says.unmasked || says.mean),
            {}};
  }

  void empty(problem::sizes const& s, empty_rows& of, row_offsets const& at, std::int64_t b, std::int64_t h,
             std::int64_t i) {
    if (of.says.unmasked) unmasked_row(s, at, b, h, i);
    else if (of.says.mean) mean_row(s, of, at, b, h, i);
    else if (of.replaces_o)
      for (std::int64_t c = 0; c < s.dv; ++c) {
        rule(output_kind::o, {b, h, i, c}, load(*outputs.o, at.of(s.dv, c)), std::nan(""));
        store(*outputs.o, at.of(s.dv, c), 0);
      }
    if (of.replaces_lse && !of.says.unmasked) {
      rule(output_kind::lse, {b, h, i, 0}, load(*outputs.lse, at.of(1, 0)), *of.says.lse);
      store(*outputs.lse, at.of(1, 0), -infinity);
    }
    if (of.replaces_o || of.replaces_lse || of.replaces_weights) of.rows.push_back({b, h, i});
  }

  /// O is the mean of V, and the weights are all the same or 0. The bound of attention with such weights judges the
  /// row. Where q or a key holds a NaN or an infinity, NaN is right, too: adding a mask to such a score makes it.
  void mean_row(problem::sizes const& s, empty_rows const& of, row_offsets const& at, std::int64_t b, std::int64_t h,
                std::int64_t i) {
    owned_outputs alone = one_answer(problem_, outputs, b, h, i);
    std::optional<bool> nan_is_right;
    auto const is_right_nan = [&](owned_tensor const& output) {
      if (!all_of(output, [](double x) { return std::isnan(x); })) return false;
      if (!nan_is_right) {
        problem_draft const row = one_query(problem_, b, h, i);
        nan_is_right = has_nonfinite(row.q) || has_nonfinite(row.k);
      }
      return *nan_is_right;
    };
    if (alone.lse && is_right_nan(*alone.lse)) store(*outputs.lse, at.of(1, 0), of.says.lse.value_or(-infinity));
    alone.lse.reset();
    for (auto const& [kind, width] :
         {std::pair(output_kind::o, s.dv), std::pair(output_kind::weights, keys_of(problem_, b))}) {
      if (!alone.of(kind)) continue;
      bool const is_zero = kind == output_kind::weights && all_of(*alone.of(kind), [](double x) { return x == 0; });
      bool const by_rule = is_zero || is_right_nan(*alone.of(kind));
      if (by_rule) alone.of(kind).reset();
      for (std::int64_t c = 0; c < width; ++c) {
        if (by_rule) found.count_by_rule(kind);
        store(*outputs.of(kind), at.of(kind == output_kind::o ? s.dv : s.m, c), 0);
      }
    }
    if (alone.empty()) return;
    problem_draft mean = mean_of_values(problem_, b, h, i);
    if (problem_.draft().keep) {  // dropped from the mean, or not: the contract does not say
      problem_draft dropped = mean;
      dropped.keep = one_query(problem_, b, h, i).keep, dropped.dropout = problem_.draft().dropout;
      if (judge(owned_problem::of_valid(problem_draft(dropped)).instance(), alone, claim_).failed == 0)
        mean = std::move(dropped);
    }
    instead(std::move(mean), alone, b, h, i, "the mean of V");
  }

  /// O, LSE and weights are those of the same query with every key visible.
  void unmasked_row(problem::sizes const& s, row_offsets const& at, std::int64_t b, std::int64_t h, std::int64_t i) {
    instead(one_query(problem_, b, h, i), one_answer(problem_, outputs, b, h, i), b, h, i, "the answer without a mask");
    for (std::int64_t c = 0; outputs.o && c < s.dv; ++c) store(*outputs.o, at.of(s.dv, c), 0);
    for (std::int64_t j = 0; outputs.weights && j < keys_of(problem_, b); ++j)
      store(*outputs.weights, at.of(s.m, j), 0);
    if (outputs.lse) store(*outputs.lse, at.of(1, 0), -infinity);
  }

  /// Judges a row as the answer to another problem of one query.
  void instead(problem_draft&& other, owned_outputs const& alone, std::int64_t b, std::int64_t h, std::int64_t i,
               char const* says) {
    judgement judged = judge(owned_problem::of_valid(std::move(other)).instance(), alone, claim_);
    judged.returned = {}, judged.exist = 0;  // the outputs of the call are counted once
    for (violation& v : judged.violations) {
      v.index = {b, h, i, v.index[3]};
      v.bug_class = bug_class::empty_row;
      v.sentence += fmt::format("; query [{}, {}, {}] sees no key, for which the contract {} says {}", b, h, i,
                                claim_.name, says);
    }
    found.merge(std::move(judged));
  }

  /// sink_inf: limit. Judges the row if its sink of +∞ takes it, and says whether it does.
  template <class T>
  bool taken(problem::instance<T> const& p, row_offsets const& at, std::int64_t b, std::int64_t h, std::int64_t i) {
    auto const row = taken_by_sink(p, std::get<problem::instance<T>>(keys_alone_->instance()),
                                   claim_.model_for(problem_.instance()), b, h, i);
    if (!row) return false;
    auto const each = [&](output_kind kind, std::optional<owned_tensor>& output, std::int64_t width, double expected) {
      for (std::int64_t c = 0; output && c < width; ++c) {
        std::size_t const place = at.of(width, c);
        if (row->is_outside) found.leave_out(kind, 1, not_judged_because::outside_hypotheses);
        else if (kind == output_kind::o && row->leaves_open[static_cast<std::size_t>(c)] != 0)
          found.leave_out(kind, 1, not_judged_because::value_left_open);
        else
          rule(kind, {b, h, i, c}, load(*output, place), expected, bug_class::sink, "the sink of this query is +inf");
        store(*output, place, std::nan(""));
      }
    };
    each(output_kind::o, outputs.o, p.size().dv, 0);
    each(output_kind::lse, outputs.lse, 1, infinity);
    each(output_kind::weights, outputs.weights, p.size().m, 0);
    sink_rows_.push_back({b, h, i});
    return true;
  }

  /// nan: unspecified. Where the truth is NaN or infinite, any output is accepted.
  template <class T>
  void accept_any(problem::instance<T> const& p, reference::enclosed_row<128, T> const& truth, row_offsets const& at) {
    problem::sizes const& s = p.size();
    bool const nan_row = truth.kind == reference::row_kind::nan;
    for (std::int64_t c = 0; outputs.o && c < s.dv; ++c) {
      auto const kind = reference::compiled::output(p, truth, c).kind;
      if (kind == reference::value_kind::nan || kind == reference::value_kind::not_finite)
        store(*outputs.o, at.of(s.dv, c), std::nan(""));
    }
    if (nan_row && outputs.lse) store(*outputs.lse, at.of(1, 0), std::nan(""));
    for (std::int64_t j = 0; nan_row && outputs.weights && j < s.m; ++j)
      store(*outputs.weights, at.of(s.m, j), std::nan(""));
  }

  template <class T>
  static reference::enclosed_row<128, T>& truth_of() {
    static thread_local reference::enclosed_row<128, T> reused;
    return reused;
  }

  owned_problem const& problem_;
  conventions const& how_;
  contract const& claim_;

  bool is_ordinary_ = is_ordinary(problem_);
  bool decides_empty_rows_ =
      how_.empty_row != conventions::row::zero || how_.empty_lse != conventions::log::minus_infinity;

  empty_rows with_keys_ = empty_rows_in(1), without_keys_ = empty_rows_in(0);

  // The problem without its sink, where a sink of +∞ has a limit; the rows that such sinks take.
  std::optional<owned_problem> keys_alone_ =
      how_.sink_inf == conventions::infinite_sink::limit ? without_sink(problem_) : std::nullopt;
  std::vector<row_index> sink_rows_;
};

judgement judge_rows(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                     std::span<row_index const> rows, thoroughness how) {
  convention_judge judged(problem, claim, outputs);
  judged.all(rows);
  judgement total = judge(problem.instance(), judged.outputs, claim, rows, how);
  judged.count_once(total);
  total.merge(std::move(judged.found));
  return total;
}

/// The rows whose LSE is that of the keys alone, under lse_sink: excluded. The others are counted in `into`.
template <class T>
std::vector<row_index> rows_with_lse_of_keys(problem::instance<T> const& p, problem::kernel_model const& model,
                                             owned_problem const& problem, owned_tensor const& lse,
                                             std::span<row_index const> rows, judgement& into) {
  std::vector<row_index> judged;
  row_truth<first_width, T> truth;
  auto const take = [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    reference::element const sink = reference::sink_at(p, b, h);
    bool outside = false;
    if (sink.is_finite()) {
      double const t = static_cast<double>(sink.significand) * reference::power_of_two(sink.exponent);
      outside = t >= model.format.h0_limit;
      if (!outside && model.sink_limit < infinity) {
        truth.evaluate(p, model, b, h, i);
        outside = is_outside_hypotheses(p, model, truth, b, h, i);
      }
    } else if (has_a_sink(p, b, h) && std::isnan(load(lse, row_offsets(problem, b, h, i).of(1, 0)))) {
      return into.count_by_rule(output_kind::lse);  // a maximum with the sink, which is NaN or +∞, makes NaN of it
    }
    if (outside) into.leave_out(output_kind::lse, 1, not_judged_because::outside_hypotheses);
    else judged.push_back({b, h, i});
  };
  each_row(p, rows, take);
  return judged;
}

/// lse_sink: excluded. O and weights are judged with the sink, the LSE as that of the same problem without it.
judgement judge_lse_of_keys(owned_problem const& problem, owned_problem const& keys, owned_outputs const& outputs,
                            contract const& claim, std::span<row_index const> rows, thoroughness how) {
  owned_outputs others = outputs, lse;
  std::swap(others.lse, lse.lse);
  judgement total = judge_rows(problem, others, claim, rows, how), found;
  auto const judged = std::visit(
      [&](auto const& p) {
        return rows_with_lse_of_keys(p, claim.model_for(problem.instance()), problem, *lse.lse, rows, found);
      },
      problem.instance());
  if (judged.empty()) {  // rows without one are all rows to judge()
    found.returned[static_cast<std::size_t>(output_kind::lse)] = 1;
    found.exist = static_cast<std::int64_t>(lse.lse->bytes.size() / problem::size_of(lse.lse->type));
  } else {
    found.merge(judge_rows(keys, lse, claim, judged, how));
  }
  for (violation& v : found.violations)
    v.sentence += fmt::format("; the contract {} says that the LSE does not count the sink", claim.name);
  total.merge(std::move(found));
  return total;
}

judgement judge_without_padding(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                                std::span<row_index const> rows, thoroughness how) {
  auto const read = with_unread_parts_hidden(problem, claim);
  if (claim.conventions.lse_sink == conventions::log_of_sink::excluded && outputs.lse)
    if (auto const keys = without_sink(problem)) return judge_lse_of_keys(problem, *keys, outputs, claim, rows, how);
  return judge_rows(read ? *read : problem, outputs, claim, rows, how);
}

}  // namespace

std::vector<std::string> relaxed(conventions const& how) {
  struct {
    std::vector<std::string> found{};
    void word(char const* name, std::span<char const* const> words, std::size_t at) {
      if (at != 0) found.push_back(fmt::format("{}: {}", name, words[at]));
    }
  } relaxations;
  conventions visited = how;
  visit_conventions(visited, relaxations);
  return std::move(relaxations.found);
}

empty_row_rule empty_rows_of(conventions const& how, std::int64_t keys) noexcept {
  using row = conventions::row;
  bool const has_keys = keys > 0;
  return {.unmasked = has_keys && how.empty_row == row::unmasked,
          .mean = has_keys && how.empty_row == row::mean,
          .nan = how.empty_row == row::nan || (has_keys && how.empty_row == row::nan_unless_no_keys),
          .lse = how.empty_lse == conventions::log::zero            ? std::optional(0.0)
                 : how.empty_lse == conventions::log::plus_infinity ? std::optional(infinity)
                                                                    : std::nullopt};
}

owned_outputs translated(owned_problem const& problem, owned_outputs const& outputs, contract const& claim) {
  if (claim.conventions == conventions{}) return outputs;
  convention_judge judged(problem, claim, outputs);
  judged.all({});
  return std::move(judged.outputs);
}

judgement judge_by_conventions(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                               std::span<row_index const> rows, thoroughness how) {
  if (claim.conventions == conventions{}) return judge(problem.instance(), outputs, claim, rows, how);
  judgement found = judge_without_padding(problem, outputs, claim, rows, how);
  judge_padding(outputs, claim, found);
  return found;
}

}  // namespace attest::audit
