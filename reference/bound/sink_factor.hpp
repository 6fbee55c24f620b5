// docs/bound.md, section 5, Theorem T2: the factor f by which a kernel multiplies attention over the keys alone. Part
// of reference/bound/terms.hpp; formulas-inl.hpp has what it makes of an output and of a weight.
#pragma once

#include "reference/bound/terms.hpp"

namespace attest::reference {

/// e^x − 1 ≤ x/(1 − x/2) for 0 ≤ x < 1, else ≤ e^x (E3).
constexpr double growth_of(double x) noexcept { return x < 1 ? x / (1 - x * 0.5) * (1 + 0x1p-50) : exp_upper(x); }

/// min(δ, π_⊥(e^δ − 1)) ≥ |ln(f/f′)| of f′ = 1/(1 + e^{t − LSE_K ± δ}); π_⊥e^δ ≤ e^{t − LSE_K + δ}.
constexpr double moved_factor(double delta, sink_numbers const& sink) noexcept {
  double const by_share = delta < 1 ? sink.share * growth_of(delta) : exp_upper(rounded_up(sink.above_upper + delta));
  return smaller(delta, by_share * (1 + 0x1p-50));
}

/// λ₀ = max(ω_W/e^τ of the format, e^{−x0}) ≥ what a result of exp loses by underflow, or where it is cut.
constexpr double lost_by_exp(problem::kernel_model const& model) noexcept {
  return model.x0 < infinity ? larger(model.format.omega_w, exp_upper(-model.x0)) : model.format.omega_w;
}

/// Theorem T2. Requires  terms begun, has_sink. `keys` are the terms of the row without its sink, lambda the bound of
/// its LSE
constexpr void rescale_by_sink(row_terms& terms, row_terms const& keys, double lambda, bool lambda_by_theorem,
                               sink_numbers const& sink) noexcept {
  problem::kernel_model const& model = terms.model;
  sink_factor& factor = terms.factor;
  double const slack = terms.slack;
  double const u = model.format.u, omega = model.format.omega;
  double const gx = keys.gamma_x, eps_hat_ = keys.eps_hat;
  // H0 of a sink: |t| < Θ, or far below the keys; sink_limit.
  bool const fits = sink.size < model.format.h0_limit || rounded_up(sink.above_upper + sink.E) < -terms.sunk();
  factor.judged = keys.judged && fits && terms.sink_in_range && gx < 1 && lambda < infinity;
  if (!factor.judged) return;
  double const ln_2 = 0x1.62e42fefa39f0p-1;  // rounded up
  double const lost_argument = model.flushes || model.k_x > 1 ? model.k_x * omega : 0;
  // 1/(1 + exp(t − LSE_K)): δ.
  double const inputs = lambda + sink.E;
  double const reach = larger(absolute(sink.above_lower), absolute(sink.above_upper));
  double const delta = (inputs + gx * (reach + inputs) + eps_hat_ + lost_argument) * slack;
  // LSE = max + log(1 + exp(min − max)): Ξ, its error against the exact value for the computed LSE_K and t.
  double const first = gamma(1, u) + 0.28 * gx / (1 - gx) + eps_hat_ * 0.5 + lost_argument + lost_by_exp(model);
  double const logged = first + model.eps_log * (ln_2 + first) + model.omega_log;
  double const of_keys = keys.lse_upper + lambda, of_sink = sink.size + sink.E, open = inputs * slack;
  double const largest = rounded_up(sink.above_upper + open) < 0     ? of_keys  // the maximum of both is known
                         : rounded_down(sink.above_lower - open) > 0 ? of_sink
                                                                     : larger(of_keys, of_sink);
  double const xi = (logged + gamma(model.k_lse, u) * (largest + ln_2 + logged) + 2 * omega) * slack;
  // exp(LSE_K − LSE): |ln f| ≤ max(0, t − LSE_K) + ln 2.
  double const shared = moved_factor(open, sink);
  double const ln_f = larger(0, sink.above_upper) + ln_2;
  double const by_lse = (shared + xi + gx * (ln_f + shared + xi) + eps_hat_ + lost_argument) * slack;
  double const eta = larger(moved_factor(delta, sink), by_lse);
  // f̂ ≤ e^ζ: of the first form ζ = 0.
  double const zeta = (xi * (1 + gx) + eps_hat_ + lost_argument) * slack;
  double const rounded = compounded(gamma(model.k_sink, u), model.u_sink);
  factor.excess = compounded(growth_of(zeta), rounded) * slack;
  if (eta < 1) {
    double const phi = compounded(growth_of(eta), rounded);
    factor.off = sink.left * phi * slack, factor.whole = sink.left * (1 + phi) * slack;
  } else {
    double const ln_whole = smaller(zeta, rounded_up(smaller(0, -sink.above_lower) + eta));
    factor.whole = exp_upper(ln_whole) * (1 + rounded) * slack;
    factor.off = larger(factor.whole, sink.left);
  }
  factor.lost = (lost_by_exp(model) + model.omega_sink) * (1 + rounded) * slack;
  factor.absolute = (2 * omega + (terms.drops ? model.omega_drop : 0)) * terms.kept_factor * slack;
  double const shifted = smaller(larger(lambda, sink.E), lambda + moved_factor(sink.E, sink));
  factor.lse = rounded_up((shifted + xi) * slack);
  factor.lse_by_theorem = lambda_by_theorem;
}

}  // namespace attest::reference
