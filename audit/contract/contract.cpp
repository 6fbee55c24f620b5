#include "audit/contract/contract.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "audit/contract/gradient_presets.hpp"
#include "audit/contract/merge_presets.hpp"
#include "reference/bound/gamma.hpp"

namespace attest::audit {
namespace {

using problem::element_type;
using problem::kernel_model;
using problem::formats::power_of_two;

/// a_t of 1 − 2/(e^{2y} + 1) and its relatives, with exp within 8u (docs/bound.md, Lemma 1).
constexpr double exp_based_tanh(double u) { return 6 * u * (1 + power_of_two(-16)); }

/// The preset `f32` of docs/bound.md, section 10: any order, any blocking, merging without normalisation.
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

/// The preset `f32-any`: one level of merging, with a final division, and a sink in any form. With 63 levels and a sink
/// that is a term `f32-ring`.
kernel_model unknown_f32_any(int merge_levels = 1) {
  kernel_model m = unknown_f32();
  m.tau = 5.6;
  m.merge = problem::split_merge::lse;
  m.merge_levels = merge_levels;
  if (merge_levels == 1) m.sink_form = problem::sink_form::any;
  return m;
}

/// The preset `f32-ring-sigmoid`: 31 levels of o − σ(L_s − L)(o − o_s). (With 63 of them rows with an LSE of 10⁴ have
/// no bound: L − log σ(L − L_s) rounds numbers of that size in every merge.)
kernel_model unknown_f32_sigmoids() {
  kernel_model m = unknown_f32_any(31);
  m.merge = problem::split_merge::logsigmoid;
  return m;
}

/// The preset `f32-split`: the combine of FlashAttention-2's split keys, which weighs parts by exp(L_s − L) and divides
/// nothing. It takes at most 128 parts.
kernel_model unknown_f32_split() {
  kernel_model m = unknown_f32();
  m.merge = problem::split_merge::lse_normalised;
  m.splits = 128;
  return m;
}

/// Keys in the order of the index, or at least 64 at a time; at most 16 merges (docs/bound.md, Lemma 2, Order of
/// index).
kernel_model ordered(kernel_model m) {
  m.order = problem::key_order::index;
  m.least_block = 64;
  m.merges = 16;
  return m;
}

/// The preset `f32-gradual`: f32 without flushing.
kernel_model gradual_f32() {
  kernel_model m = unknown_f32();
  m.format = problem::formats::f32;
  m.flushes = false;
  return m;
}

/// The preset `f64-in-f32`: q, k, v and the bias are converted to float32, one rounding more for each. A term of q·k
/// holds two of these roundings, a term of O one. A number below ω that becomes 0 is a number that f32 may read as 0. A
/// number that overflows is outside the lines of H0 on q, k, b_j and Ô. The results are float32 numbers, exact in
/// float64.
kernel_model f64_in_f32() {
  kernel_model m = unknown_f32();
  m.k_qk_base += 2;
  m.g_b = reference::gamma(4, m.format.u);
  m.k_pre += 1;
  return m;
}

/// The preset `f16-scores`: finished scores (scaled, capped, with their bias) are stored in float16 once. In base 2 the
/// stored number is s·log₂ e, which passes 65520 from s = 65520·ln 2 on and underflows by ln 2·2⁻²⁵ at most.
kernel_model f16_scores() {
  kernel_model m = unknown_f32();
  problem::binary_format const format = problem::row_of(element_type::f16).format;
  m.u_s = power_of_two(-format.fraction_bits - 1);
  m.omega_s = power_of_two(format.smallest() - 1);
  constexpr double ln_2_below = 0x1.62e42fefa39efp-1;
  m.s_limit = power_of_two(format.above_largest()) * (1 - m.u_s / 2) * ln_2_below;
  return m;
}

/// The preset `bf16-throughout`: float32 tensors, and bfloat16 wherever a step of attention stores a number. The steps
/// are the conversions of the inputs, the two matrix products, scale, softcap (with tanh as one step), bias, softmax
/// and the conversion of the results. The sums of the products are float32, and may truncate. One rounding to bfloat16
/// is r = 2⁻⁸, which γ_k(2⁻²³) counts as 2¹⁵ roundings, and γ_k(2⁻²⁴) as 2¹⁶.
///   k_qk_base  8 of them: q, k, √d, σ, log₂ e, σ·log₂ e, the product with σ (or the two with its root), the store
///              before the bias; the last store is u_s. A root is formed in float32 and rounded as it is applied
///   g_b        3: the bias, log₂ e, their product
///   e_c        6: c, 1/c, the product with it, tanh, c again, the last product
///   u_p        2: a weight and an element of V. k_pre cannot hold the second, as H4 limits it
///   k_lse      1, of the LSE as it is returned
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
  m.u_p = (1 + r) * (1 + r) - 1, m.omega_p = flushed;
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

/// The same roundings in f64.
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

/// Inputs and outputs of 16 bits, f32 accumulation, weights rounded before V (docs/bound.md, section 10). Conversions
/// to f16 underflow gradually unless `flushed` (conversions of x86 ignore its flags); conversions to bf16 may flush
/// with f32.
kernel_model sixteen_bit(element_type type, bool tensor_core, bool flushed = false) {
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

std::vector<contract> make_contracts() {
  // The assumptions of every preset of an unknown kernel, said in every sentence.
  std::string const unknown =
      "exp within 4 ulp and exp(0) = 1 in rescales; tanh within 6u, as an exp-based one is; finite additive masks of "
      "any size "
      "are survived; O is divided by the sum of the weights that formed it, as they were before any rounding to a "
      "narrower type, perhaps after every block of 64 keys and more, and the LSE is formed by ln of that sum";
  std::string const f32 = unknown + "; scores to 1.5e8; numbers below 2^-126 may be flushed";
  std::string const f64 = unknown + "; scores to 7e17; numbers below 2^-1022 may be flushed";
  std::string const alone = "; no parts are merged by LSE";
  std::string const narrow = "in and out, weights rounded to it before V, before or after their division; ";
  std::string const truncating = "float32 matrix products that may truncate, IEEE float32 sums of weights; ",
                    ieee = "IEEE float32 accumulation; ";
  std::string const gradual = "; weights and outputs in float16 underflow gradually, below 2^-14 too; scores to 4.6e7";
  std::string const any = "any order and blocking; ";
  std::string const by_index =
      "keys in the order of the index (rising, falling, in groups, by lanes), or at least 64 at a time, at most 16 "
      "merges; ";
  constexpr auto bf16 = element_type::bf16, f16 = element_type::f16;
  std::vector<contract> all{
      {"f32", "float32 throughout: " + any + f32 + alone, element_type::f32, unknown_f32()},
      {"f32-any",
       "f32 that may also rescale lazily (by e^5.6 at most, where no parts are merged raw), merge parts by LSE at one "
       "level and divide at the end, or "
       "multiply O by the factor of a sink afterwards; "
       "about ten "
       "times looser: " +
           any + f32,
       element_type::f32, unknown_f32_any()},
      {"f32-split",
       "f32 with up to 128 parts that are merged by LSE without a division, as FlashAttention-2 combines split keys: " +
           any + f32,
       element_type::f32, unknown_f32_split()},
      {"f32-ring", "f32-any with up to 63 levels of merging by LSE, as in ring attention with 64 parts: " + any + f32,
       element_type::f32, unknown_f32_any(63)},
      {"f32-ring-sigmoid",
       "f32-any with up to 31 levels of merging by o - sigmoid(LSE_s - LSE)*(o - o_s), as in ring attention with 32 "
       "parts: " +
           any + f32,
       element_type::f32, unknown_f32_sigmoids()},
      {"f32-blocked",
       "the built-in kernel's own claim in float32: blocked sums, plain rescaling, exp within 2 ulp",
       element_type::f32,
       {},
       true},
      {"f32-ordered", "f32, sharper for many keys: " + by_index + f32 + alone, element_type::f32,
       ordered(unknown_f32())},
      {"f32-gradual",
       "f32 with gradual underflow, nothing flushed but results of exp: " + any + unknown + "; scores to 1.5e8" + alone,
       element_type::f32, gradual_f32()},
      {"f16-scores",
       "f32 whose scores (scaled, capped, with their bias) are stored in float16 once, with gradual underflow: " + any +
           unknown + "; scores to 45,000; numbers below 2^-126 may be flushed" + alone,
       element_type::f32, f16_scores()},
      {"bf16-throughout",
       "float32 in and out, bfloat16 inside: inputs, weights, results and all that is stored between matrix products, "
       "scale, softcap, bias and softmax is rounded to it, O once and after its division, the root of a scale as it is "
       "applied; float32 matrix products that may truncate, the softmax in IEEE float32; " +
           any + f32 + alone,
       element_type::f32, bf16_throughout()},
      {"f64", "float64 throughout: " + any + f64 + alone, element_type::f64, unknown_f64()},
      {"f64-blocked", "the built-in kernel's own claim in float64", element_type::f64, {}, true},
      {"f64-ordered", "f64, sharper for many keys: " + by_index + f64 + alone, element_type::f64,
       ordered(unknown_f64())},
      {"f64-in-f32",
       "float64 in and out, float32 inside, inputs converted by one rounding each, where they and the scale are 0, "
       "infinite, or between 2^-126 and 2^126 in size: " +
           any + f32 + alone,
       element_type::f64, f64_in_f32()},
      {"bf16", "bfloat16 " + narrow + truncating + any + f32 + alone, bf16, sixteen_bit(bf16, true)},
      {"f16", "float16 " + narrow + truncating + any + unknown + gradual + alone, f16, sixteen_bit(f16, true)},
      {"bf16-ieee", "bf16 with " + ieee + any + f32 + alone, bf16, sixteen_bit(bf16, false)},
      {"f16-ieee", "f16 with " + ieee + any + unknown + gradual + alone, f16, sixteen_bit(f16, false)},
      {"f16-ftz",
       "f16 whose weights and outputs below 2^-14 may be flushed, which says little beyond a few thousand keys: " +
           any + unknown + "; scores to 4.6e7" + alone,
       f16, sixteen_bit(f16, true, true)},
      {"bf16-ordered", "bf16, sharper for many keys: " + by_index + f32 + alone, bf16,
       ordered(sixteen_bit(bf16, true))},
      {"f16-ordered", "f16, sharper for many keys: " + by_index + unknown + gradual + alone, f16,
       ordered(sixteen_bit(f16, true))},
      {"bf16-ieee-ordered", "bf16-ordered with " + ieee + f32 + alone, bf16, ordered(sixteen_bit(bf16, false))},
      {"f16-ieee-ordered", "f16-ordered with " + ieee + unknown + gradual + alone, f16,
       ordered(sixteen_bit(f16, false))},
  };
  for (contract& preset : all) {
    bool const narrow = problem::size_of(preset.type) == 2, stores_narrow = preset.fixed.u_p > 0 && !narrow;
    preset.gradient =
        narrow || stores_narrow ? narrow_gradient(preset.fixed, preset.fixed.u_qk > 0) : unknown_gradient(preset.fixed);
  }
  for (contract& preset : all)  // gradient_for decides; what stands here is what a file without "gradient" says
    if (preset.builtin)
      preset.gradient = std::ranges::find(all, problem::name_of(preset.type), &contract::name)->gradient;
  std::ranges::move(merge_presets(), std::back_inserter(all));
  return all;
}

}  // namespace

kernel_model contract::model_for(problem::any_instance const& instance) const {
  return problem::with_lse_in(conventions.lse_base, builtin ? builtin_model(instance) : fixed);
}

problem::gradient_model contract::gradient_for(problem::any_instance const& instance) const {
  return builtin ? builtin_gradient(instance) : gradient;
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
