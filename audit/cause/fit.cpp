#include "audit/cause/fit.hpp"

#include <algorithm>
#include <cmath>

#include "audit/cause/gradient_fit.hpp"
#include "audit/cause/hypotheses/passes.hpp"
#include "audit/judge/by_law.hpp"

namespace attest::audit {
namespace {

/// One output of some outputs.
owned_outputs only(std::string_view output, owned_outputs const& of) {
  owned_outputs part;
  for (output_kind const which : output_kinds)
    if (output == name_of(which)) part.of(which) = of.of(which);
  return part;
}

fit fit_of(judgement const& judged) {
  if (judged.failed > 0) return fit::refuted;
  bool const all = judged.undecided == 0 && judged.not_certified == 0 && (judged.judged() > 0 || judged.exist == 0);
  return all ? fit::certified : fit::open;
}

fit fit_of_call(std::vector<answered_call> const& supposed, answered_case::judged_call const& of, double& worst) {
  bool open = false, all_left_open = !of.wrong.empty();
  for (violation const& wrong : of.wrong) {
    row_index const row = wrong.row();
    if (std::ranges::any_of(supposed, [&](answered_call const& call) { return call.open_rows.contains(row); }))
      continue;
    all_left_open = false;
    fit const is = fit_of_row(supposed, wrong, worst);
    if (is == fit::refuted) return is;
    open |= is != fit::certified;
  }
  for (answered_call const& call : supposed) {
    if (call.outputs.empty()) continue;
    judgement const found = judge_by_law(call.problem, call.outputs, call.claim, of.rows, thoroughness::verdict);
    fit const is = fit_of(found);
    if (is == fit::refuted) return is;
    open |= is != fit::certified;
  }
  return open || all_left_open ? fit::open : fit::certified;
}

}  // namespace

fit fit_of_row(std::vector<answered_call> const& supposed, violation const& wrong, double& worst) {
  bool judged = false, open = false;
  row_index const row = wrong.row();
  for (answered_call const& call : supposed) {
    open |= call.open_rows.contains(row);
    owned_outputs const part = only(wrong.output, call.outputs);
    if (part.empty()) continue;
    judgement const found = judge_by_law(call.problem, part, call.claim, {&row, 1}, thoroughness::verdict);
    if (found.failed > 0) return fit::refuted;
    open |= found.undecided > 0 || found.not_judged() > found.judged();
    judged |= found.judged() > 0;
    worst = std::max(worst, found.max_error_in_bounds);
  }
  return judged && !open ? fit::certified : fit::open;
}

void answered_case::add(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                        std::vector<row_index> rows, memory_form const& memory) {
  judgement found = judge_by_law(problem, outputs, claim, rows, thoroughness::verdict);
  calls.push_back({of_rank_4(problem, outputs, claim), std::move(rows), std::move(found.violations)});
  calls.back().call.memory = memory;
}

bool answered_case::is_wrong() const {
  return std::ranges::any_of(calls, [](judged_call const& call) { return !call.wrong.empty(); });
}

bool answered_case::is_flushed() const {
  return std::ranges::all_of(calls, [](judged_call const& each) {
    double const normal = std::ldexp(1, problem::row_of(each.call.problem.type()).format.smallest_normal());
    return std::ranges::all_of(each.wrong, [&](violation const& wrong) {
      return wrong.got == 0 && std::max(std::abs(wrong.truth_lower), std::abs(wrong.truth_upper)) <= normal;
    });
  });
}

bool ends_calls(hypothesis const& tried, answered_case const& answers) {
  return tried.reads_outside && answers.events.contains(call_event::outside) && !answers.is_wrong() &&
         std::ranges::any_of(answers.unanswered, tried.reads_outside);
}

bool concerns(hypothesis const& tried, answered_call const& call) {
  if (call.problem.draft().d_out) return can_be_supposed(call.problem) && !supposed_passes(tried, call).empty();
  return !tried.of_gradients && !tried.suppose(call, nullptr).empty();
}

fit fit_of(hypothesis const& tried, answered_case const& answers, double* worst) {
  bool concerned = false, open = false;
  double largest = 0;
  answered_call const* before = nullptr;
  auto const is_pass = [](answered_case::judged_call const& each) {
    return each.call.problem.draft().d_out.has_value();
  };
  // Beside wrong gradients, a right O says nothing of a mistake that the backward pass alone may make.
  bool const in_passes_alone = answers.is_wrong() && std::ranges::all_of(answers.calls, [&](auto const& each) {
                                 return each.wrong.empty() || is_pass(each);
                               });
  for (answered_case::judged_call const& each : answers.calls) {
    if (!is_pass(each) && in_passes_alone) continue;
    if (is_pass(each)) {
      fit const is = fit_of_pass(tried, each.call, each.wrong, largest);
      if (is == fit::refuted) return is;
      concerned |= is != fit::unconcerned, open |= is == fit::open && !each.wrong.empty();
      continue;
    }
    if (tried.of_gradients) {
      if (!each.wrong.empty()) return fit::refuted;
      continue;
    }
    auto const supposed = tried.suppose(each.call, before);
    before = &each.call;
    if (supposed.empty() && !each.wrong.empty()) return fit::refuted;
    if (supposed.empty()) continue;
    concerned = true;
    fit const is = fit_of_call(supposed, each, largest);
    if (is == fit::refuted) return is;
    open |= is == fit::open;
  }
  if (worst) *worst = std::max(*worst, largest);
  if (open) return fit::open;
  return concerned ? fit::certified : fit::unconcerned;
}

}  // namespace attest::audit
