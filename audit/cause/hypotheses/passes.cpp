#include "audit/cause/hypotheses/passes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "audit/judge/forward_answers.hpp"
#include "audit/support/multiplications.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "reference/real/outward.hpp"

namespace attest::audit {
namespace {

/// The gradients of `from` that are, or are not, of these kinds.
owned_outputs chosen(owned_outputs const& from, gradient_kinds const& which, bool wanted) {
  owned_outputs part;
  for (output_kind const kind : all_gradients)
    if ((std::ranges::find(which, kind) != which.end()) == wanted) part.of(kind) = from.of(kind);
  return part;
}

/// O and LSE of a forward pass of the kernel's own differ from exact ones by some roundings: of O in the type of the
/// tensors, which are many roundings of a Δ that is summed in a wider one.
void allow_own_forward(answered_call& call) {
  problem::kernel_model const forward = call.claim.model_for(call.problem.instance());
  double const of_O = 4 + 2 * unit_of(call.problem.type()) / forward.format.u;
  widen_gradients(call, [&](problem::gradient_model& model) {
    model.k_delta += static_cast<int>(of_O), model.u_lse = std::max(model.u_lse, 8 * forward.format.u);
  });
}

/// Gradients that fit their inputs here stay. Returns the others: of a broadcast bias with a number for each pair.
owned_outputs drop_other_shapes(answered_call& call) {
  owned_outputs dropped;
  for (output_kind const kind : all_gradients) {
    auto& gradient = call.outputs.of(kind);
    if (!gradient) continue;
    auto const expected = zero_gradient(call.problem, kind);
    bool const fits = expected && expected->type == gradient->type && expected->layout.rank == gradient->layout.rank &&
                      expected->layout.shape == gradient->layout.shape;
    if (!fits) dropped.of(kind) = std::exchange(gradient, std::nullopt);
  }
  return dropped;
}

/// Rows whose LSE was handed over as −∞ add nothing, whatever keys they see.
void hide_rows_without_sum(problem_draft& draft) {
  owned_problem const whole = owned_problem::of_valid(draft);
  auto const is_empty = [&](auto b, auto h, auto i) {
    return i < queries_of(whole, b) && load(*draft.handed_lse, output_row(whole, b, h, i)) == -reference::infinity;
  };
  bool any = false;
  each_query(whole, [&](auto... at) { any |= is_empty(at...); });
  if (any)
    show(draft, whole.size(),
         [&](auto b, auto h, auto i, auto j) { return !is_empty(b, h, i) && sees(whole, b, h, i, j); });
}

}  // namespace

double unit_of(problem::element_type type) {
  return problem::formats::power_of_two(-problem::row_of(type).format.fraction_bits - 1);
}

bool can_be_supposed(owned_problem const& problem) {
  constexpr double most_products = 0x1p22;
  return problem.draft().d_out && problem.rank() == 4 && problem.draft().has_slots() &&
         multiplications(problem.size()) <= most_products && is_small(problem);
}

void widen_gradients(answered_call& call, std::function<void(problem::gradient_model&)> const& widen) {
  problem::any_instance const& instance = call.problem.instance();
  call.claim.gradient = call.claim.gradient_for(instance), call.claim.fixed = call.claim.model_for(instance);
  call.claim.builtin = false;
  widen(call.claim.gradient);
}

answered_call with_handed(answered_call call) {
  if (call.problem.draft().handed_lse) return call;
  call.problem = with_forward(call.problem);
  allow_own_forward(call);
  return call;
}

bool take(answered_call& call, problem_draft draft) {
  auto made = owned_problem::make(std::move(draft));
  if (made) call.problem = std::move(made).value();
  return made.has_value();
}

pair_number over_cap(owned_problem const& problem) {
  problem_draft bare = problem.draft();
  double const cap = bare.softcap;
  bare.softcap = 0, bare.bias.reset();
  return [cap, score = score_table(owned_problem::of_valid(std::move(bare)))](auto b, auto h, auto i, auto j) {
    return score(b, h, i, j) / cap;
  };
}

pair_number log_slope(owned_problem const& problem) {
  if (!(problem.draft().softcap > 0)) return [](auto...) { return 0.0; };
  return [y = over_cap(problem)](auto b, auto h, auto i, auto j) {
    double const t = std::tanh(y(b, h, i, j));
    return std::log1p(-t * t);
  };
}

void set_scores(problem_draft& draft, pair_number const& wanted) {
  draft.softcap = 0, draft.bias.reset();
  owned_problem const bare = owned_problem::of_valid(draft);
  score_table const products(bare);
  set_bias(draft, bare.size(), [&](auto b, auto h, auto i, auto j) {
    return products.visible(b, h, i, j) ? wanted(b, h, i, j) - products(b, h, i, j) : 0.0;
  });
}

supposition in_turn(supposition first, supposition then) {
  return [first = std::move(first), then = std::move(then)](answered_call const& call, answered_call const* before) {
    auto supposed = first(call, before);
    if (supposed.empty()) return then(call, before);
    if (supposed.back().open || supposed.back().from != formed_from::inputs) return supposed;  // all are changed
    auto of_rest = then(supposed.back(), before);
    if (of_rest.empty()) return supposed;
    supposed.pop_back();
    std::ranges::move(of_rest, std::back_inserter(supposed));
    return supposed;
  };
}

supposition gradients_from(gradient_kinds which, pass_change change) {
  return [which = std::move(which), change = std::move(change)](answered_call const& call,
                                                                answered_call const*) -> std::vector<answered_call> {
    answered_call changed = call;
    changed.outputs = chosen(call.outputs, which, true);
    if (changed.outputs.empty()) return {};
    changed = with_handed(std::move(changed));
    changed.from = formed_from::handed_alone;
    if (!change(changed)) return {};
    answered_call open{call.problem, drop_other_shapes(changed), call.claim};
    if (changed.outputs.empty()) return {};
    std::vector<answered_call> all{std::move(changed)};
    if (open.open = !open.outputs.empty(); open.open) all.push_back(std::move(open));
    answered_call rest{call.problem, chosen(call.outputs, which, false), call.claim};
    if (!rest.outputs.empty()) all.push_back(std::move(rest));
    return all;
  };
}

supposition gradients_of(gradient_kinds which, draft_question change) {
  return gradients_from(std::move(which), [change = std::move(change)](answered_call& call) {
    problem_draft draft = call.problem.draft();
    return change(draft) && take(call, std::move(draft));
  });
}

supposition gradients_times(gradient_kinds which, std::function<double(owned_problem const&)> factor) {
  return [which = std::move(which), factor = std::move(factor)](answered_call const& call,
                                                                answered_call const*) -> std::vector<answered_call> {
    double const by = factor(call.problem);
    if (by == 0 || by == 1 || !std::isfinite(by) || !std::isfinite(1 / by)) return {};
    answered_call scaled = call;
    bool any = false;
    for (output_kind const kind : which) {
      auto& gradient = scaled.outputs.of(kind);
      if (!gradient) continue;
      any = true;
      for (std::size_t at = 0; at < gradient->spanned_elements(); ++at) store(*gradient, at, load(*gradient, at) / by);
    }
    if (!any) return {};
    widen_gradients(scaled, [&](problem::gradient_model& model) {  // one rounding of the factor, one of the quotient
      model.u_grad = 2 * model.u_grad + 2 * unit_of(scaled.problem.type());
    });
    return {std::move(scaled)};
  };
}

supposition gradients_at_scale(gradient_kinds which, std::function<double(owned_problem const&)> scale) {
  auto const times = gradients_times(which, [scale](owned_problem const& p) { return scale(p) / sigma_of(p); });
  return [which = std::move(which), scale = std::move(scale), times](answered_call const& call,
                                                                     answered_call const* before) {
    if (sigma_of(call.problem) != 0) return times(call, before);
    // The problem has another scale, and a bias that keeps the scores.
    return gradients_of(which, [&](problem_draft& p) {
      if (p.softcap > 0) return false;
      owned_problem const whole = owned_problem::of_valid(p);
      p.scale = scale(whole);
      problem_draft bare = p;
      bare.bias.reset();
      owned_problem const unbiased = owned_problem::of_valid(std::move(bare));
      score_table const products(unbiased);
      set_bias(p, whole.size(),
               [&](auto b, auto h, auto i, auto j) { return bias_of(whole, b, h, i, j) - products(b, h, i, j); });
      return true;
    })(call, before);
  };
}

supposition gradients_over(gradient_kinds which, problem_question concerned, pair_of_problem taken) {
  return gradients_from(
      std::move(which), [concerned = std::move(concerned), taken = std::move(taken)](answered_call& call) {
        if (!concerned(call.problem)) return false;
        owned_problem const whole = call.problem;
        problem_draft draft = whole.draft();
        show(draft, whole.size(),
             [&](auto b, auto h, auto i, auto j) { return sees(whole, b, h, i, j) && taken(whole, b, h, i, j); });
        call.problem = owned_problem::of_valid(std::move(draft));
        return true;
      });
}

std::vector<answered_call> pass_of(supposition const& forward, gradient_kinds const& which, answered_call const& call) {
  bool const own = !call.problem.draft().handed_lse;
  answered_call plain{call.problem, chosen(call.outputs, which, true), call.claim, call.given};
  if (plain.outputs.empty()) return {};
  auto supposed = forward(plain, nullptr);
  if (supposed.size() != 1) return {};
  answered_call& changed = supposed.front();
  auto const sizes = [](owned_problem const& p) {
    auto const& [b, hq, hk, n, m, d, columns] = p.size();
    return std::array{b, hq, hk, n, m, d, columns};
  };
  if (sizes(changed.problem) != sizes(call.problem) || !changed.problem.draft().d_out) return {};
  problem_draft draft = changed.problem.draft();
  draft.handed_o = call.problem.draft().handed_o, draft.handed_lse = call.problem.draft().handed_lse;
  draft.of = call.problem.draft().of, draft.d_out = call.problem.draft().d_out;
  if (!own) hide_rows_without_sum(draft);
  auto made = owned_problem::make(std::move(draft));
  if (!made) return {};
  changed.problem = std::move(made).value();
  changed.from = own ? formed_from::inputs : formed_from::handed_alone;
  drop_other_shapes(changed);
  owned_outputs rest_of_all = call.outputs;
  for (output_kind const kind : all_gradients)
    if (changed.outputs.of(kind)) rest_of_all.of(kind).reset();
  if (changed.outputs.empty()) return {};
  answered_call rest{call.problem, std::move(rest_of_all), call.claim};
  if (!rest.outputs.empty()) supposed.push_back(std::move(rest));
  return supposed;
}

supposition with_output(gradient_kinds which, problem_question concerned, output_change change) {
  return gradients_from(std::move(which), [concerned = std::move(concerned),
                                           change = std::move(change)](answered_call& call) {
    if (!concerned(call.problem)) return false;
    problem_draft draft = call.problem.draft();
    owned_tensor const o = *draft.handed_o;
    auto const columns = static_cast<std::size_t>(call.problem.size().dv);
    each_query(call.problem, [&](auto b, auto h, auto i) {
      for (std::size_t c = 0, at = output_row(call.problem, b, h, i) * columns; c < columns; ++c, ++at)
        store(*draft.handed_o, at, change(call.problem.draft(), b, h, i, static_cast<std::int64_t>(c), load(o, at)));
    });
    call.problem = owned_problem::of_valid(std::move(draft));
    // Δ is summed from numbers that were rounded to the type of O.
    double const rounded = unit_of(o.type), u = call.claim.model_for(call.problem.instance()).format.u;
    widen_gradients(call, [&](problem::gradient_model& m) { m.k_delta += static_cast<int>(2 + 2 * rounded / u); });
    return true;
  });
}

supposition with_handed_lse(gradient_kinds which, problem_question concerned, lse_change change) {
  return gradients_from(std::move(which),
                        [concerned = std::move(concerned), change = std::move(change)](answered_call& call) {
                          if (!concerned(call.problem)) return false;
                          problem_draft draft = call.problem.draft();
                          each_query(call.problem, [&](auto b, auto h, auto i) {
                            std::size_t const at = output_row(call.problem, b, h, i);
                            double const lse = load(*draft.handed_lse, at);
                            if (std::isfinite(lse)) store(*draft.handed_lse, at, change(call.problem, {b, h, i}, lse));
                          });
                          call.problem = owned_problem::of_valid(std::move(draft));
                          widen_gradients(call, [](problem::gradient_model& m) { m.c_l += 2; });
                          return true;
                        });
}

supposition with_slope(gradient_kinds which, std::function<double(double over_cap)> factor) {
  return gradients_from(std::move(which), [factor = std::move(factor)](answered_call& call) {
    if (!(call.problem.draft().softcap > 0)) return false;
    problem_draft draft = call.problem.draft();
    score_table const score(call.problem);
    pair_number const y = over_cap(call.problem);
    set_scores(draft, [&](auto... at) { return score(at...) + std::log(factor(y(at...))); });
    return take(call, std::move(draft));
  });
}

}  // namespace attest::audit
