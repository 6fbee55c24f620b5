// How the kernel rounds: its own parameters of the error bound, each with the line of code that makes it true.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "fast/blocking.hpp"
#include "fast/exp.hpp"
#include "problem/instance.hpp"
#include "problem/kernel_model.hpp"

namespace attest::fast {

/// Multiplying by x rounds nothing but what underflows: x = ±2^k or 0.
constexpr bool is_power_of_two(double x) noexcept {
  return (std::bit_cast<std::uint64_t>(x) & ((std::uint64_t{1} << 52) - 1)) == 0;
}

/// Roundings between the finished dot product and the score: σ̂ and the multiplication (score_scale::apply).
template <std::floating_point T>
constexpr int scale_roundings(std::int64_t d, std::optional<double> const& explicit_scale) noexcept {
  if (explicit_scale) {
    if (is_power_of_two(*explicit_scale)) return 0;
    // Applied in double, an f32 score takes one rounding of 2^−53 and one of 2^−24.
    double const largest = static_cast<double>(std::numeric_limits<T>::max());
    bool const fits = -largest <= *explicit_scale && *explicit_scale <= largest;
    return fits && static_cast<double>(static_cast<T>(*explicit_scale)) == *explicit_scale ? 1 : 2;
  }
  // d = 4^k: 1/√d is a power of two, and sqrt and division are exact.
  if (d > 0 && std::has_single_bit(static_cast<std::uint64_t>(d)) &&
      std::countr_zero(static_cast<std::uint64_t>(d)) % 2 == 0)
    return 0;
  // f32: σ̂ = float(1/√d in double) errs by u + 2^−51 at most, and the 2^−51 is inside γ_k, which exceeds k·u by k²u²
  // (k ≥ 3 here). f64: sqrt and division round once each.
  return std::is_same_v<T, float> ? 2 : 3;
}

/// The kernel model of docs/bound.md that fast::attention<T> satisfies.
///
/// B, the number of blocks, is ⌈m/block⌉: blocks lie at absolute key indices, so n visible keys may touch up to
/// min(n, ⌈m/block⌉) of them, not ⌈n/block⌉. Weights come from a second pass over the stored scores (query_block.hpp,
/// answer()): theirs is the corollary for p recomputed.
template <std::floating_point T>
constexpr problem::kernel_model model(problem::sizes const& size, bool has_bias = true,
                                      std::optional<double> const& explicit_scale = {}) noexcept {
  problem::kernel_model made;
  made.format = std::is_same_v<T, float> ? problem::formats::f32 : problem::formats::f64;

  // product() starts from 0 and adds products in sequence: a term meets its product and at most d − 1 additions.
  made.k_qk_per_d = 1;
  made.k_qk_base = scale_roundings<T>(size.d, explicit_scale);
  made.u_qk = made.format.u;
  // query_rules::add_bias: one addition; the conversion of an f32 bias beside f64 is exact, so g_b = 0.
  made.k_add = has_bias ? 1 : 0;
  made.g_b = 0;

  // machine_arithmetic::weight(s, m) = exp(s − m): one subtraction, and p and the rescale factor share the float m.
  made.k_x = 1;
  made.c_m = 0;
  made.eps = exp_error<T>;
  made.x0 = exp_cutoff<T>;
  // raise(): a factor only where a later block's maximum is larger. Never lazily.
  made.rescales = problem::rescale_count::per_block;
  made.tau = 0;

  // product() sums a block's P·V from 0, reduce() its l in lanes (a lower tree); absorb_values() adds blocks in order.
  made.block = blocking_of<T>.keys;
  made.height = problem::sum_height::block_local;
  made.k_pre = 0;
  made.splits = 1;

  // finish(): one division. plus_log(): a log in double, an addition in double, and one rounding to T; the addition's
  // own 2^−53 is inside γ_1 for f32, and for f64 it is the rounding. No libm in use has a log worse than 2 ulp.
  made.k_f = 1;
  made.k_lse = 1;
  made.eps_log = problem::formats::power_of_two(-51);
  // float_environment: gradual underflow, whatever the caller had set.
  made.flushes = false;
  return made;
}

/// The sharpest one for a given problem.
template <std::floating_point T>
constexpr problem::kernel_model model(problem::instance<T> const& asked) noexcept {
  return model<T>(asked.size(), asked.has_bias(), asked.scale());
}

static_assert(exp_cutoff<float> <= problem::formats::f32.largest_x0, "bound.md, H1: x0 ≤ 87.3");
static_assert(exp_cutoff<double> <= problem::formats::f64.largest_x0, "bound.md, H1: x0 ≤ 708.3");
static_assert(exp_error<float> == 2 * problem::formats::f32.u && exp_error<double> == 2 * problem::formats::f64.u);

}  // namespace attest::fast
