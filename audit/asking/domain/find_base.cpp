// The first call that a kernel takes, from which the search for its domain goes on.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>
#include <vector>

#include "audit/asking/domain/domain_search.hpp"

namespace attest::audit {
namespace {

using scaling = domain_call::scaling;

struct lengths {
  std::int64_t n, m;
};
struct width {
  std::int64_t d, dv;
};
struct heads {
  std::int64_t hq, hk;
};

/// 384 = lcm(128, 192).
constexpr lengths likely_lengths[]{{384, 384}, {1, 384}};
constexpr lengths further_lengths[]{{768, 768}, {1024, 1024}, {128, 128}, {1, 128}, {64, 64},
                                    {16, 16},   {8, 8},       {1, 1},     {1, 1024}};
constexpr lengths telling_lengths[]{{384, 384}, {1, 384}, {384, 768}};
constexpr width latent[]{{576, 512}};
constexpr width likely_widths[]{{64, 64}, {128, 128}, {576, 512}};
constexpr width further_widths[]{{32, 32}, {16, 16}, {8, 8}, {256, 256}, {192, 128}, {80, 80}, {512, 512}};
constexpr width unequal_widths[]{{64, 128}, {128, 64}, {128, 256}, {256, 128}, {96, 128}, {32, 64}, {64, 32}};
constexpr width all_widths[]{{64, 64},   {128, 128}, {32, 32},   {16, 16}, {8, 8},     {256, 256}, {80, 80},
                             {96, 96},   {40, 40},   {112, 112}, {48, 48}, {72, 72},   {160, 160}, {192, 192},
                             {24, 24},   {56, 56},   {4, 4},     {1, 1},   {192, 128}, {128, 64},  {64, 128},
                             {128, 256}, {256, 128}, {64, 32},   {32, 64}, {96, 64},   {96, 128},  {320, 256}};
constexpr heads one_head[]{{1, 1}};
constexpr heads likely_heads[]{{1, 1}, {4, 4}, {8, 1}};
constexpr heads heads_of_latents[]{{16, 1}, {128, 1}};
constexpr heads small_groups[]{{1, 1}, {2, 1}, {3, 1}, {4, 1}};
constexpr heads further_groups[]{{8, 2}};
constexpr heads further_heads[]{{2, 2}, {8, 8}, {5, 1}, {6, 1}, {7, 1}, {16, 1}, {8, 4}, {8, 2}, {32, 8}};
constexpr band_form no_band[]{band_form::none};
constexpr band_form likely_bands[]{band_form::none, band_form::bottom_right, band_form::top_left};
constexpr band_form hiding_bands[]{band_form::bottom_right, band_form::window};
constexpr band_form all_bands[]{band_form::none, band_form::bottom_right, band_form::window, band_form::top_left};
constexpr scaling by_default[]{scaling::standard};
constexpr scaling by_number[]{scaling::stated};
constexpr scaling likely_scales[]{scaling::standard, scaling::stated};

/// Calls, one for each combination. The first axis changes slowest.
struct call_product {
  std::span<scaling const> scales;
  std::span<band_form const> bands;
  std::span<lengths const> sizes;
  std::span<width const> widths;
  std::span<heads const> of_heads;
};

/// The shapes of common kernels, the likely ones first. Before needs_from, calls with optional inputs are asked, and
/// from unusual_from on unusual shapes, in one axis and in two.
constexpr std::size_t needs_from = 4, unusual_from = 6;
constexpr call_product bases[]{
    {likely_scales, likely_bands, likely_lengths, likely_widths, likely_heads},
    {by_default, no_band, {likely_lengths + 1, 1}, latent, heads_of_latents},
    {by_default, no_band, likely_lengths, further_widths, one_head},
    {by_default, no_band, likely_lengths, unequal_widths, one_head},
    {by_default, no_band, further_lengths, likely_widths, one_head},
    {by_default, no_band, further_lengths, further_widths, one_head},
    {by_number, all_bands, telling_lengths, likely_widths, one_head},
    {by_default, all_bands, telling_lengths, all_widths, small_groups},
    {by_default, all_bands, telling_lengths, likely_widths, further_heads},
    {by_default, hiding_bands, further_lengths, likely_widths, one_head},
    {by_number, no_band, telling_lengths, all_widths, one_head},
};

/// Beside outputs that a kernel may refuse, or need, by an assertion.
constexpr call_product beside_outputs{by_default, likely_bands, likely_lengths, likely_widths, {likely_heads, 2}};
constexpr asked_outputs other_outputs[]{{.lse = false, .weights = false}, {.lse = true, .weights = true}};
constexpr call_product beside_needs{by_default, no_band, likely_lengths, likely_widths, {likely_heads + 1, 2}};
/// The same with a number as scale, in further grouped heads, with unusual widths, with a band.
constexpr call_product further_beside_needs[]{
    {by_number, no_band, likely_lengths, likely_widths, {likely_heads + 1, 1}},
    {by_default, no_band, likely_lengths, likely_widths, further_groups},
    {by_default, no_band, likely_lengths, further_widths, {likely_heads + 1, 1}},
    {by_default, hiding_bands, likely_lengths, likely_widths, {likely_heads + 1, 1}},
};

/// Asks the calls in turn until one is taken, which `base` then is.
bool takes_one_of(domain_questions& ask, call_product const& of, needed_inputs const& needs, domain_call& base,
                  asked_outputs const& asks = domain_call{}.asks) {
  for (scaling const scale : of.scales)
    for (band_form const band : of.bands)
      for (auto const& [n, m] : of.sizes)
        for (auto const& [d, dv] : of.widths)
          for (auto const& [hq, hk] : of.of_heads) {
            // With n = m, top-left and bottom-right are one form.
            if (band == band_form::top_left && n == m) continue;
            base = {{1, hq, hk, n, m, d, dv}, band, scale, false, needs, asks};
            if (ask.takes(base)) return true;
          }
  return false;
}

}  // namespace

std::vector<needed_inputs> likely_needs() {
  using enum needed_inputs::input;
  auto const of = [](std::initializer_list<needed_inputs::input> all) {
    needed_inputs needs;
    for (auto const one : all) needs.add(one);
    return needs;
  };
  std::vector<needed_inputs> all{of({k_lengths}),
                                 of({q_lengths, k_lengths}),
                                 of({mask}),
                                 of({bias}),
                                 of({mask, bias}),
                                 of({softcap}),
                                 of({sink}),
                                 of({q_offsets, k_offsets}),
                                 of({k_lengths, block_table}),
                                 of({k_lengths, q_offsets, block_table})};
  for (std::int64_t const page : {64, 32, 128, 256, 1}) all.push_back(of({k_lengths, block_table}).in_pages_of(page));
  for (std::int64_t const page : {32, 64}) all.push_back(of({k_lengths, q_offsets, block_table}).in_pages_of(page));
  return all;
}

/// A kernel that takes one query may take several, too, beside more keys.
void domain_search::add_queries_to_base() {
  domain_call several = base_;
  for (auto const& [n, m] : {lengths{384, 768}, lengths{384, 1536}}) {
    several.size.n = n, several.size.m = m;
    if (base_.size.n == 1 && ask_.takes(several)) base_ = several;
  }
}

/// Of a slow kernel the search goes on with fewer queries and keys, if it takes them.
void domain_search::make_base_smaller() {
  domain_call smaller = base_;
  for (std::int64_t* const length : {&smaller.size.n, &smaller.size.m})
    if (*length > 128 && *length % 128 == 0) *length = 128;
  if (ask_.seconds_of_answer() > 0.03 && ask_.takes(smaller)) base_ = smaller;
}

/// What the kernel needs may be the band, asked here for the first time, and not the inputs beside it.
void domain_search::drop_needless_inputs() {
  domain_call without = base_;
  without.needs = {};
  if (ask_.takes(without)) base_ = without;
}

/// A function that gets bands as a mask refuses calls without either: it needs a mask.
void domain_search::prefer_mask_to_band() {
  domain_call masked = base_;
  masked.needs.add(needed_inputs::input::mask);
  if (base_.band == band_form::none || !ask_.takes(masked)) return;
  masked.band = band_form::none;
  if (ask_.takes(masked)) base_ = masked;
}

bool domain_search::find_base() {
  auto const takes_one_beside_needs = [&](call_product const& of) {
    bool const takes = std::ranges::any_of(
        likely_needs(), [&](needed_inputs const& needs) { return takes_one_of(ask_, of, needs, base_); });
    if (takes) drop_needless_inputs();
    return takes;
  };
  for (std::size_t at = 0; at < std::size(bases); ++at) {
    if (at == needs_from) {
      // A kernel that refuses an output by its status is asked without at once.
      if (!ask_.answers().failed.empty())
        for (asked_outputs const& asks : other_outputs)
          if (takes_one_of(ask_, beside_outputs, {}, base_, asks)) return true;
      if (takes_one_beside_needs(beside_needs)) return true;
    }
    domain_answers const& met = ask_.answers();
    if (at == unusual_from) {
      if (met.failed.empty() && met.erred.empty() && met.died.empty() && gives_up_()) return false;
      if (std::ranges::any_of(further_beside_needs, takes_one_beside_needs)) return true;
    }
    if (takes_one_of(ask_, bases[at], {}, base_)) {
      prefer_mask_to_band();
      return true;
    }
  }
  return false;
}

}  // namespace attest::audit
