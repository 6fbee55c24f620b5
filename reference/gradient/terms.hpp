// docs/bound_backward.md: what no row changes, and γ of its hypothesis HB5.
#pragma once

#include <cstdint>

#include "problem/gradient_model.hpp"
#include "problem/kernel_model.hpp"
#include "reference/bound/gamma.hpp"
#include "reference/gradient/gradients.hpp"

namespace attest::reference {

/// γ_k(u) where k·u ≤ 1/5 (HB5: then γ ≤ 1/4), else infinity.
constexpr double gamma_below_quarter(double k, double u) noexcept { return k * u <= 0.2 ? gamma(k, u) : infinity; }

/// 0·∞ = 0: what a bound says of nothing is nothing.
constexpr double product(double a, double b) noexcept { return a == 0 || b == 0 ? 0 : a * b; }

/// e^x − 1 from above, for x ≥ 0: x/(1 − x/2) where x < 1.
constexpr double exp_less_one_upper(double x) noexcept {
  return x < 1 ? x / (1 - x * 0.5) * (1 + 0x1p-50) : exp_upper(x);
}

/// −ln(1 − e) from above, for 0 ≤ e ≤ 1/2.
constexpr double log_loss_upper(double e) noexcept { return e <= 0.5 ? e / (1 - e) * (1 + 0x1p-50) : infinity; }

/// The models and the sizes of the problem, in the symbols of docs/bound_backward.md, section 3.
struct gradient_terms {
  problem::kernel_model forward{};
  problem::gradient_model backward{};
  gradient_mode mode = gradient_mode::own;
  double d = 0, dv = 0;
  double scale = 0, scale_off = 0, scale_upper = 0;  ///< σ = scale ± scale_off; ≥ |σ|
  double softcap = 0;
  double kept = 1, kept_off = 0, kept_upper = 1;  ///< κ = 1/(1 − p) = kept ± kept_off
  // [flushes]; ε of the backward's exp; Δ_d of dropout, κ(1 + Δ_d), and ω_drop (0 without dropout).
  double flush = 0, eps = 0, drop = 0, drop_growth = 1, omega_drop = 0;
  double gamma_x = 0, gamma_l = 0, gamma_dp = 0, theta = 0, gamma_g = 0, gamma_e = 0, u_acc = 0;
  double scale_or_one = 1;       ///< σ⁺ = max(1, |σ|)
  double limit = 0, stored = 0;  ///< Θ; the smaller of Θ and the limit of stored numbers
  bool from_lse = true, from_saved = false, delta_from_output = true, delta_from_weights = false;
  bool centred = false;  ///< Lemma 10 has form (c), without a softcap

  constexpr gradient_terms() noexcept = default;
  constexpr gradient_terms(problem::kernel_model const& how, problem::gradient_model const& back, gradient_mode which,
                           std::int64_t width, std::int64_t width_of_v) noexcept;
};

/// σ, the softcap and dropout are set by the source: they belong to the problem.
constexpr gradient_terms::gradient_terms(problem::kernel_model const& how, problem::gradient_model const& back,
                                         gradient_mode which, std::int64_t width, std::int64_t width_of_v) noexcept
    : forward(how), backward(back), mode(which), d(static_cast<double>(width)), dv(static_cast<double>(width_of_v)) {
  double const u = how.format.u;
  flush = how.flushes ? 1 : 0;
  eps = back.eps > 0 ? back.eps : how.eps;
  gamma_x = gamma_below_quarter(back.k_x, u);
  gamma_l = gamma_below_quarter(back.c_l, u);
  gamma_dp = gamma_below_quarter(back.k_dp_per_dv * dv + back.k_dp_base, back.u_dp > 0 ? back.u_dp : u);
  theta = compounded(gamma_below_quarter(back.k_ds, u), back.u_ds);
  gamma_g = gamma_below_quarter(back.k_g, u);
  gamma_e = back.k_e > 0 ? gamma_below_quarter(back.k_e, u) : 0;
  u_acc = larger(u, back.u_acc);
  limit = how.format.h0_limit;
  stored = smaller(limit, back.stored_limit);
  using problem::backward_delta, problem::backward_weights;
  // Weights of a recorded LSE rest on it alone, whatever the model also allows.
  bool const given = which != gradient_mode::own;
  from_lse = given || back.weights != backward_weights::saved;
  from_saved = !given && back.weights != backward_weights::lse;
  bool const local = which == gradient_mode::local;
  delta_from_output = local || back.delta != backward_delta::weights;
  delta_from_weights = !local && back.delta != backward_delta::output;
  centred = back.same_terms && back.delta_shared && delta_from_weights && !delta_from_output;
}

}  // namespace attest::reference
