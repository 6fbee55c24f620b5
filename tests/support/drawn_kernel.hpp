// Kernels of the family drawn at random: every switch of one kernel, and the model that says of it what the switches
// mean. Other than known kernels (known_kernels.hpp) these combine everything that a contract may combine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "problem/element_type.hpp"
#include "problem/kernel_model.hpp"
#include "tests/support/drawn_sums.hpp"

namespace attest::tests {

enum class block_order : std::uint8_t { rising, falling, drawn };
enum class drawn_sink : std::uint8_t { none, first, end, behind };
enum class drawn_drop : std::uint8_t { none, on_p, on_o };

/// The switches. A part is a run of blocks of `block` keys at absolute indices; a lane has every lanes-th key.
struct drawn_kernel {
  using type = problem::element_type;
  std::int64_t keys = 1, d = 1, block = 1, splits = 1, lanes = 1;
  block_order order = block_order::rising;
  problem::split_merge merge = problem::split_merge::raw;
  type narrow = type::f32, out = type::f32;  ///< of P, and of O
  double exp_error = 0;                      ///< u, beside the rounding of its result
  double rescale_error = 0;                  ///< the same of exp in rescales
  double log_loss = 0;                       ///< u, absolute, of log
  sum_form products = sum_form::chain;       ///< of q·k, and with a unit of P·V
  bool sums_l_in_pairs = false;              ///< l of a block
  drawn_sink sink = drawn_sink::none;
  drawn_drop drop = drawn_drop::none;
  double tau = 0;                  ///< lazy rescaling
  double x0 = reference_infinity;  ///< where exp is cut, or blocks are skipped
  bool cuts = false, skips = false;
  bool two_passes = false, divides_first = false, by_lse = false, divides_blocks = false;
  bool fma_exponent = false;  ///< exp2(fma(s, c, −fl(M·c)))
  bool again = false;         ///< O of weights that a second pass forms, beside l of the first
  bool sums_blocks = false, reciprocal = false, truncates = false;
  bool rounds_rescales = false;  ///< every block rescales, by exp(0) ≠ 1 too
  bool shared = false;           ///< l sums the rounded weights
  bool pairwise = false;         ///< merges by LSE one after the other
  bool narrow_states = false, stores_scores = false, rounds_rate = false;
  bool returns_weights = false, returns_narrow = false, declares_reference = false;
  bool declares_unit = false, declares_accumulator = false;

  static constexpr double reference_infinity = std::numeric_limits<double>::infinity();
  std::int64_t blocks() const { return (keys + block - 1) / block; }
  std::int64_t parts() const { return std::min(splits, blocks()); }
  bool has_unit() const { return is_unit(products); }
  bool is_raw() const { return merge == problem::split_merge::raw; }
};

/// The model of the kernel alone, from its switches.
inline problem::kernel_model model_of(drawn_kernel const& w, bool has_bias) {
  using namespace problem;
  kernel_model m;
  double const u = formats::f32.u;
  auto const unit = [](element_type type) { return formats::power_of_two(-row_of(type).format.fraction_bits - 1); };
  auto const lost = [](element_type type) { return formats::power_of_two(row_of(type).format.smallest() - 1); };
  auto const largest = [](element_type type) { return formats::power_of_two(row_of(type).format.above_largest()); };
  m.format = formats::f32;
  m.zero_products = zero_products::exact;
  if (w.has_unit()) m.u_qk = m.u_pv = 2 * u;
  if (w.declares_unit) {
    m.block_fma = static_cast<int>(products_a_step(w.products)), m.alignment_bits = extra_bits(w.products);
    m.u_qk = m.u_pv = 0;
  }
  if (w.declares_accumulator) m.accumulator = accumulator::one;
  m.k_qk_base = 1, m.k_add = has_bias ? 1 : 0;
  if (w.stores_scores) m.u_s = unit(element_type::f16), m.omega_s = lost(element_type::f16), m.s_limit = 65520;
  m.e_c = (1 + u) * (1 + u) * (1 + 2 * u) * (1 + 0x1p-40) - 1, m.a_t = 8 * u;
  m.eps = (w.exp_error + 1.01) * u, m.eps_rescale = (w.rescale_error + 1.01) * u;
  m.eps_log = 4 * u, m.omega_log = w.log_loss * u;
  if (w.fma_exponent) m.k_x = 4, m.c_m = 1, m.large_scores = large_scores::unspecified, m.sink_limit = 86;
  bool const in_order = w.order != block_order::drawn && !w.two_passes;
  m.rescales = w.two_passes ? rescale_count::none : in_order ? rescale_count::per_block : rescale_count::rank_of_score;
  m.block = w.block;
  if (w.rounds_rescales) m.unchanged_rescale = unchanged_rescale::rounded;
  if (in_order) {
    m.order = key_order::index, m.least_block = 1'000'000;
    m.merges = static_cast<int>(w.lanes - 1 + (w.is_raw() ? w.parts() - 1 : 0));
  }
  m.tau = w.tau, m.x0 = w.x0;
  if (w.narrow != element_type::f32)
    m.u_p = unit(w.narrow), m.omega_p = lost(w.narrow), m.p_limit = largest(w.narrow) * (1 - m.u_p),
    m.p_shared = w.shared;
  if (w.divides_first || w.returns_narrow) m.returned_weights = returned_weights::rounded;
  m.splits = static_cast<int>(w.parts()), m.merge = w.merge;
  bool const chain = by_sigmoid(w.merge) || (w.merge == split_merge::lse && w.pairwise);
  m.merge_levels = chain ? std::max(1, m.splits - 1) : 1;
  if (w.narrow_states)
    m.u_state = unit(element_type::bf16), m.omega_state = lost(element_type::bf16), m.state_limit = 3e38;
  if (w.divides_blocks) m.k_block = 2, m.divided_block = w.block;
  m.k_f = w.reciprocal ? 2 : 1;
  if (w.divides_first) {
    m.k_pre = m.k_f, m.k_f = w.returns_weights && w.narrow == element_type::f32 ? m.k_f : 0;
    m.p_normalised = normalised_first::yes;
  }
  m.k_t = 0, m.sink_form = w.sink == drawn_sink::behind ? sink_form::rescale : sink_form::term, m.k_sink = 3;
  if (w.drop == drawn_drop::on_p) m.u_drop = m.u_p, m.omega_drop = m.omega_p;
  if (w.rounds_rate) m.u_rate = u;
  if (w.by_lse) m.normalise = normaliser::lse;
  if (w.again) m.normalise = normaliser::first_pass;
  if (w.sums_blocks) m.height = sum_height::block_local;
  if (w.sums_l_in_pairs)
    m.l_height_divisor = w.block,
    m.l_height_base = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(w.block - 1))) - 1;
  if (w.truncates) m.u_pv = 2 * u;
  if (w.declares_reference)
    m.weight_reference = w.two_passes                      ? weight_reference::whole_row
                         : w.order == block_order::rising  ? weight_reference::rising
                         : w.order == block_order::falling ? weight_reference::falling
                                                           : weight_reference::own_block;
  if (w.out != element_type::f32)
    m.u_out = unit(w.out), m.omega_out = lost(w.out), m.out_limit = largest(w.out) * (1 - m.u_out / 2);
  return m;
}

}  // namespace attest::tests
