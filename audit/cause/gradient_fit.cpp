#include "audit/cause/gradient_fit.hpp"

#include <algorithm>
#include <cmath>

#include "audit/cause/hypotheses/passes.hpp"
#include "audit/cause/near_gradient.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/unmasked_rows.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"

namespace attest::audit {
namespace {

judgement judged(answered_call const& pass) {
  return pass.from == formed_from::inputs
             ? judge_by_law(pass.problem, pass.outputs, pass.claim, {}, thoroughness::verdict)
             : judge_gradients(pass.problem, pass.outputs, pass.claim, thoroughness::verdict, pass.from);
}

answered_call const* pass_with(std::vector<answered_call> const& supposed, output_kind kind) {
  auto const at =
      std::ranges::find_if(supposed, [&](answered_call const& pass) { return pass.outputs.of(kind).has_value(); });
  return at == supposed.end() ? nullptr : &*at;
}

/// Is the number of the kernel nearer to what the hypothesis makes of the element than half of its distance to the
/// truth? A bound that is wider than their difference tells nothing.
bool explains(answered_call const& pass, answered_call const& asked, output_kind kind, violation const& wrong) {
  auto const& [b, h, i, x] = wrong.index;
  std::size_t const at = gradient_places(asked.problem, kind).row(b, h, i) + static_cast<std::size_t>(x);
  double const got = load(*asked.outputs.of(kind), at), scaled = load(*pass.outputs.of(kind), at);
  if (pass.put_right) {
    double const right = near_gradient(pass, kind, wrong.index);
    return !std::isfinite(right) || std::abs(scaled - right) <= std::abs(got - right) / 2;
  }
  double const factor = got == 0 || got == scaled ? 1 : scaled / got;  // the gradient may be scaled
  double const truth = (wrong.truth_lower / 2 + wrong.truth_upper / 2) * factor;
  double const instead = near_gradient(pass, kind, wrong.index);
  if (std::isnan(instead) && std::isfinite(scaled)) return false;
  if (!std::isfinite(truth) || !std::isfinite(scaled) || !std::isfinite(instead)) return true;
  return std::abs(scaled - instead) <= std::abs(instead - truth) / 2;
}

bool has_hidden_nan(owned_problem const& problem) {
  auto const is_finite = [](double x) { return std::isfinite(x); };
  return !all_of(problem.draft().k, is_finite) || !all_of(problem.draft().v, is_finite);
}

/// Under the convention empty_row: unmasked. Other conventions say nothing of gradients.
std::vector<answered_call> passes_under(hypothesis const& convention, answered_call const& call) {
  auto const supposed = convention.suppose(call, nullptr);
  if (supposed.size() != 1) return {};
  contract const& claim = supposed.front().claim;
  constexpr auto unmasked = conventions::row::unmasked;
  if (claim.conventions.empty_row != unmasked || call.claim.conventions.empty_row == unmasked) return {};
  auto pass = with_empty_rows_unmasked(call.problem, call.outputs);
  if (!pass) return {};
  return {{std::move(pass->problem), std::move(pass->outputs), claim}};
}

}  // namespace

std::vector<answered_call> supposed_passes(hypothesis const& tried, answered_call const& call) {
  if (tried.kind == hypothesis_kind::convention) return passes_under(tried, call);
  if (tried.of_gradients) return tried.suppose(call, nullptr);
  if (tried.kind != hypothesis_kind::problem || tried.fits_answers) return {};
  return pass_of(tried.suppose, all_gradients, call);
}

fit fit_of_pass(hypothesis const& tried, answered_call const& call, std::span<violation const> wrong, double& worst) {
  if (!can_be_supposed(call.problem)) return wrong.empty() ? fit::unconcerned : fit::open;
  // A kernel may follow a convention in the forward pass alone.
  if (wrong.empty() && tried.kind == hypothesis_kind::convention) return fit::unconcerned;
  auto const supposed = supposed_passes(tried, call);
  if (supposed.empty()) return wrong.empty() ? fit::unconcerned : fit::refuted;
  for (violation const& each : wrong)
    if (auto const kind = problem::output_named(each.output); !kind || !pass_with(supposed, *kind)) return fit::refuted;
  bool const is_precision = tried.kind == hypothesis_kind::precision;  // right gradients satisfy it, too
  for (violation const& each : wrong) {
    output_kind const kind = *problem::output_named(each.output);
    answered_call const& pass = *pass_with(supposed, kind);
    if (!is_precision && !pass.open && !explains(pass, call, kind, each))
      return has_hidden_nan(call.problem) ? fit::open : fit::refuted;
  }
  bool open = false;
  for (answered_call const& pass : supposed) {
    if (open |= pass.open; pass.open) continue;
    judgement const found = judged(pass);
    // A NaN in K or V at a hidden key: a kernel that reads it need not spoil all that it may.
    if (found.failed > 0) return has_hidden_nan(pass.problem) ? fit::open : fit::refuted;
    bool const all = found.undecided == 0 && found.not_certified == 0 && found.not_judged() <= found.judged();
    open |= !all;
    worst = std::max(worst, found.max_error_in_bounds);
  }
  return open ? fit::open : fit::certified;
}

}  // namespace attest::audit
