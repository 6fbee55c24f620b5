// docs/bound.md, Lemma 8: partial results that are merged as o − σ(L_b − L)(o − o_b), σ the sigmoid. Part of
// reference/bound/terms.hpp.
#pragma once

#include "problem/kernel_model.hpp"
#include "reference/bound/gamma.hpp"
#include "reference/bound/key_parts.hpp"
#include "reference/real/outward.hpp"

namespace attest::reference {

/// ξ_j = per_Y·Y_j + rest: by how much the computed LSE of a part is off. Or Ξ_j: by how much the LSE of one merge is
/// off, beside ln(e^L + e^L_b) of what it merges.
struct lse_error {
  double per_Y = 0, rest = 0;
};

/// γ_{k'}, k' = max(k_lse, 2).
constexpr double rounded_lse(problem::kernel_model const& model) noexcept {
  return gamma(model.k_lse < 2 ? 2 : model.k_lse, model.format.u);
}
/// ξ_j = γ_{k'}(Y_j + ℓ + κ_j) + ε_log(ℓ + κ_j) + ω_log (Lemma 4).
constexpr lse_error error_of_divided_lse(problem::kernel_model const& model, double ell, double kappa_per_Y) noexcept {
  double const rounded = rounded_lse(model), of_log = rounded + model.eps_log;
  return {rounded + of_log * kappa_per_Y, of_log * ell + model.omega_log};
}

/// μ_σ: merges on a key's way, n − 1 at most where each of n parts is a key. (A merge with a part that saw nothing
/// rounds nothing: σ is 0 or 1.)
constexpr double sigmoids_on_way(problem::kernel_model const& model, double n) noexcept {
  return model.parts_are_keys ? smaller(model.merge_levels, n - 1) : model.merge_levels;
}

/// e^−x0: what a cutoff of exp may take from a weight.
constexpr double lost_by_cutoff(problem::kernel_model const& model) noexcept {
  return model.x0 < infinity ? exp_upper(-model.x0) : 0;
}

/// e_σ = 2.2·[ε̂/4 + 0.224γ_{k_x} + γ_{k_F+3} + e^−x0] + u + 4·(ω_W/e^τ): what one merge by a sigmoid adds, beside the
/// largest size of what it merges.
constexpr double sigmoid_error(problem::kernel_model const& model) noexcept {
  problem::working_format const& f = model.format;
  double const eps_hat = model.eps / (1 - model.eps);
  double const factor =
      0.25 * eps_hat + 0.224 * gamma(model.k_x, f.u) + gamma(model.k_f + 3, f.u) + lost_by_cutoff(model);
  return (2.2 * factor + f.u + 4 * f.omega_w) * (1 + 0x1p-48);
}

/// E_σ = (1 + x/(1 − x))(1 + γ_{μ'}(u_state)) − 1 with x = μ_σ·e_σ.
/// Ensures   infinity where x > 1/8 (H4)
constexpr double mixed_by_sigmoids(problem::kernel_model const& model, double sigmoids, double gamma_states) noexcept {
  double const x = sigmoids * sigmoid_error(model) * (1 + 0x1p-50);
  return x <= 0.125 ? compounded(x / (1 - x) * (1 + 0x1p-50), gamma_states) : infinity;
}

/// H4: ε̂ + γ_{k_x}·K ≤ 1/16, so that an error of an argument of σ is small beside 1.
constexpr bool sigmoids_are_sharp(problem::kernel_model const& model, double largest_argument) noexcept {
  return model.eps / (1 - model.eps) + gamma(model.k_x, model.format.u) * largest_argument <= 0.0625;
}

/// Ξ_j = γ_{k_lse}(Y_j + ℓ + κ_j) + γ_1 + 0.3γ_{k_x} + 0.55ε̂ + 0.73ε_log + e^−x0, and 2γ_{k_x+k_lse}·max_i (Y_i + ℓ +
/// κ_i) more where the LSE may be L − log σ(L − L_b).
constexpr lse_error error_of_merged_lse(problem::kernel_model const& model, double ell, double kappa_per_Y,
                                        double widest_Y) noexcept {
  double const u = model.format.u, whole = gamma(model.k_lse, u);
  double rest = whole * ell + gamma(1, u) + 0.3 * gamma(model.k_x, u) + 0.55 * model.eps / (1 - model.eps) +
                0.73 * model.eps_log + model.omega_log + lost_by_cutoff(model);
  if (model.merge == problem::split_merge::logsigmoid)
    rest += gamma(model.k_x + model.k_lse, u) * 2 * (widest_Y * (1 + kappa_per_Y) + ell);
  return {whole * (1 + kappa_per_Y), rest * (1 + 0x1p-48)};
}

/// Γ_σ = w/(1 − w), w = μ_σ·[1.04(ε̂ + 0.28γ_{k_x}) + γ_{k_F+2} + e^−x0] + 1.04γ_{k_x}X⁺ + Ξ: what sigmoids, or an LSE
/// of merges that is off by Ξ, add to a returned weight, relatively (Corollary W). `xi` is Ξ, and what rounding that
/// LSE as a reference adds.
/// Ensures   infinity where w > 1/2
constexpr double weights_by_sigmoids(problem::kernel_model const& model, double sigmoids, double near_X,
                                     double xi) noexcept {
  double const u = model.format.u, gamma_x = gamma(model.k_x, u), eps_hat = model.eps / (1 - model.eps);
  double const one = 1.04 * (eps_hat + 0.28 * gamma_x) + gamma(model.k_f + 2, u) + lost_by_cutoff(model);
  double const w = (sigmoids * one + 1.04 * gamma_x * near_X + xi) * (1 + 0x1p-48);
  return w <= 0.5 ? w / (1 - w) * (1 + 0x1p-50) : infinity;
}

}  // namespace attest::reference
