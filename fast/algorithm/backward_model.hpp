// The roundings of the backward kernel: its parameters of the error bound of gradients, each with the code that makes
// it true.
#pragma once

#include <type_traits>

#include "fast/algorithm/blocking.hpp"
#include "fast/algorithm/exp2.hpp"
#include "fast/algorithm/storage.hpp"
#include "problem/gradient_model.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

/// The facts of a problem that add roundings to its gradients.
struct gradient_features {
  bool softcap = false, dropout = false;
};

/// The gradient model that fast::attention_backward satisfies for numbers stored as E, on every SIMD target, beside
/// model<E> for the scores: it forms the very scores of fast::attention.
template <problem::floating_element E>
constexpr problem::gradient_model backward_model(gradient_features const& has) noexcept {
  using T = working<E>;
  constexpr bool f32 = std::is_same_v<T, float>;
  problem::gradient_model result;

  // gradient_weights(): p = 2^(s − L) with one subtraction, for scores and L in units of log₂.
  result.weights = problem::backward_weights::lse;
  result.k_x = 1;
  // lse_in_log2(): L·log₂ e, one number for all keys. f32: formed in f64 and rounded once; before that, the product and
  // log₂ e cost 2^−52, which γ_1 covers, since γ_1 exceeds u by u². (It does so by 2^−48.) f64: log₂ e and the product.
  result.c_l = f32 ? 1 : 2;
  result.eps = exp_error<T>;
  result.x0 = exp_cutoff<T>;

  // operations::scores forms dO·Vᵀ as it forms scores: a chain of dv multiply-adds from 0, so a term meets dv roundings
  // with fused multiply-adds, and dv without (its product, and at most dv − 1 additions: 0 + x is x). drop() multiplies
  // by 1/(1 − p), rounded.
  result.k_dp_per_dv = 1;
  result.k_dp_base = has.dropout ? 2 : 0;

  // gradient_operations::dot: dv products in lanes; whatever the lanes, a term meets at most dv − 1 additions that
  // round.
  result.delta = problem::backward_delta::output;
  result.delta_shared = true;
  result.k_delta = 0;

  // gradient_weights(): dP − Δ, and its product with p. multiply_by(): the product with 1 − t².
  result.k_e = 0;
  result.k_ds = has.softcap ? 3 : 2;
  // softcap_and_slope(): t² and 1 − t², one rounding with fused multiply-adds, from the tanh itself.
  result.k_g = 2;

  // operations::values sums dS·K over a key block from 0 and then adds it to dQ; transposed_values() does the same with
  // Pᵀ·dO and dSᵀ·Q over a block of rows of the kv head, of all its query heads. Blocks of both lie at absolute
  // indices.
  result.height = problem::sum_height::block_local;
  result.block = blocking_of<T>.keys;
  // write_row(): σ rounded to T, and the product.
  result.k_scale = 2;
  // drop(): 1/(1 − p), and the product.
  result.k_dv = has.dropout ? 2 : 0;

  // storage.hpp: narrow types are read exactly, and gradients rounded once, by half a unit of E or of its smallest
  // subnormal.
  if constexpr (is_narrow<E>) {
    constexpr problem::binary_format stored = problem::format_of<E>;
    result.u_grad = problem::formats::power_of_two(-stored.fraction_bits - 1);
    result.omega_grad = problem::formats::power_of_two(stored.smallest() - 1);
    result.stored_limit = problem::formats::power_of_two(stored.above_largest()) * (1 - result.u_grad);
  }
  return result;
}

/// The sharpest model for a given problem.
template <problem::floating_element E>
constexpr problem::gradient_model backward_model(problem::instance<E> const& instance) noexcept {
  return backward_model<E>({instance.softcap() > 0, bool(instance.keep())});
}

}  // namespace attest::fast
