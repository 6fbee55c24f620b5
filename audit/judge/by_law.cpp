#include "audit/judge/by_law.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/task_group.h>

#include "audit/judge/hidden_keys.hpp"
#include "audit/judge/infinite_sink.hpp"
#include "audit/judge/judge_gradients.hpp"
#include "audit/judge/one_query.hpp"
#include "audit/judge/outside_hypotheses.hpp"
#include "audit/judge/padding_rows.hpp"
#include "audit/judge/row_law.hpp"
#include "audit/judge/row_truth.hpp"
#include "audit/judge/unmasked_rows.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/key_rows.hpp"

namespace attest::audit {
namespace {

/// Judges the rows of one problem whose law is not docs/semantics.md.
class special_rows {
 public:
  special_rows(owned_problem const& problem, owned_outputs const& outputs, contract const& claim, row_laws const& laws)
      : problem_(problem), outputs_(outputs), claim_(claim), laws_(laws) {
    // The rows of another problem are judged by docs/semantics.md, rows without keys as well.
    of_other_problems_.conventions.empty_row = conventions::row::zero;
    of_other_problems_.conventions.empty_lse = conventions::log::minus_infinity;
  }

  void judge_row(row_index const& row, row_law law) {
    switch (law) {
      case row_law::semantics: return;  // judge() judges it
      case row_law::every_key: return every_key(row);
      case row_law::mean_of_values: return mean_of_values(row);
      case row_law::sink_takes_all: return sink_takes_all(row);
    }
  }

  judgement found{};

 private:
  /// An LSE that marks the row as empty is right, too.
  void every_key(row_index const& row) {
    owned_outputs alone = answer_of(row);
    if (alone.lse && load(*alone.lse, 0) == exact_values_of(claim_.conventions, 1).empty_lse)
      right_by_rule(output_kind::lse, alone);
    if (!alone.empty()) instead(one_query(problem_, row.b, row.h, row.i), alone, row, "the answer without a mask");
    hidden_by_length(row);
  }

  /// If q or a key holds a NaN or an infinity, NaN is right as well: adding a mask to such a score gives NaN.
  void mean_of_values(row_index const& row) {
    owned_outputs alone = answer_of(row);
    auto const nan_is_right = [&] {
      problem_draft const query = one_query(problem_, row.b, row.h, row.i);
      return has_nonfinite(query.q) || has_nonfinite(query.k);
    };
    auto const is = [&](output_kind kind, auto&& right) { return alone.of(kind) && all_of(*alone.of(kind), right); };
    auto const is_nan = [](double x) { return std::isnan(x); };
    for (output_kind const kind : output_kinds)
      if (is(kind, is_nan) && nan_is_right()) right_by_rule(kind, alone);
    if (is(output_kind::weights, [](double x) { return x == 0; })) right_by_rule(output_kind::weights, alone);
    if (alone.lse)
      rule(output_kind::lse, row, 0, exact_values_of(claim_.conventions, 1).empty_lse, bug_class::empty_row, no_key);
    alone.lse.reset();
    hidden_by_length(row);
    if (!alone.empty()) instead(mean_that_fits(alone, row), alone, row, "the mean of V");
  }

  /// The contract does not say whether dropped keys count in the mean. They are left out if the kernel left them out.
  problem_draft mean_that_fits(owned_outputs const& alone, row_index const& row) const {
    problem_draft mean = audit::mean_of_values(problem_, row.b, row.h, row.i);
    if (!problem_.draft().keep) return mean;
    problem_draft dropped = mean;
    dropped.keep = one_query(problem_, row.b, row.h, row.i).keep, dropped.dropout = problem_.draft().dropout;
    bool const fits =
        judge(owned_problem::of_valid(problem_draft(dropped)).instance(), alone, of_other_problems_).failed == 0;
    return fits ? dropped : mean;
  }

  void sink_takes_all(row_index const& row) {
    row_of_infinite_sink const taken = laws_.taken(row).value();
    for (output_kind const kind : output_kinds)
      for (std::int64_t at = 0; outputs_.of(kind) && at < width_of(kind); ++at) {
        if (taken.is_outside) found.leave_out(kind, 1, not_judged_because::outside_hypotheses);
        else if (kind == output_kind::o && taken.leaves_open[static_cast<std::size_t>(at)] != 0)
          found.leave_out(kind, 1, not_judged_because::value_left_open);
        else
          rule(kind, row, at, kind == output_kind::lse ? reference::infinity : 0, bug_class::sink,
               "the sink of this query is +inf");
      }
  }

  /// Judges a row as the answer to another problem of one query.
  void instead(problem_draft&& other, owned_outputs const& alone, row_index const& row, char const* says) {
    auto const& [b, h, i] = row;
    judgement judged = judge(owned_problem::of_valid(std::move(other)).instance(), alone, of_other_problems_);
    judged.returned = {}, judged.exist = 0;  // the outputs of the call are counted once
    for (violation& v : judged.violations) {
      v.index = {b, h, i, v.index[3]};
      v.bug_class = bug_class::empty_row;
      v.sentence += fmt::format("; query [{}, {}, {}] sees no key, for which the contract {} says {}", b, h, i,
                                claim_.name, says);
    }
    found.merge(std::move(judged));
  }

  /// The weights of keys behind the length of the entry are 0 under every law.
  void hidden_by_length(row_index const& row) {
    for (std::int64_t j = keys_of(problem_, row.b); outputs_.weights && j < problem_.size().m; ++j)
      rule(output_kind::weights, row, j, 0, bug_class::mask_polarity, "the key is masked");
  }

  void rule(output_kind kind, row_index const& row, std::int64_t at, double expected, bug_class of, char const* why) {
    std::size_t const width = static_cast<std::size_t>(width_of(kind));
    double const got =
        load(*outputs_.of(kind), output_row(problem_, row.b, row.h, row.i) * width + static_cast<std::size_t>(at));
    found.count_by_rule(kind);
    if (std::isnan(expected) ? std::isnan(got) : got == expected) return;
    ++found.failed;
    violation v;
    v.output = name_of(kind), v.index = {row.b, row.h, row.i, at}, v.got = got;
    v.truth_lower = v.truth_upper = expected, v.error_in_bounds = reference::infinity, v.bug_class = of;
    v.sentence = fmt::format("{}[{}] is {}, expected {}: {}, and the contract {} says so", v.output,
                             fmt::join(v.index, ", "), got, expected, why, claim_.name);
    found.add(std::move(v));
  }

  /// Counts an output of the row as right, and takes it from what is still to be judged.
  void right_by_rule(output_kind kind, owned_outputs& alone) {
    std::size_t const elements = alone.of(kind)->bytes.size() / problem::size_of(alone.of(kind)->type);
    for (std::size_t at = 0; at < elements; ++at) found.count_by_rule(kind);
    alone.of(kind).reset();
  }

  owned_outputs answer_of(row_index const& row) const { return one_answer(problem_, outputs_, row.b, row.h, row.i); }

  std::int64_t width_of(output_kind kind) const {
    problem::sizes const& s = problem_.size();
    return kind == output_kind::o ? s.dv : kind == output_kind::lse ? 1 : s.m;
  }

  static constexpr char const* no_key = "no key is visible to this query (or every score is -inf)";

  owned_problem const& problem_;
  owned_outputs const& outputs_;
  contract const& claim_;
  row_laws const& laws_;
  contract of_other_problems_ = claim_;
};

judgement judge_each_by_law(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                            std::span<row_index const> rows, thoroughness how) {
  row_laws const laws(problem, claim);
  if (laws.are_semantics()) return judge(problem.instance(), outputs, claim, rows, how);
  std::vector<row_index> by_semantics;
  special_rows special(problem, outputs, claim, laws);
  for (row_index const& row : queries_among(problem, rows)) {
    if (tbb::is_current_task_group_canceling()) break;
    row_law const law = laws.of(row);
    if (law == row_law::semantics) by_semantics.push_back(row);
    else special.judge_row(row, law);
  }
  judgement total =
      by_semantics.empty() ? unjudged(outputs) : judge(problem.instance(), outputs, claim, by_semantics, how);
  total.merge(std::move(special.found));
  return total;
}

/// How the LSE of a row is judged under lse_sink: excluded.
enum class lse_law : std::uint8_t { of_keys, nan_is_right, outside_hypotheses };

/// If the sink is NaN or +∞, a maximum that includes it makes the LSE NaN. A sink beyond the hypotheses may change the
/// LSE in any way.
template <class T>
lse_law lse_law_of(problem::instance<T> const& p, problem::kernel_model const& model, row_index const& row,
                   double got) {
  reference::element const sink = reference::sink_at(p, row.b, row.h);
  if (!sink.is_finite())
    return has_a_sink(p, row.b, row.h) && std::isnan(got) ? lse_law::nan_is_right : lse_law::of_keys;
  double const t = static_cast<double>(sink.significand) * reference::power_of_two(sink.exponent);
  if (t >= model.format.h0_limit) return lse_law::outside_hypotheses;
  if (!(model.sink_limit < reference::infinity)) return lse_law::of_keys;
  row_truth<first_width, T> truth;
  truth.evaluate(p, model, row.b, row.h, row.i);
  return is_outside_hypotheses(p, model, truth, row.b, row.h, row.i) ? lse_law::outside_hypotheses : lse_law::of_keys;
}

/// lse_sink: excluded. The right LSE is the LSE of `keys`, the same problem without its sink.
judgement judge_lse_of_keys(owned_problem const& problem, owned_problem const& keys, owned_outputs const& lse,
                            contract const& claim, std::span<row_index const> rows, thoroughness how) {
  problem::kernel_model const model = claim.model_for(problem.instance());
  std::vector<row_index> of_keys;
  judgement found;
  for (row_index const& row : queries_among(problem, rows)) {
    double const got = load(*lse.lse, output_row(problem, row.b, row.h, row.i));
    switch (std::visit([&](auto const& p) { return lse_law_of(p, model, row, got); }, problem.instance())) {
      case lse_law::of_keys: of_keys.push_back(row); break;
      case lse_law::nan_is_right: found.count_by_rule(output_kind::lse); break;
      case lse_law::outside_hypotheses:
        found.leave_out(output_kind::lse, 1, not_judged_because::outside_hypotheses);
        break;
    }
  }
  found.merge(of_keys.empty() ? unjudged(lse) : judge_each_by_law(keys, lse, claim, of_keys, how));
  for (violation& v : found.violations)
    v.sentence += fmt::format("; the contract {} says that the LSE does not count the sink", claim.name);
  return found;
}

/// Judges O, LSE and weights.
judgement judge_forward(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                        std::span<row_index const> rows, thoroughness how) {
  if (claim.conventions == conventions{}) return judge(problem.instance(), outputs, claim, rows, how);
  judgement found;
  bool const excludes_sink = claim.conventions.lse_sink == conventions::log_of_sink::excluded && outputs.lse;
  if (auto const keys = excludes_sink ? without_sink(problem) : std::nullopt) {
    owned_outputs others = outputs, lse;
    std::swap(others.lse, lse.lse);
    found = judge_each_by_law(problem, others, claim, rows, how);
    found.merge(judge_lse_of_keys(problem, *keys, lse, claim, rows, how));
  } else {
    auto const read = with_unread_parts_hidden(problem, claim);
    found = judge_each_by_law(read ? *read : problem, outputs, claim, rows, how);
  }
  judge_padding(outputs, claim, found);
  return found;
}

/// The O and LSE that a backward pass was handed, as answers of attention, and its gradients.
judgement judge_backward(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                         std::span<row_index const> rows, thoroughness how) {
  owned_outputs forward, gradients;
  for (output_kind const kind : output_kinds)
    (problem::is_gradient(kind) ? gradients : forward).of(kind) = outputs.of(kind);
  forward.padding = outputs.padding;
  std::vector<row_index> const queries = rows_of_queries(problem.size(), rows);
  judgement found =
      queries.empty() && !rows.empty() ? unjudged(forward) : judge_forward(problem, forward, claim, queries, how);
  found.merge(unjudged(gradients));
  if (gradients.empty()) return found;
  auto const unmasked = claim.conventions.empty_row == conventions::row::unmasked
                            ? with_empty_rows_unmasked(problem, outputs)
                            : std::nullopt;
  found.merge(unmasked ? judge_gradients(unmasked->problem, unmasked->outputs, claim, how, formed_from::inputs, rows)
                       : judge_gradients(problem, outputs, claim, how, formed_from::inputs, rows));
  return found;
}

}  // namespace

judgement judge_by_law(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                       std::span<row_index const> rows, thoroughness how) {
  return problem.draft().d_out ? judge_backward(problem, outputs, claim, rows, how)
                               : judge_forward(problem, outputs, claim, rows, how);
}

bool is_right_by_law(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                     std::span<row_index const> rows) {
  return judge_by_law(problem, outputs, claim, rows, thoroughness::verdict).failed == 0 &&
         !tbb::is_current_task_group_canceling();
}

}  // namespace attest::audit
