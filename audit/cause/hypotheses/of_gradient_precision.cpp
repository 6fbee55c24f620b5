// Hypotheses about the precision of a backward pass: a wider gradient model.
#include <algorithm>

#include <fmt/format.h>

#include "audit/cause/gradient_rows.hpp"
#include "audit/cause/hypotheses/passes.hpp"

namespace attest::audit {

void add_hypotheses_of_gradient_precision(hypothesis_list& to) {
  using problem::formats::power_of_two;
  auto const adds = [&to](bug_class of_class) {
    return [&to, of_class](std::string step, std::string name, std::string sentence, auto widen) {
      to.push_back({.name = std::move(name),
                    .sentence = std::move(sentence),
                    .bug_class = of_class,
                    .kind = hypothesis_kind::precision,
                    .suppose =
                        [widen](answered_call const& call, answered_call const*) {
                          answered_call wide = call;
                          widen_gradients(wide, [&](problem::gradient_model& back) { widen(wide.claim.fixed, back); });
                          return std::vector{std::move(wide)};
                        },
                    .step = std::move(step),
                    .of_gradients = true});
    };
  };
  auto const add = adds(bug_class::low_precision), add_exp = adds(bug_class::cheap_exp);
  for (auto const& [type, format] :
       {std::pair{"f16", problem::format_of<problem::f16>}, std::pair{"bf16", problem::format_of<problem::bf16>}}) {
    double const u = power_of_two(-format.fraction_bits - 1);
    double const omega = power_of_two(format.exponent_bits < 8 ? format.smallest() - 1 : format.smallest_normal());
    double const limit = power_of_two(format.above_largest()) * (1 - u);
    auto const step = [&, name = type](char const* form, char const* sentence, auto widen) {
      std::string const named = fmt::format(fmt::runtime(form), name);
      add(named, named, fmt::format(fmt::runtime(sentence), name), widen);
    };
    step("gradients-in-{}", "gradients are rounded to {}", [=](auto&, auto& g) {
      g.u_grad = std::max(g.u_grad, u), g.omega_grad = std::max(g.omega_grad, omega);
      g.stored_limit = std::min(g.stored_limit, limit);
    });
    step("dv-weights-in-{}", "weights are rounded to {} before their product with dO",
         [=](auto& f, auto&) { f.u_p = std::max(f.u_p, u), f.omega_p = std::max(f.omega_p, omega); });
    step("backward-weights-in-{}", "the weights of the backward pass are rounded to {}", [=](auto& f, auto& g) {
      f.u_p = std::max(f.u_p, u), f.omega_p = std::max(f.omega_p, omega);
      g.u_pd = std::max(g.u_pd, u), g.omega_pd = std::max(g.omega_pd, omega);
    });
    step("ds-in-{}", "dS is rounded to {}", [=](auto&, auto& g) {
      g.u_ds = std::max(g.u_ds, u), g.omega_ds = std::max(g.omega_ds, omega);
      g.stored_limit = std::min(g.stored_limit, limit);
    });
    step("delta-in-{}", "delta is stored in {}",
         [=](auto&, auto& g) { g.u_delta = std::max(g.u_delta, u), g.omega_delta = std::max(g.omega_delta, omega); });
    step("handed-lse-in-{}", "the LSE that is handed over passes through {}",
         [=](auto&, auto& g) { g.u_lse = std::max(g.u_lse, u); });
  }
  for (int const digits : {21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6}) {
    add_exp(step_of_gradient_exp, fmt::format("gradient-exp-to-2^-{}", digits),
            fmt::format("in the backward pass, exp has errors up to 2^-{} of its value", digits),
            [=](auto&, auto& g) { g.eps = std::max(g.eps, power_of_two(-digits)); });
    to.back().bounds = threshold_of::error, to.back().threshold = power_of_two(-digits);
  }
}

}  // namespace attest::audit
