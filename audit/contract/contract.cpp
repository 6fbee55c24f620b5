#include "audit/contract/contract.hpp"

#include <algorithm>

#include "reference/bound/bound.hpp"

namespace attest::audit {
namespace {

using problem::element_type;
using problem::kernel_model;
using problem::formats::power_of_two;

/// The preset `f32` of docs/bound.md, section 10: any order, any blocking, merging without normalisation.
kernel_model unknown_f32() {
  kernel_model m;
  m.format = problem::formats::f32_flushed;
  double const u = m.format.u;
  m.k_qk_base = 5;
  m.fold_q = true;
  m.flushes = true;
  m.k_add = 2;
  m.g_b = reference::gamma(3, u);
  m.e_c = (1 + u) * (1 + u) * (1 + u) * (1 + u) * (1 + 8 * u) * (1 + power_of_two(-50)) - 1;
  m.a_t = 4 * u;  // known gap G6: too small for 1 - 2/(e^2y + 1)
  m.k_x = 4;
  m.c_m = 4;
  m.eps = 8 * u;
  m.rescales = problem::rescale_count::rank_of_score;
  m.height = problem::sum_height::in_sequence;
  m.k_pre = 2;
  m.k_f = 3;
  m.eps_log = 4 * u;
  m.k_lse = 3;
  return m;
}

/// The preset `f32-any`. Known gaps G9 and G11 of docs/bound.md: one level of merging, with a final division.
kernel_model unknown_f32_any() {
  kernel_model m = unknown_f32();
  m.tau = 5.6;
  m.merge = problem::split_merge::lse;
  return m;
}

/// The same roundings in f64.
kernel_model unknown_f64() {
  kernel_model m = unknown_f32();
  m.format = problem::formats::f64_flushed;
  double const u = m.format.u;
  m.g_b = reference::gamma(3, u);
  m.e_c = 16 * u;
  m.a_t = 4 * u;
  m.eps = 8 * u;
  m.eps_log = 4 * u;
  return m;
}

/// Inputs and outputs of 16 bits, f32 accumulation, weights rounded before V (docs/bound.md, section 10).
kernel_model sixteen_bit(element_type type, bool tensor_core) {
  problem::binary_format const format = problem::row_of(type).format;
  double const unit = power_of_two(-format.fraction_bits - 1);
  kernel_model m = unknown_f32();
  if (tensor_core) {
    m.u_qk = m.u_pv = power_of_two(-23);
    m.k_qk_per_d = 2;
    m.k_qk_base = 5;
  }
  m.u_p = unit;
  m.omega_p = power_of_two(format.smallest_normal());  // FTZ is permitted
  m.u_out = unit;
  m.omega_out = power_of_two(tensor_core ? format.smallest_normal() : format.smallest() - 1);
  return m;
}

std::vector<contract> make_contracts() {
  std::string const allows = "any order and blocking, exp within 4 ulp, weights below 2^-126 may be flushed";
  return {
      {"f32", "float32 throughout: " + allows, element_type::f32, unknown_f32()},
      {"f32-any", "f32 that may also rescale lazily or merge normalised parts by LSE; about ten times looser",
       element_type::f32, unknown_f32_any()},
      {"f32-blocked",
       "the built-in kernel's own claim in float32: blocked sums, plain rescaling, exp within 2 ulp",
       element_type::f32,
       {},
       true},
      {"f64", "float64 throughout: any order and blocking, exp within 4 ulp, weights below 2^-1022 may be flushed",
       element_type::f64, unknown_f64()},
      {"f64-blocked", "the built-in kernel's own claim in float64", element_type::f64, {}, true},
      {"bf16", "bfloat16 in and out, float32 accumulation that may truncate, weights rounded to bfloat16 before V",
       element_type::bf16, sixteen_bit(element_type::bf16, true)},
      {"f16", "float16 in and out, float32 accumulation that may truncate, weights rounded to float16 before V",
       element_type::f16, sixteen_bit(element_type::f16, true)},
      {"bf16-ieee", "bf16 with IEEE float32 accumulation", element_type::bf16, sixteen_bit(element_type::bf16, false)},
      {"f16-ieee", "f16 with IEEE float32 accumulation", element_type::f16, sixteen_bit(element_type::f16, false)},
  };
}

}  // namespace

kernel_model contract::model_for(problem::any_instance const& instance) const {
  return builtin ? builtin_model(instance) : fixed;
}

std::vector<contract> const& contracts() {
  static std::vector<contract> const all = make_contracts();
  return all;
}

contract const* find_contract(std::string_view name) {
  auto const at = std::ranges::find(contracts(), name, &contract::name);
  return at == contracts().end() ? nullptr : &*at;
}

contract const& default_contract(element_type type) { return *find_contract(problem::name_of(type)); }

}  // namespace attest::audit
