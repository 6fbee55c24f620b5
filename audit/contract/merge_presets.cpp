#include "audit/contract/merge_presets.hpp"

#include <optional>
#include <string>

namespace attest::audit {
namespace {

using problem::element_type;
using problem::kernel_model;
using problem::split_merge;
using problem::formats::power_of_two;

std::string preset_name(element_type parts, element_type answer, split_merge form) {
  std::string name = "merge-" + std::string(problem::name_of(parts));
  if (parts != answer) name += '-' + std::string(problem::name_of(answer));
  switch (form) {
    case split_merge::raw: return name;
    case split_merge::lse: return name + "-ring";
    case split_merge::lse_normalised: return name + "-split";
    case split_merge::sigmoid:
    case split_merge::logsigmoid: return name + "-sigmoid";
  }
  return name;
}

/// The presets `merge-…`: the scores are exactly the LSE of the parts. The weights are relative to the largest LSE, and
/// may be divided before they meet O (docs/bound.md, section 10).
kernel_model unknown_merge(problem::working_format const& format, std::optional<element_type> answer = {}) {
  kernel_model m;
  m.format = format;
  double const u = m.format.u;
  m.k_qk_base = m.k_qk_per_d = 0;
  m.flushes = true;
  m.k_x = 3;
  m.eps = 8 * u;
  m.rescales = problem::rescale_count::rank_of_score;
  m.height = problem::sum_height::in_sequence;
  m.k_pre = 2;
  m.k_f = 3;
  m.eps_log = 4 * u;
  m.k_lse = 3;
  if (!answer) return m;
  problem::binary_format const narrow = problem::row_of(*answer).format;
  m.u_out = power_of_two(-narrow.fraction_bits - 1);
  m.omega_out = power_of_two(*answer == element_type::f16 ? narrow.smallest() - 1 : narrow.smallest_normal());
  m.out_limit = power_of_two(narrow.above_largest()) * (1 - m.u_out / 2);
  return m;
}

kernel_model model_of(element_type parts, element_type answer, split_merge form) {
  auto const& format = parts == element_type::f64 ? problem::formats::f64_flushed : problem::formats::f32_flushed;
  bool const narrow = problem::size_of(answer) == 2;
  kernel_model m = unknown_merge(format, narrow ? std::optional(answer) : std::nullopt);
  m.merge = form, m.parts_are_keys = form != split_merge::raw;
  // The most that a contract may allow, since there are as many levels as parts.
  if (form == split_merge::lse || problem::by_sigmoid(form)) m.merge_levels = 1'000'000;
  return m;
}

/// A description of what a preset admits.
std::string admitted(element_type parts, element_type answer, split_merge form) {
  std::string const ways =
      form == split_merge::raw ? "merged by their largest LSE, in any order, and divided once, before or after the sum"
      : form == split_merge::lse  ? "merged by their largest LSE with a division in each merge, one after the other or "
                                    "in any tree, as rings and "
                                    "chunks of keys are, and not rounded to a narrower type between two merges"
      : problem::by_sigmoid(form) ? "merged as o - sigmoid(LSE_s - LSE)*(o - o_s), one after the other or in any tree, "
                                    "as ring attention does, and "
                                    "not rounded to a narrower type between two merges"
                                  : "weighed by exp(LSE_s - LSE) and divided by nothing, all in one step, as "
                                    "FlashAttention-2 combines split keys";
  return "merge of " + std::string(problem::name_of(parts)) + " parts, answered in " +
         std::string(problem::name_of(answer)) + ": partial results are " + ways +
         "; LSE in natural units; exp within 4 ulp; " +
         (parts == element_type::f64 ? "float64 arithmetic; numbers below 2^-1022 may be flushed"
                                     : "float32 arithmetic; numbers below 2^-126 may be flushed") +
         (answer == element_type::f16 ? "; O in float16 underflows gradually" : "");
}

}  // namespace

std::vector<contract> merge_presets() {
  using enum element_type;
  struct types {
    element_type parts, answer;
  };
  std::vector<contract> all;
  for (split_merge const form :
       {split_merge::raw, split_merge::lse_normalised, split_merge::lse, split_merge::logsigmoid})
    for (auto const& [parts, answer] : {types{f32, f32}, {f64, f64}, {bf16, bf16}, {f16, f16}, {f32, bf16}, {f32, f16}})
      all.push_back(
          {preset_name(parts, answer, form), admitted(parts, answer, form), parts, model_of(parts, answer, form)});
  return all;
}

bool is_of_merges(contract const& claim) noexcept {
  return !claim.builtin && claim.fixed.k_qk_base == 0 && claim.fixed.k_qk_per_d == 0;
}

contract const& merge_contract(element_type type, element_type answer, split_merge form) {
  return *find_contract(preset_name(type, answer, form));
}

}  // namespace attest::audit
