#include "audit/contract/preset_models.hpp"

#include "reference/bound/gamma.hpp"

namespace attest::audit {

using problem::element_type;
using problem::kernel_model;
using problem::formats::power_of_two;

namespace {

/// a_t of 1 − 2/(e^{2y} + 1) and its relatives, with exp within 8u (docs/bound.md, Lemma 1).
constexpr double exp_based_tanh(double u) { return 6 * u * (1 + power_of_two(-16)); }

}  // namespace

kernel_model unknown_f32() {
  kernel_model m;
  m.format = problem::formats::f32_flushed;
  double const u = m.format.u;
  m.k_qk_base = 5;
  m.fold_q = m.fold_k = true;
  m.folded_overflow = problem::folded_overflow::unspecified;
  m.bias_first = true;
  m.flushes = true;
  m.k_add = 2;
  m.g_b = reference::gamma(3, u);
  m.e_c = (1 + u) * (1 + u) * (1 + u) * (1 + u) * (1 + 8 * u) * (1 + power_of_two(-50)) - 1;
  m.a_t = exp_based_tanh(u);
  m.k_x = 4;
  m.c_m = 4;
  m.large_scores = problem::large_scores::unspecified;
  m.eps = 8 * u;
  m.rescales = problem::rescale_count::rank_of_score;
  m.height = problem::sum_height::in_sequence;
  m.k_pre = 2;
  m.k_block = 2;
  m.divided_block = 64;
  m.k_f = 3;
  m.u_rate = u;
  m.eps_log = 4 * u;
  m.k_lse = 3;
  return m;
}

kernel_model unknown_f32_any(int merge_levels) {
  kernel_model m = unknown_f32();
  m.tau = 5.6;
  m.merge = problem::split_merge::lse;
  m.merge_levels = merge_levels;
  if (merge_levels == 1) m.sink_form = problem::sink_form::any;
  return m;
}

kernel_model unknown_f32_sigmoids() {
  kernel_model m = unknown_f32_any(31);
  m.merge = problem::split_merge::logsigmoid;
  return m;
}

kernel_model unknown_f32_split() {
  kernel_model m = unknown_f32();
  m.merge = problem::split_merge::lse_normalised;
  m.splits = 128;
  return m;
}

kernel_model ordered(kernel_model m) {
  m.order = problem::key_order::index;
  m.least_block = 64;
  m.merges = 16;
  return m;
}

kernel_model gradual_f32() {
  kernel_model m = unknown_f32();
  m.format = problem::formats::f32;
  m.flushes = false;
  return m;
}

kernel_model f64_in_f32() {
  kernel_model m = unknown_f32();
  m.k_qk_base += 2;
  m.g_b = reference::gamma(4, m.format.u);
  m.k_pre += 1;
  return m;
}

kernel_model f16_scores() {
  kernel_model m = unknown_f32();
  problem::binary_format const format = problem::row_of(element_type::f16).format;
  m.u_s = power_of_two(-format.fraction_bits - 1);
  m.omega_s = power_of_two(format.smallest() - 1);
  constexpr double ln_2_below = 0x1.62e42fefa39efp-1;
  m.s_limit = power_of_two(format.above_largest()) * (1 - m.u_s / 2) * ln_2_below;
  return m;
}

kernel_model bf16_throughout() {
  kernel_model m = unknown_f32();
  problem::binary_format const format = problem::row_of(element_type::bf16).format;
  double const u = m.format.u, r = power_of_two(-format.fraction_bits - 1);
  double const flushed = power_of_two(format.smallest_normal());
  m.u_qk = m.u_pv = power_of_two(-23);
  m.k_qk_per_d = 2;
  m.k_qk_base = 8 * (1 << 15) + 5;
  m.g_b = reference::gamma(3, r);
  m.e_c = reference::gamma(6, r) + reference::gamma(12, u);  // 4 roundings of f32, 8u of tanh
  m.u_s = r, m.omega_s = flushed;
  m.u_p = m.u_v = r, m.omega_p = flushed;
  m.p_limit = power_of_two(format.above_largest()) * (1 - r);
  m.p_normalised = problem::normalised_first::unknown;
  m.returned_weights = problem::returned_weights::unknown;
  m.u_out = r, m.omega_out = flushed;
  m.out_limit = power_of_two(format.above_largest()) * (1 - r / 2);
  m.u_drop = r, m.omega_drop = flushed;
  m.u_sink = r, m.omega_sink = flushed;
  m.u_t = r, m.omega_t = flushed;
  m.k_lse = 3 + (1 << 16);
  return m;
}

kernel_model unknown_f64() {
  kernel_model m = unknown_f32();
  m.format = problem::formats::f64_flushed;
  double const u = m.format.u;
  m.g_b = reference::gamma(3, u);
  m.e_c = 16 * u;
  m.a_t = exp_based_tanh(u);
  m.eps = 8 * u;
  m.u_rate = u;
  m.eps_log = 4 * u;
  return m;
}

kernel_model sixteen_bit(element_type type, bool tensor_core, bool flushed) {
  problem::binary_format const format = problem::row_of(type).format;
  double const unit = power_of_two(-format.fraction_bits - 1);
  kernel_model m = unknown_f32();
  if (tensor_core) {
    m.u_qk = m.u_pv = power_of_two(-23);
    m.k_qk_per_d = 2;
    m.k_qk_base = 5;
  }
  bool const gradual = type == element_type::f16 && !flushed;
  m.u_p = unit;
  m.omega_p = power_of_two(gradual ? format.smallest() - 1 : format.smallest_normal());
  m.p_limit = power_of_two(format.above_largest()) * (1 - unit);
  m.p_normalised = problem::normalised_first::unknown;
  m.returned_weights = problem::returned_weights::unknown;
  m.u_out = unit;
  m.omega_out = power_of_two(tensor_core && !gradual ? format.smallest_normal() : format.smallest() - 1);
  m.out_limit = power_of_two(format.above_largest()) * (1 - unit / 2);
  m.u_drop = m.u_out, m.omega_drop = m.omega_out;
  m.u_sink = unit, m.omega_sink = m.omega_p;
  return m;
}

}  // namespace attest::audit
