// The gradient model: how a backward kernel rounds, as plain data, beside the kernel model of its forward pass
// (problem/kernel_model.hpp). docs/bound_backward.md defines the symbols; reference/gradient/ evaluates the bound.
#pragma once

#include <cstdint>
#include <limits>

#include "problem/kernel_model.hpp"

namespace attest::problem {

/// From what a backward kernel forms its weights.
enum class backward_weights : std::uint8_t {
  lse,     ///< p̂ = exp(ŝ − L̂), from scores that it forms again
  saved,   ///< the weights p/l that its forward pass returned
  either,  ///< unknown
};

/// From what a backward kernel forms Δ.
enum class backward_delta : std::uint8_t {
  output,   ///< Σ_c dO_c·ô_c
  weights,  ///< Σ_j p̂_j·ŵ_j
  either,   ///< unknown
};

/// The model of a backward kernel, beside its forward's. Formats, scores, dropout and the rounding of weights before
/// they meet dO in dV (u_p, omega_p) stand in the kernel_model. k_… are numbers of roundings, u_… relative errors,
/// omega_… absolute errors in the unit of what is rounded. docs/bound_backward.md, section 9, lists the field of each
/// symbol.
struct gradient_model {
  // weights
  backward_weights weights = backward_weights::lse;
  int k_x = 1;       ///< roundings of the exponent ŝ − L̂ (3 with a product by log₂ e)
  int c_l = 0;       ///< further roundings of L̂ that all keys share (2 for fl(L̂·log₂ e))
  double eps = 0;    ///< relative error of exp; 0 = eps of the kernel_model
  double u_lse = 0;  ///< the rounding of the LSE to a narrower format
  double x0 = std::numeric_limits<double>::infinity();  ///< weights below e^(−x0) are replaced by 0
  double u_pd = 0, omega_pd = 0;  ///< the rounding of a weight before it forms dS, and Δ from weights
  bool one_pass = false;          ///< saved weights are p_j/l of the very p_j that l sums

  // dP = dO·Vᵀ
  int k_dp_base = 0;  ///< k_dp = k_dp_per_dv·dv + k_dp_base
  int k_dp_per_dv = 1;
  double u_dp = 0;                  ///< unit roundoff of these products; 0 = format.u
  double u_dps = 0, omega_dps = 0;  ///< the rounding of dP (of dP − Δ under delta_first) to a narrower format

  // Δ
  backward_delta delta = backward_delta::output;
  bool delta_shared = true;             ///< one number Δ̂_i serves all keys of row i
  bool same_terms = false;              ///< Δ from weights sums the very floats p̂_j, ŵ_j that form dS
  bool delta_first = false;             ///< −Δ̂ is the first value of the accumulator of dP
  int k_delta = 0;                      ///< roundings of Δ̂ beyond its products and additions
  double u_delta = 0, omega_delta = 0;  ///< the rounding of Δ̂ to a narrower format

  // dS, and dS times the derivative of the softcap
  int k_e = 0;                    ///< roundings of p̂·ŵ and p̂·Δ̂ where dS is their difference; 0 = p̂·(ŵ − Δ̂)
  int k_ds = 2;                   ///< roundings from ŵ − Δ̂ to dS: the difference, p̂, 1 − t̂², σ if it comes here
  double u_ds = 0, omega_ds = 0;  ///< the rounding of dS to a narrower format
  bool ds_scaled = false;         ///< perhaps behind its product with σ; dBias is formed from that, by a division
  int k_g = 2;                    ///< roundings of 1 − t̂² (6 where t̂ is found from the capped score)

  // sums: dQ over keys, dK and dV over rows
  sum_height height = sum_height::in_sequence;  ///< `declared` counts as in_sequence
  std::int64_t block = 1;                       ///< terms of a block (block_local)
  double u_acc = 0;                             ///< unit roundoff of these sums; 0 = format.u
  int k_scale = 1;  ///< roundings of the factor σ of dQ and dK, its own included (4 where √σ comes twice)
  int k_dv = 0;     ///< further roundings of a weight on its way into dV
  double u_head = 0, omega_head = 0;  ///< the rounding of each query head's dK and dV before heads are added
  std::int64_t part_keys = 0;         ///< keys after which a partial dQ is stored in its own format; 0 = never
  std::int64_t part_rows = 0;         ///< rows of one head after which a partial dK or dV is; 0 = never

  // results
  double u_grad = 0, omega_grad = 0;  ///< the rounding of gradients to their format
  /// The overflow threshold of the narrower formats above (weights, dP, Δ, dS, parts, gradients, the LSE).
  double stored_limit = std::numeric_limits<double>::infinity();

  friend constexpr bool operator==(gradient_model const&, gradient_model const&) noexcept = default;
};

}  // namespace attest::problem
