#include "audit/contract/preset_family.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attest::audit {
namespace {

struct family_row {
  std::string_view preset;
  std::array<std::string_view, 2> sharper;  ///< sharpest last; empty: none
};
constexpr std::array families{
    family_row{"f32-ring", {"f32-any", "f32"}},
    family_row{"f32-ring-sigmoid", {"f32-any", "f32"}},
    family_row{"f32-any", {"f32", "f32-ordered"}},
    family_row{"f32-split", {"f32", "f32-ordered"}},
    family_row{"f32", {"f32-ordered", ""}},
    family_row{"f16-scores", {"f32", ""}},
    family_row{"bf16-throughout", {"f32", ""}},
    family_row{"f64", {"f64-ordered", ""}},
    family_row{"f64-in-f32", {"f64", ""}},
    family_row{"bf16", {"bf16-ordered", ""}},
    family_row{"bf16-ieee", {"bf16-ieee-ordered", ""}},
    family_row{"f16-ftz", {"f16", ""}},
    family_row{"f16", {"f16-ordered", ""}},
    family_row{"f16-ieee", {"f16-ieee-ordered", ""}},
};

/// The presets of attention. Presets of one element type stand together, narrowest first.
constexpr std::array wider_attention{
    wider_preset{"f32", "keys in any order, numbers below 2^-126 flushed"},
    wider_preset{"f32-any", "lazy rescaling, or parts merged by LSE"},
    wider_preset{"f32-split", "parts combined by their LSE without a division"},
    wider_preset{"f16-scores", "scores stored in float16", true},
    wider_preset{"bf16-throughout", "bfloat16 between the steps", true},
    wider_preset{"f64", "keys in any order"},
    wider_preset{"f64-in-f32", "float32 arithmetic inside", true},
    wider_preset{"bf16-ieee", "keys in any order"},
    wider_preset{"bf16", "sums that truncate"},
    wider_preset{"f16-ieee", "keys in any order"},
    wider_preset{"f16", "sums that truncate"},
    wider_preset{"f16-ftz", "weights and outputs below 2^-14 flushed"},
};

/// These rows, and one for each preset of merges that is wider than the raw preset of its types.
std::vector<wider_preset> const& all_wider() {
  static std::vector<wider_preset> const all = [] {
    std::vector<wider_preset> rows(wider_attention.begin(), wider_attention.end());
    for (contract const& preset : contracts())
      if (is_of_merges(preset) && preset.fixed.merge != problem::split_merge::raw)
        rows.push_back({preset.name, preset.fixed.merge == problem::split_merge::lse
                                         ? "partial results merged with a division in each merge"
                                     : problem::by_sigmoid(preset.fixed.merge)
                                         ? "partial results merged by a sigmoid of the difference of two LSEs"
                                         : "partial results combined by their LSE without a division"});
    return rows;
  }();
  return all;
}

/// The presets whose numbers 0.2 changed; CHANGELOG.md says why.
constexpr std::array<std::string_view, 7> changed_in_0_2{"f32", "f32-any",   "f64",     "bf16",
                                                         "f16", "bf16-ieee", "f16-ieee"};

}  // namespace

std::vector<contract const*> sharper_presets(contract const& claim) {
  std::vector<contract const*> sharper;
  if (claim.builtin) return sharper;
  for (family_row const& row : families) {
    contract const* const preset = find_contract(row.preset);
    if (!preset || preset->type != claim.type || !(preset->fixed == claim.fixed)) continue;
    for (std::string_view const name : row.sharper)
      if (contract const* const found = name.empty() ? nullptr : find_contract(name)) sharper.push_back(found);
    return sharper;
  }
  return sharper;
}

std::vector<wider_preset> wider_presets(contract const& claim) {
  std::vector<wider_preset> beyond;
  for (wider_preset const& preset : all_wider()) {
    contract const& allowing = *find_contract(preset.name);
    bool const merges = is_of_merges(claim);
    if (allowing.type != claim.type || is_of_merges(allowing) != merges) continue;
    if (merges && allowing.fixed.u_out != claim.fixed.u_out) continue;    // for another type of the answer
    if (!claim.builtin && allowing.fixed == claim.fixed) beyond.clear();  // the presets before it are narrower
    else beyond.push_back(preset);
  }
  return beyond;
}

wider_preset const* find_wider_preset(std::string_view name) {
  auto const at = std::ranges::find(all_wider(), name, &wider_preset::name);
  return at == all_wider().end() ? nullptr : &*at;
}

std::optional<int> revision_of(contract const& claim) {
  contract const* const preset = find_contract(claim.name);
  if (!preset || !(*preset == claim)) return std::nullopt;
  return std::ranges::find(changed_in_0_2, claim.name) == changed_in_0_2.end() ? 1 : 2;
}

}  // namespace attest::audit
