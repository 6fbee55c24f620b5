#include "audit/judge/judge_case.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/judge/by_law.hpp"
#include "audit/judge/cross_call.hpp"
#include "audit/judge/diagnosis.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/judge/ignored_field.hpp"
#include "audit/judge/observed_range.hpp"
#include "audit/judge/padding_rows.hpp"
#include "audit/judge/row_law.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {

namespace {

bool has_no_class(violation const& wrong) { return wrong.output == "o" && !wrong.bug_class; }

/// Where a diagnosis gave a class to all of O that had none, and others of that kind are not listed: one that stands
/// for them, and has the class of the check. `worst` was the worst without a class.
void leave_unlisted(violation worst, judgement& found) {
  if (found.failed <= std::ssize(found.violations) || std::ranges::any_of(found.violations, has_no_class)) return;
  worst.sentence = fmt::format("{} more elements of this call are wrong, and no one known mistake explains all",
                               found.failed - std::ssize(found.violations));
  found.add(std::move(worst));
}

}  // namespace

judgement judge_call(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                     std::span<row_index const> rows, thoroughness how) {
  judgement found = judge_by_law(problem, outputs, claim, rows, how);
  if (found.failed == 0 || how == thoroughness::verdict) return found;
  if (contract const& any = *find_contract("f32-any");
      claim.name == "f32" && !is_wrong(problem, outputs, any, found.violations.front()) &&
      judge_by_law(problem, outputs, any, rows, thoroughness::verdict).failed == 0)
    for (violation& v : found.violations)
      v.sentence +=
          "; it would pass f32-any: either the kernel rescales lazily or merges by LSE (declare it with "
          "--contract f32-any), or it is wrong";
  auto const first = std::ranges::find_if(found.violations, has_no_class);
  std::optional<violation> const worst = first == found.violations.end() ? std::nullopt : std::optional(*first);
  diagnose_all(problem, outputs, claim, found);
  if (how == thoroughness::all && worst && !one_mistake_explains(problem, outputs, claim, rows))
    leave_unlisted(*worst, found);
  return found;
}

judgement judge_beside(owned_problem const& problem, owned_outputs const& first, owned_outputs const& again,
                       contract const& claim, std::span<row_index const> rows, thoroughness how) {
  judgement found;
  judge_padding(again, claim, found);
  owned_outputs others;
  for (output_kind const kind : {output_kind::o, output_kind::lse, output_kind::weights})
    if (!first.of(kind)) others.of(kind) = again.of(kind);
  if (!others.empty()) found.merge(judge_call(problem, others, claim, rows, how));
  return found;
}

bool is_wrong(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
              violation const& wrong) {
  row_index const row{wrong.index[0], wrong.index[1], wrong.index[2]};
  return judge_by_law(problem, outputs, claim, {&row, 1}, thoroughness::verdict).failed > 0;
}

namespace {

/// A wrong answer to the first call of a case that shows features by themselves, right without one of them.
void name_ignored_field(audit_case const& kernel_case, owned_outputs const& outputs, contract const& claim,
                        judgement& into) {
  if (kernel_case.check != "support" || !kernel_case.form || into.failed == 0) return;
  auto const ignored = ignored_field(kernel_case, outputs, claim);
  if (!ignored) return;
  for (violation& v : into.violations) {
    v.sentence +=
        fmt::format("; it is right for the same call without its {}, which the kernel ignores", row_of(*ignored).name);
    v.bug_class = bug_class::ignored_field;
  }
}

/// Are the first `count` numbers of one row of a compact output, which has `width`, finite?
bool is_finite_row(owned_tensor const& output, std::size_t row, std::int64_t width, std::int64_t count) {
  return problem::with_type(output.type, problem::floating_elements{}, [&]<class T>(std::type_identity<T>) {
    return all_finite(output.as<T>() + row * static_cast<std::size_t>(width), count);
  });
}

/// May that be wrong of a problem whose values are finite: a NaN or an infinity in O or in a weight, an LSE of NaN or
/// +∞, or one of −∞ beside an O that is not 0, as that of a query without a key is?
bool is_suspect_row(owned_outputs const& outputs, std::size_t row, problem::sizes const& s, std::int64_t keys) {
  if (outputs.o && !is_finite_row(*outputs.o, row, s.dv, s.dv)) return true;
  if (outputs.weights && !is_finite_row(*outputs.weights, row, s.m, keys)) return true;
  if (!outputs.lse || is_finite_row(*outputs.lse, row, 1, 1)) return false;
  if (load(*outputs.lse, row) != -std::numeric_limits<double>::infinity() || !outputs.o) return true;
  for (std::size_t c = 0, width = static_cast<std::size_t>(s.dv); c < width; ++c)
    if (load(*outputs.o, row * width + c) != 0) return true;
  return false;
}

/// Where rows are sampled, those of the others that hold a NaN or an infinity are judged, too: the values of these
/// problems are finite, and so are their answers, but for what the contract says of a query that sees no key.
void judge_finite(audit_case const& kernel_case, owned_outputs const& outputs, contract const& claim, thoroughness how,
                  judgement& into) {
  if (kernel_case.rows.empty() || !kernel_case.form) return;
  problem::sizes const& s = kernel_case.problem.size();
  std::vector<row_index> rows;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < queries_of(kernel_case.problem, b); ++i)
        if (is_suspect_row(outputs, output_row(kernel_case.problem, b, h, i), s, keys_of(kernel_case.problem, b)))
          rows.push_back({b, h, i});
  if (rows.empty()) return;
  if (how != thoroughness::all) how = thoroughness::verdict;
  judgement found = judge_by_law(kernel_case.problem, outputs, claim, rows, how);
  into.failed += found.failed;
  for (violation& wrong : found.violations) into.add(std::move(wrong));
}

/// The rows of further call n that answer by hidden keys and values, as the contract says, if these differ between the
/// first call and this one: such rows are not what they were, and are judged by themselves.
std::vector<row_index> rows_of_hidden_values(audit_case const& kernel_case, std::size_t n, contract const& claim) {
  problem_draft const &first = kernel_case.problem.draft(), &other = kernel_case.call(n + 1).draft();
  if (first.k.bytes == other.k.bytes && first.v.bytes == other.v.bytes) return {};
  row_laws const laws(kernel_case.call(n + 1), claim);
  if (laws.are_semantics()) return {};
  std::vector<row_index> rows = every_row_of(kernel_case.call(n + 1));
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
  auto const rows_of = [&](std::size_t call) {
    // The rows are those of the first call, and of further calls of its sizes.
    bool const sampled = kernel_case.call(call).size() == kernel_case.problem.size();
    return sampled ? std::span<row_index const>(kernel_case.rows) : std::span<row_index const>();
  };
  auto const take = [&](std::size_t call, judgement&& found) {
    for (violation& v : found.violations) v.call = call;
    into.judged.merge(std::move(found));
  };
  auto const judged = [&](std::size_t call) {
    take(call, judge_call(kernel_case.call(call), *outputs[call], *rules.claim, rows_of(call), rules.how));
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
    judgement found = judge_call(kernel_case.problem, *outputs[0], *rules.claim, rows_of(0), rules.how);
    judge_finite(kernel_case, *outputs[0], *rules.claim, rules.how, found);
    name_ignored_field(kernel_case, *outputs[0], *rules.claim, found);
    take(0, std::move(found));
  }
  for (std::size_t n = 0; n < kernel_case.further.size(); ++n) {
    further_call const& further = kernel_case.further[n];
    if (!usable(n + 1)) continue;
    if (first && (further.is == relation::same_bits || further.is == relation::same_rows)) {
      auto found = outputs_differ(kernel_case, *outputs[0], further, *outputs[n + 1]);
      if (!found) {  // the bits that both have are judged already
        take(n + 1,
             judge_beside(further.problem, *outputs[0], *outputs[n + 1], *rules.claim, rows_of(n + 1), rules.how));
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
