#include "audit/contract/gradient_presets.hpp"

namespace attest::audit {

using problem::gradient_model;
using problem::kernel_model;

gradient_model unknown_gradient(kernel_model const& forward) {
  gradient_model m;
  m.weights = problem::backward_weights::either;
  m.delta = problem::backward_delta::either;
  m.k_x = 4;  // a product by log₂ e of either term, the difference, the argument of exp
  m.c_l = 2;
  m.eps = 8 * forward.format.u;
  m.x0 = forward.format.far - 0.5;  // an exp that forms 2^n·2^r may end before the smallest normal number
  m.k_dp_base = 1;                  // Δ as the first value
  m.delta_first = true;
  m.k_delta = 1;
  m.k_e = 1;
  m.k_ds = 4;
  m.k_g = 6;
  m.k_scale = 4;  // √σ, twice
  return m;
}

gradient_model narrow_gradient(kernel_model const& forward, bool tensor_core) {
  gradient_model m = unknown_gradient(forward);
  if (tensor_core) {  // as the forward's products: 2⁻²³ for each of 2·dv + 5 roundings
    m.u_dp = m.u_acc = forward.u_qk;
    m.k_dp_per_dv = 2, m.k_dp_base = 5;
    m.k_dv = 2;
  }
  m.u_pd = m.u_ds = (1 + forward.u_p) * (1 + forward.u_v) - 1;
  m.omega_pd = m.omega_ds = forward.omega_p;
  m.ds_scaled = true;
  m.u_head = m.u_grad = forward.u_out, m.omega_head = m.omega_grad = forward.omega_out;
  m.stored_limit = forward.out_limit;
  return m;
}

}  // namespace attest::audit
