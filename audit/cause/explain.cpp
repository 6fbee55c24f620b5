#include "audit/cause/explain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/call_order.hpp"
#include "audit/cause/diagnosis.hpp"
#include "audit/cause/gradient_mistakes.hpp"
#include "audit/cause/ignored_field.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

/// Is it about an element of these outputs? Other violations are about several calls, or about what O encodes.
bool is_element_of(owned_problem const& problem, owned_outputs const& outputs, violation const& wrong) {
  auto const kind = problem::output_named(wrong.output);
  if (!kind || !wrong.picture.empty()) return false;
  if (problem::is_gradient(*kind)) return outputs.of(*kind).has_value();
  if (!outputs.of(*kind) || kind == output_kind::lse) return outputs.of(*kind).has_value();
  auto const& [b, h, i, at] = wrong.index;
  problem::sizes const& s = problem.size();
  auto const width = static_cast<std::size_t>(kind == output_kind::o ? s.dv : s.m);
  double const there = load(*outputs.of(*kind), output_row(problem, b, h, i) * width + static_cast<std::size_t>(at));
  return there == wrong.got || (std::isnan(there) && std::isnan(wrong.got));
}

/// A wrong answer to the first call of a case that shows features by themselves, right without one of them.
void name_ignored_field(audit_case const& kernel_case, owned_outputs const& outputs, contract const& claim,
                        std::span<violation> wrong) {
  if (kernel_case.check != "support" || !kernel_case.form || wrong.empty()) return;
  auto const ignored = ignored_field(kernel_case, outputs, claim);
  if (!ignored) return;
  for (violation& v : wrong) {
    v.sentence += fmt::format("; it is right for the same call without its {}", row_of(*ignored).name);
    v.bug_class = bug_class::ignored_field, v.basis = class_basis::seen;
  }
}

}  // namespace

/// "; the whole dq fits one mistake: …"
void call_explainer::explain_gradient(violation& wrong, output_kind kind) {
  auto const [at, fresh] = gradient_mistakes_.try_emplace(kind);
  if (fresh) at->second = gradient_mistake(problem_, outputs_, claim_, wrong);
  if (!at->second.empty())
    wrong.sentence += fmt::format("; the whole {} fits one mistake: {}", name_of(kind), at->second);
}

void call_explainer::explain(violation& wrong) {
  if (auto const kind = problem::output_named(wrong.output); kind && problem::is_gradient(*kind))
    return explain_gradient(wrong, *kind);
  if (would_pass_f32_any(wrong))
    wrong.sentence +=
        "; it would pass f32-any: if the kernel rescales lazily or merges by LSE, that is its contract; else it is "
        "wrong";
  if (diagnosis const known = diagnose(problem_, outputs_, claim_, wrong); !known.sentence.empty()) {
    wrong.sentence += "; " + known.sentence;
    if (!wrong.bug_class) wrong.bug_class = known.bug_class, wrong.basis = class_basis::row;
  } else if (auto const& factor = factor_of_row(wrong)) {
    wrong.sentence +=
        fmt::format("; every output of its row is {0:.{1}g} times the exact one: the weights sum to {0:.{1}g}",
                    factor->factor, factor->digits);
  }
}

bool call_explainer::would_pass_f32_any(violation const& worst) {
  contract const& any = *find_contract("f32-any");
  if (!passes_f32_any_)
    passes_f32_any_ = claim_.name == "f32" && passes(problem_, outputs_, any, worst) &&
                      is_right_by_law(problem_, outputs_, any, rows_);
  return *passes_f32_any_;
}

std::optional<common_factor> const& call_explainer::factor_of_row(violation const& wrong) {
  static std::optional<common_factor> const none;
  if (wrong.output != "o") return none;
  auto const [at, fresh] = factors_.try_emplace(wrong.row());
  if (fresh) at->second = find_common_factor(problem_, outputs_, wrong, claim_);
  return at->second;
}

void explain_call(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                  std::span<row_index const> rows, judgement& found) {
  call_explainer explainer(problem, outputs, claim, rows);
  for (violation& wrong : found.violations) explainer.explain(wrong);
}

void judge_and_explain(audit_case const& kernel_case, case_outputs const& outputs, judging_rules const& rules,
                       case_result& into) {
  judgement before = std::exchange(into.judged, {});
  judge_case(kernel_case, outputs, rules, into);
  std::map<std::size_t, call_explainer> explainers;  // by call
  for (violation& wrong : into.judged.violations) {
    owned_problem const& problem = kernel_case.call(wrong.call);
    if (!outputs[wrong.call] || !is_element_of(problem, *outputs[wrong.call], wrong)) continue;
    explainers.try_emplace(wrong.call, problem, *outputs[wrong.call], *rules.claim, kernel_case.rows_of(wrong.call))
        .first->second.explain(wrong);
  }
  if (outputs[0]) name_ignored_field(kernel_case, *outputs[0], *rules.claim, into.judged.violations);
  into.judged.merge(std::move(before));
  for (violation& wrong : into.judged.violations)
    if (auto const which = words_of_call(kernel_case, wrong.call); !which.empty()) wrong.sentence += "; in " + which;
}

}  // namespace attest::audit
