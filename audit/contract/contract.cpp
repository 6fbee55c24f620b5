#include "audit/contract/contract.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <string>
#include <variant>

#include "audit/contract/gradient_presets.hpp"
#include "audit/contract/merge_presets.hpp"
#include "audit/contract/preset_models.hpp"
#include "reference/bound/declared_weights.hpp"

namespace attest::audit {
namespace {

using problem::element_type;
using problem::kernel_model;

/// Is the element 0, infinite or a NaN, or a normal number of at most so many significant bits?
template <class T>
bool has_at_most(int bits, T element) {
  constexpr problem::binary_format format = problem::format_of<T>;
  std::uint64_t const size = std::bit_cast<problem::bits_of<T>>(element) & (format.sign_bit() - 1);
  std::uint64_t const further = format.fraction_mask() >> std::min(bits - 1, format.fraction_bits);
  return size == 0 || size >= format.infinity() || (size > format.fraction_mask() && (size & further) == 0);
}

/// Is each element of V a number of this unit roundoff, a power of two, so that rounding changes none?
template <class T>
bool keeps_values(problem::instance<T> const& p, double unit) {
  int const bits = -std::ilogb(unit);
  for (std::int64_t b = 0; b < p.size().b; ++b)
    for (std::int64_t h = 0; h < p.size().hk; ++h)
      for (std::int64_t j = 0; j < p.keys(b); ++j)
        for (std::int64_t c = 0; c < p.size().dv; ++c)
          if (!has_at_most(bits, p.v()(b, h, j, c))) return false;
  return true;
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
    bool const is_narrow = problem::size_of(preset.type) == 2, stores_narrow = preset.fixed.u_p > 0 && !is_narrow;
    preset.gradient = is_narrow || stores_narrow ? narrow_gradient(preset.fixed, preset.fixed.u_qk > 0)
                                                 : unknown_gradient(preset.fixed);
  }
  for (contract& preset : all)  // gradient_for decides; what stands here is what a file without "gradient" says
    if (preset.builtin)
      preset.gradient = std::ranges::find(all, problem::name_of(preset.type), &contract::name)->gradient;
  std::ranges::move(merge_presets(), std::back_inserter(all));
  return all;
}

}  // namespace

kernel_model contract::model_for(problem::any_instance const& instance) const {
  kernel_model model = builtin ? builtin_model(instance) : fixed;
  bool const has_bits = model.u_v > 0 && reference::is_power_of_two(model.u_v);
  if (has_bits && std::visit([&](auto const& p) { return !p.d_out() && keeps_values(p, model.u_v); }, instance))
    model.u_v = 0;
  return problem::with_lse_in(conventions.lse_base, model);
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
