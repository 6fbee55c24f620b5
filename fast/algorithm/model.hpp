// How the kernel rounds: its own parameters of the error bound, each with the line of code that makes it true.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "fast/algorithm/blocking.hpp"
#include "fast/algorithm/exp2.hpp"
#include "fast/algorithm/softcap.hpp"
#include "fast/algorithm/storage.hpp"
#include "problem/instance.hpp"
#include "problem/kernel_model.hpp"

namespace attest::fast {

/// The kernel model of docs/bound.md that fast::attention satisfies for numbers stored as E, on every instruction set.
///
/// B, the number of blocks, is ⌈m/block⌉: blocks lie at absolute key indices, so n visible keys may touch up to
/// min(n, ⌈m/block⌉) of them, not ⌈n/block⌉. Weights come from a second pass over the stored scores (query_block.hpp,
/// weigh_again()): theirs is the corollary for p recomputed.
template <problem::floating_element E>
constexpr problem::kernel_model model(problem::sizes const& size, bool has_bias = true) noexcept {
  using T = working<E>;
  problem::kernel_model made;
  // float_environment: subnormal numbers are read and written as 0.
  made.format = std::is_same_v<T, float> ? problem::formats::f32_flushed : problem::formats::f64_flushed;
  made.flushes = true;

  // scores() starts from 0 and takes the d products in order: a term meets d roundings with fused multiply-adds (its
  // own and those after it), and d without (its product, and at most d − 1 additions, since 0 + x is x). One more for
  // q·σ·log₂ e, the same for every σ: σ·log₂ e is held to 2^−48 (f32), 2^−100 (f64), which lies inside γ_k, since that
  // exceeds k·u by k²u².
  made.k_qk_per_d = 1;
  made.k_qk_base = 1;
  made.fold_q = true;
  made.u_qk = made.format.u;
  // softcap.inc: a relative error only. It sees a score before log₂ e is taken out of it again; that is in e_c.
  made.e_c = softcap_error<T>;
  made.a_t = 0;
  // add_bias(): log₂ e rounded to T, the product, and the addition; the conversion of an f32 bias beside f64 is exact.
  // Without fused multiply-adds the product rounds by itself.
  made.k_add = has_bias ? 1 : 0;
  made.g_b = has_bias ? 2 * made.format.u * (1 + 4 * made.format.u) : 0;

  // weigh(): one subtraction s − m, and p and the rescale factor share the float m.
  made.k_x = 1;
  made.c_m = 0;
  made.eps = exp_error<T>;
  made.x0 = exp_cutoff<T>;
  // raise(): a factor other than 1 only where a later block's maximum is larger. Never lazily.
  made.rescales = problem::rescale_count::per_block;
  made.tau = 0;

  // values() sums a block's P·V from 0 and then adds it to O; weigh() sums l in lanes (a lower tree).
  made.block = blocking_of<T>.keys;
  made.height = problem::sum_height::block_local;
  made.k_pre = 0;
  // Partial rows are rescaled and added, one after the other (merge()).
  made.splits = static_cast<int>(std::max<std::int64_t>(1, ceiling_division(size.m, blocking_of<T>.split)));
  made.merge = problem::split_merge::raw;

  // finish(): one division. log_sum_exp(): one rounding to T at the end; before it, at most 2^−53 of m·ln 2, of ln l
  // and of their sum. No libm in use has a log worse than 2 ulp.
  made.k_f = 1;
  made.k_lse = 1;
  made.eps_log = problem::formats::power_of_two(-50);

  // storage.hpp: narrow types are read exactly, and O and weights rounded once more, by half a unit of E, or of its
  // smallest subnormal; nothing between is narrow (u_p = 0).
  if constexpr (is_narrow<E>) {
    constexpr problem::binary_format stored = problem::format_of<E>;
    made.u_out = problem::formats::power_of_two(-stored.fraction_bits - 1);
    made.omega_out = problem::formats::power_of_two(stored.smallest() - 1);
  }
  return made;
}

/// The sharpest one for a given problem.
template <problem::floating_element E>
constexpr problem::kernel_model model(problem::instance<E> const& asked) noexcept {
  return model<E>(asked.size(), asked.has_bias());
}

static_assert(exp_cutoff<float> <= problem::formats::f32.largest_x0, "bound.md, H1: x0 ≤ 87.3");
static_assert(exp_cutoff<double> <= problem::formats::f64.largest_x0, "bound.md, H1: x0 ≤ 708.3");
static_assert(exp_error<float> == 2 * problem::formats::f32.u && exp_error<double> == 2 * problem::formats::f64.u);

}  // namespace attest::fast
