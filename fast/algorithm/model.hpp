// The roundings of the kernel: its parameters of the error bound, each with the code that makes it true.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "fast/algorithm/blocking.hpp"
#include "fast/algorithm/exp2.hpp"
#include "fast/algorithm/logarithm.hpp"
#include "fast/algorithm/softcap.hpp"
#include "fast/algorithm/storage.hpp"
#include "problem/instance.hpp"
#include "problem/kernel_model.hpp"

namespace attest::fast {

/// The kernel model of docs/bound.md that fast::attention satisfies for numbers stored as E, on every SIMD target.
///
/// B, the number of key blocks, is ⌈m/block⌉: blocks lie at absolute key indices, so n visible keys may touch up to
/// min(n, ⌈m/block⌉) of them, not ⌈n/block⌉. Weights come from a second pass over the stored scores (query_block.hpp,
/// recompute_weights()), so the corollary for recomputed p applies to them.
template <problem::floating_element E>
constexpr problem::kernel_model model(problem::sizes const& size, bool has_bias = true) noexcept {
  using T = working<E>;
  problem::kernel_model result;
  // float_environment.hpp: subnormal numbers are read and written as 0.
  result.format = std::is_same_v<T, float> ? problem::formats::f32_flushed : problem::formats::f64_flushed;
  result.flushes = true;

  // scores() starts from 0 and adds the d products in order: a term meets d roundings with fused multiply-adds (its
  // own and those after it), and d without (its product, and at most d − 1 additions, since 0 + x is x). There is one
  // more for q·σ·log₂ e, whatever σ is: σ·log₂ e has a relative error of 2^−48 (f32) or 2^−100 (f64), which γ_k covers,
  // since γ_k exceeds k·u by k²u².
  result.k_qk_per_d = 1;
  result.k_qk_base = 1;
  // Products with a folded 0 are 0, and a + 0 is a: neither rounds. base counts the rounding of q·σ·log₂ e alone.
  result.zero_products = problem::zero_products::exact;
  result.fold_q = true;
  result.u_qk = result.format.u;
  // softcap(): a relative error only. Its scores are in units of log₂, and e_c covers the conversion too.
  result.e_c = softcap_error<T>;
  result.a_t = 0;
  // add_bias(): the rounding of log₂ e to T, the product and the addition. The conversion of an f32 bias for f64 is
  // exact. Without fused multiply-adds the product is a rounding of its own.
  result.k_add = has_bias ? 1 : 0;
  result.g_b = has_bias ? 2 * result.format.u * (1 + 4 * result.format.u) : 0;

  // exponentiate(): one subtraction s − m; p and the rescaling factor use the same float m.
  result.k_x = 1;
  result.c_m = 0;
  result.eps = exp_error<T>;
  result.x0 = exp_cutoff<T>;
  // update_max(): the factor is 1 unless the key block's maximum is larger. Rescaling is never lazy.
  result.rescales = problem::rescale_count::per_block;
  result.tau = 0;

  // values() sums a key block's P·V from 0 and then adds it to O; exponentiate() sums l in lanes (a lower tree).
  result.block = blocking_of<T>.keys;
  result.height = problem::sum_height::block_local;
  result.k_pre = 0;
  // merge(): partial rows are rescaled and added, one after the other.
  result.splits = static_cast<int>(std::max<std::int64_t>(1, ceiling_division(size.m, blocking_of<T>.split)));
  result.merge = problem::split_merge::raw;

  // A sink t is absorbed behind all keys like one more key block with one key (sink.hpp). In addition to what the key
  // blocks cost, l gets one rescale and one addition, O one rescale, and t sink_roundings<T> on its way into units of
  // log₂. The kernel model has no fields for that yet.

  // finish(): one division. log_sum_exp(): one rounding to T at the end; before it, relative errors of at most 2^−53 in
  // m·ln 2 and their sum, and log_error in ln l.
  result.k_f = 1;
  result.k_lse = 1;
  result.eps_log = 2 * log_error;

  // storage.hpp: narrow types are read exactly, and O and weights are rounded once more, by half a unit of E, or of its
  // smallest subnormal; no number between is narrow (u_p = 0).
  if constexpr (is_narrow<E>) {
    constexpr problem::binary_format stored = problem::format_of<E>;
    result.u_out = problem::formats::power_of_two(-stored.fraction_bits - 1);
    result.omega_out = problem::formats::power_of_two(stored.smallest() - 1);
  }
  return result;
}

/// The sharpest model for a given problem.
template <problem::floating_element E>
constexpr problem::kernel_model model(problem::instance<E> const& instance) noexcept {
  return model<E>(instance.size(), instance.has_bias());
}

/// The kernel model of fast::attention on numbers stored as bf16 with bf16_arithmetic::dot_products or tile_products.
///
/// Two numbers of bf16 have a product of 16 bits, which f32 holds. An instruction for a pair of them is two
/// multiply-adds, each rounded once (simd/bf16_pairs.hpp). Hence a sum of d products is one chain of d multiply-adds,
/// whatever their order. So is a sum of P·V over a key block, and both meet as many roundings as in model<bf16>. A
/// number of a chunk of 32 in tiles (simd/bf16_tiles.hpp) meets 15 in its chain, one where the chains meet and one for
/// each chunk except the first: never more than there are numbers. The underflow of two additions for each chunk is
/// among the 2d losses that the bound counts. These fields differ:
constexpr problem::kernel_model dot_product_model(problem::sizes const& size, bool has_bias = true) noexcept {
  using problem::bf16, problem::formats::power_of_two;
  constexpr problem::binary_format stored = problem::format_of<bf16>;
  static_assert(2 * (stored.fraction_bits + 1) <= problem::format_of<float>.fraction_bits + 1, "products are exact");
  problem::kernel_model result = model<bf16>(size, has_bias);
  // A pair that is filled up with 0 adds 0·0, exactly. Then scores are multiplied by σ·log₂ e, rounded to f32.
  result.k_qk_per_d = 1;
  result.k_qk_base = 2;
  result.fold_q = false;
  // bf16_pair_operations::narrow: weights are rounded for their product with V alone, relative to the running maximum.
  result.u_p = power_of_two(-stored.fraction_bits - 1);
  result.omega_p = power_of_two(stored.smallest_normal());
  result.p_limit = power_of_two(stored.above_largest()) * (1 - result.u_p);
  result.weight_reference = problem::weight_reference::rising;
  return result;
}

constexpr problem::kernel_model dot_product_model(problem::instance<problem::bf16> const& instance) noexcept {
  return dot_product_model(instance.size(), instance.has_bias());
}

/// The roundings of fast::merge, for parts stored as E: n of the bound is the number of parts. Each output type adds
/// its own rounding, if it is not the working type.
template <problem::floating_element E>
inline constexpr problem::kernel_model merge_model = [] {
  using T = working<E>;
  problem::kernel_model result;
  result.format = std::is_same_v<T, float> ? problem::formats::f32 : problem::formats::f64;
  // Scores are the LSE of the parts, exactly. (LSE_s − M)·log₂ e: the difference, log₂ e in T, and the product; M is
  // the largest LSE of all parts before the first weight is formed, so nothing is rescaled.
  result.k_qk_base = result.k_qk_per_d = 0;
  result.k_x = 3;
  result.c_m = 0;
  result.eps = exp_error<T>;
  result.x0 = exp_cutoff<T>;
  result.rescales = problem::rescale_count::none;
  // add_multiple(): one chain of multiply-adds from 0 for O. l is summed in lanes. Both are S − 1 additions at most.
  result.height = problem::sum_height::in_sequence;
  result.k_pre = 0;
  // finish(): one division. The LSE is the result of log_sum_exp() without a change of units.
  result.k_f = 1;
  result.k_lse = 1;
  result.eps_log = 2 * log_error;
  return result;
}();

static_assert(exp_cutoff<float> <= problem::formats::f32.largest_x0, "bound.md, H1: x0 ≤ 87.3");
static_assert(exp_cutoff<double> <= problem::formats::f64.largest_x0, "bound.md, H1: x0 ≤ 708.3");
static_assert(exp_error<float> == 2 * problem::formats::f32.u && exp_error<double> == 2 * problem::formats::f64.u);

}  // namespace attest::fast
