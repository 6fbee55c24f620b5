#include "audit/judge/judge_case.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/row_sample.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/cross_call.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/judge/observed_range.hpp"
#include "audit/judge/padding_rows.hpp"
#include "audit/judge/row_law.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "audit/tensors/key_rows.hpp"

namespace attest::audit {

judgement judge_beside(owned_problem const& problem, owned_outputs const& first, owned_outputs const& again,
                       contract const& claim, std::span<row_index const> rows, thoroughness how) {
  judgement found;
  judge_padding(again, claim, found);
  owned_outputs others;
  for (output_kind const kind : output_kinds)
    if (!first.of(kind)) others.of(kind) = again.of(kind);
  if (!others.empty()) found.merge(judge_by_law(problem, others, claim, rows, how));
  return found;
}

namespace {

/// The row of the element, among rows that are judged; all of them for dBias and dSink.
std::vector<row_index> rows_around(owned_problem const& problem, violation const& wrong) {
  auto const& [b, h, i, at] = wrong.index;
  auto const kind = problem::output_named(wrong.output);
  if (kind == output_kind::dbias || kind == output_kind::dsink) return {};
  if (kind == output_kind::dk || kind == output_kind::dv) return {row_of_key(problem.size(), b, h, i)};
  return {{b, h, i}};
}

}  // namespace

bool is_wrong(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
              violation const& wrong) {
  return judge_by_law(problem, outputs, claim, rows_around(problem, wrong), thoroughness::verdict).failed > 0;
}

bool passes(owned_problem const& problem, owned_outputs const& outputs, contract const& claim, violation const& wrong) {
  judgement const found = judge_by_law(problem, outputs, claim, rows_around(problem, wrong), thoroughness::verdict);
  return found.failed == 0 && found.undecided == 0 && found.not_judged() == 0 && found.judged() > 0;
}

namespace {

/// Are the first `count` numbers of one row of a compact output, which has `width`, finite?
bool is_finite_row(owned_tensor const& output, std::size_t row, std::int64_t width, std::int64_t count) {
  return problem::with_type(output.type, problem::floating_elements{}, [&]<class T>(std::type_identity<T>) {
    return all_finite(output.as<T>() + row * static_cast<std::size_t>(width), count);
  });
}

/// Can this row be wrong although all inputs are finite? True for a NaN or infinity in O or a weight, and for an LSE of
/// NaN or +∞. True for an LSE of −∞ as well unless O is 0, as in the row of a query without keys.
bool is_suspect_row(owned_outputs const& outputs, std::size_t row, problem::sizes const& s, std::int64_t keys) {
  if (outputs.o && !is_finite_row(*outputs.o, row, s.dv, s.dv)) return true;
  if (outputs.weights && !is_finite_row(*outputs.weights, row, s.m, keys)) return true;
  if (!outputs.lse || is_finite_row(*outputs.lse, row, 1, 1)) return false;
  if (load(*outputs.lse, row) != -std::numeric_limits<double>::infinity() || !outputs.o) return true;
  for (std::size_t c = 0, width = static_cast<std::size_t>(s.dv); c < width; ++c)
    if (load(*outputs.o, row * width + c) != 0) return true;
  return false;
}

/// The rows of dQ, dK and dV that hold a NaN or an infinity, at most 64 of each.
std::vector<row_index> suspect_gradients(owned_problem const& problem, owned_outputs const& outputs) {
  constexpr std::ptrdiff_t most = 64;
  problem::sizes const& s = problem.size();
  std::vector<row_index> rows;
  for (output_kind const kind : {output_kind::dq, output_kind::dk, output_kind::dv}) {
    if (!outputs.of(kind)) continue;
    gradient_places const places(problem, kind);
    bool const of_keys = kind != output_kind::dq;
    std::int64_t const width = kind == output_kind::dv ? s.dv : s.d;
    std::ptrdiff_t found = 0;
    problem::with_type(outputs.of(kind)->type, problem::floating_elements{}, [&]<class T>(std::type_identity<T>) {
      T const* const from = outputs.of(kind)->as<T>();
      for (std::int64_t b = 0; b < s.b; ++b)
        for (std::int64_t h = 0; h < (of_keys ? s.hk : s.hq); ++h)
          for (std::int64_t i = 0; i < (of_keys ? keys_of(problem, b) : queries_of(problem, b)); ++i)
            if (found < most && !all_finite(from + places.row(b, h, i), width)) {
              rows.push_back(of_keys ? row_of_key(s, b, h, i) : row_index{b, h, i});
              ++found;
            }
    });
  }
  put_in_order(rows);
  return rows;
}

/// If rows are sampled, other rows that hold a NaN or an infinity are judged as well. The values of these problems are
/// finite, and so are the right answers, except where the contract prescribes others for queries that see no key.
void judge_finite(audit_case const& kernel_case, owned_outputs const& outputs, contract const& claim, judgement& into) {
  bool const backward = kernel_case.problem.draft().d_out.has_value();
  if (kernel_case.rows.empty() || (!kernel_case.form && !backward)) return;
  problem::sizes const& s = kernel_case.problem.size();
  std::vector<row_index> rows =
      backward ? suspect_gradients(kernel_case.problem, outputs) : queries_among(kernel_case.problem);
  if (!backward)
    std::erase_if(rows, [&](row_index const& row) {
      return !is_suspect_row(outputs, output_row(kernel_case.problem, row.b, row.h, row.i), s,
                             keys_of(kernel_case.problem, row.b));
    });
  if (rows.empty()) return;
  judgement found = judge_by_law(kernel_case.problem, outputs, claim, rows, thoroughness::verdict);
  into.failed += found.failed;
  for (violation& wrong : found.violations) into.add(std::move(wrong));
}

/// The rows of further call n whose answer depends on hidden keys and values by the contract, if those differ between
/// the first call and this one. The bits of such rows may differ, so that they are judged on their own.
std::vector<row_index> rows_of_hidden_values(audit_case const& kernel_case, std::size_t n, contract const& claim) {
  problem_draft const &first = kernel_case.problem.draft(), &other = kernel_case.call(n + 1).draft();
  if (first.k.bytes == other.k.bytes && first.v.bytes == other.v.bytes) return {};
  row_laws const laws(kernel_case.call(n + 1), claim);
  if (laws.are_semantics()) return {};
  std::vector<row_index> rows = queries_among(kernel_case.call(n + 1));
  std::erase_if(rows, [&](row_index const& row) {
    row_law const law = laws.of(row);
    return law != row_law::every_key && law != row_law::mean_of_values;
  });
  return rows;
}

}  // namespace

void judge_case(audit_case const& kernel_case, case_outputs const& outputs, judging_rules const& rules,
                case_result& into) {
  auto const start = std::chrono::steady_clock::now();
  auto const take = [&](std::size_t call, judgement&& found) {
    for (violation& v : found.violations) v.call = call;
    into.judged.merge(std::move(found));
  };
  auto const judged = [&](std::size_t call) {
    take(call,
         judge_by_law(kernel_case.call(call), *outputs[call], *rules.claim, kernel_case.rows_of(call), rules.how));
  };
  auto const usable = [&](std::size_t call) {
    if (!outputs[call]) return false;
    if (!leaves_outputs_open(kernel_case.call(call), *rules.claim)) return true;
    conventions::masked const hidden = rules.claim->conventions.masked_values;
    into.conventions.push_back(relaxed({.masked_values = hidden}).front());
    return false;
  };
  bool const first = usable(0);
  if (first) {
    judgement found = judge_by_law(kernel_case.problem, *outputs[0], *rules.claim, kernel_case.rows_of(0), rules.how);
    judge_finite(kernel_case, *outputs[0], *rules.claim, found);
    take(0, std::move(found));
  }
  for (std::size_t n = 0; n < kernel_case.further.size(); ++n) {
    further_call const& further = kernel_case.further[n];
    if (!usable(n + 1)) continue;
    if (first && (further.is == relation::same_bits || further.is == relation::same_rows)) {
      auto found = outputs_differ(kernel_case, *outputs[0], further, *outputs[n + 1]);
      if (!found) {  // bits that both calls share are judged already
        take(n + 1, judge_beside(further.problem, *outputs[0], *outputs[n + 1], *rules.claim,
                                 kernel_case.rows_of(n + 1), rules.how));
        continue;
      }
      if (auto const open = rows_of_hidden_values(kernel_case, n, *rules.claim); !open.empty())
        found = outputs_differ(kernel_case, *outputs[0], further, *outputs[n + 1], open);
      if (found) {
        found->call = n + 1;
        if (further.promised || rules.must_reproduce()) into.judged.failed++, into.judged.add(std::move(*found));
        else into.observations.push_back(fmt::format("{}: {}", kernel_case.full_name(), found->sentence));
      }
    }
    judged(n + 1);
  }
  if (first) {
    judge_merge(kernel_case, outputs, *rules.claim, into);
    if (kernel_case.reads == reading::weights) judge_read_weights(kernel_case, outputs, *rules.claim, into);
    if (kernel_case.reads == reading::visibility) judge_visibility(kernel_case, *outputs[0], *rules.claim, into);
    if (kernel_case.reads == reading::range)
      if (auto const seen = observed_range(kernel_case.problem, *outputs[0]))
        into.observations.push_back(fmt::format("{}: {}", kernel_case.full_name(), *seen));
  }
  into.oracle_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace attest::audit
