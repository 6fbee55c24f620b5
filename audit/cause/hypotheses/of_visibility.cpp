// Hypotheses about mask and band.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"

namespace attest::audit {
namespace {

bool is_masked(owned_problem const& p) { return p.draft().mask.has_value(); }
problem::band const& band_of(owned_problem const& p) { return p.draft().band; }
bool is_banded(owned_problem const& p) { return band_of(p).left >= 0 || band_of(p).right >= 0; }
std::int64_t bottom_right(problem_draft const& p) { return p.k.layout.shape[2] - p.q.layout.shape[2]; }

/// The mask through `f`, a byte at a time. Requires a mask.
void map_mask(problem_draft& p, std::byte (*f)(std::byte)) {
  for (std::byte& element : p.mask->bytes) element = f(element);
}

void add_masks(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::mask_polarity);
  add("mask-ignored", "the mask is ignored", solves(is_masked, [](problem_draft& p) { p.mask.reset(); }),
      "the answer without the mask");
  add("mask-inverted", "the mask is inverted: true hides instead of attending",
      solves(is_masked,
             [](problem_draft& p) {
               map_mask(p, [](std::byte x) { return x == std::byte{0} ? std::byte{1} : std::byte{0}; });
             }),
      "the answer with the mask inverted");
  add_uses_of_the_first(to, bug_class::mask_polarity, "mask", &problem_draft::mask);
  add("mask-low-bit", "of a byte of the mask only the lowest bit counts",
      solves(is_masked, [](problem_draft& p) { map_mask(p, [](std::byte x) { return x & std::byte{1}; }); }));
}

/// Keys before the next multiple of `block` after the left edge of the first query of a block of `queries` are not
/// read.
supposition begins_with_whole_block(std::int64_t block, std::int64_t queries) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    problem::band const band = p.draft().band;
    if (band.left < 0 || !is_small(p)) return {};
    constexpr std::int64_t far = std::int64_t{1} << 40;
    std::int64_t const start = std::clamp(band.diagonal, -far, far) - std::min(band.left, far);
    bool any = false;
    problem_draft draft = p.draft();
    show(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
      std::int64_t const edge = std::max<std::int64_t>(i / queries * queries + start, 0);
      bool const seen = sees(p, b, h, i, j), read = j >= (edge + block - 1) / block * block;
      any |= seen && !read;
      return seen && read;
    });
    return any ? with_problem(call, std::move(draft)) : std::vector<answered_call>();
  };
}

}  // namespace

void add_hypotheses_of_visibility(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_band = adds_problems_to(to, bug_class::causal_alignment),
             add_edge = adds_problems_to(to, bug_class::window_edge),
             add_mask = adds_problems_to(to, bug_class::mask_polarity);
  add_masks(to);
  // --- alignment ---
  add_band("band-top-left", "the band is aligned top-left",
           solves([](owned_problem const& p) { return is_banded(p) && band_of(p).diagonal != 0; },
                  [](problem_draft& p) { p.band.diagonal = 0; }),
           "the answer with the band aligned top-left");
  add_band("band-bottom-right", "the band is aligned bottom-right",
           solves([](owned_problem const& p) { return is_banded(p) && band_of(p).diagonal != bottom_right(p.draft()); },
                  [](problem_draft& p) { p.band.diagonal = bottom_right(p); }),
           "the answer with the band aligned bottom-right");
  // --- edges ---
  auto const is_window = [](owned_problem const& p) { return band_of(p).left >= 0 && band_of(p).right >= 0; };
  auto const has_left = [](owned_problem const& p) { return band_of(p).left >= 0; };
  auto const has_right = [](owned_problem const& p) { return band_of(p).right >= 0; };
  auto const has_more_left = [](owned_problem const& p) { return band_of(p).left > 0; };
  auto const has_more_right = [](owned_problem const& p) { return band_of(p).right > 0; };
  add_edge("left-edge-outside", "the left edge of a window is outside, one key too few",
           solves(has_more_left, [](problem_draft& p) { --p.band.left; }));
  add_edge("left-one-more", "the left edge of a window is one key too far",
           solves(has_left, [](problem_draft& p) { ++p.band.left; }),
           "the answer with a window one key too far to the left");
  add_edge("right-one-more", "the right edge of a band is one key too far",
           solves(has_right, [](problem_draft& p) { ++p.band.right; }),
           "the answer with a band one key too far to the right");
  add_edge("window-right-one-more", "the right edge of a window with two edges is one key too far",
           solves(is_window, [](problem_draft& p) { ++p.band.right; }));
  add_edge("right-edge-outside", "the right edge of a band is outside, one key too few",
           solves(has_more_right, [](problem_draft& p) { --p.band.right; }));
  // j < i: a band whose diagonal lies one key to the left, except for its left edge.
  add_band("causal-strict", "a query does not see the key at its own place: j < i, not j ≤ i",
           solves([](owned_problem const& p) { return band_of(p).right == 0; },
                  [](problem_draft& p) {
                    --p.band.diagonal;
                    if (p.band.left >= 0) p.band.left = std::max<std::int64_t>(p.band.left - 1, 0);
                  }),
           "the answer with j < i, not j ≤ i");
  add_edge("edges-outside", "both edges of a window are outside",
           solves([](owned_problem const& p) { return band_of(p).left > 0 && band_of(p).right > 0; },
                  [](problem_draft& p) { --p.band.left, --p.band.right; }));
  add_edge("window-one-wider", "both edges of a window are one key too far",
           solves(is_window, [](problem_draft& p) { ++p.band.left, ++p.band.right; }),
           "the answer with a window one key too wide");
  add_edge("right-0", "the right edge of a band is always the diagonal",
           solves(has_more_right, [](problem_draft& p) { p.band.right = 0; }));
  for (std::int64_t const block : {16, 32, 64, 128})
    add_edge(
        fmt::format("window-from-whole-block-of-{}", block),
        fmt::format("a window begins with the first whole block of {} keys behind the left edge of its first query",
                    block),
        begins_with_whole_block(block, block));
  for (std::int64_t const queries : {16, 32, 64, 128})
    for (std::int64_t const block : {16, 32, 64, 128})
      if (queries != block)
        add_edge(
            fmt::format("window-from-whole-block-of-{}-by-{}", block, queries),
            fmt::format("a window begins with the first whole block of {} keys behind the left edge of the first of "
                        "{} queries",
                        block, queries),
            begins_with_whole_block(block, queries));
  for (std::int64_t const block : {8, 16, 32, 64, 128})
    add_edge(
        fmt::format("window-of-query-from-whole-block-of-{}", block),
        fmt::format("a query reads its window from the first whole block of {} keys behind the left edge on", block),
        begins_with_whole_block(block, 1));
  for (std::int64_t const block : {8, 16, 32, 64, 128})
    add_band(fmt::format("diagonal-in-blocks-of-{}", block),
             fmt::format("the diagonal of a band is rounded towards 0, to a multiple of {}", block),
             solves([=](owned_problem const& p) { return is_banded(p) && band_of(p).diagonal % block != 0; },
                    [=](problem_draft& p) { p.band.diagonal = p.band.diagonal / block * block; }));
  // --- a band, or an edge, that is not looked at ---
  add_edge("left-ignored", "the left edge of a window is ignored",
           solves(has_left, [](problem_draft& p) { p.band.left = -1; }),
           "the answer without the left edge of the band");
  add_edge("right-ignored", "the right edge of a band is ignored",
           solves(has_right, [](problem_draft& p) { p.band.right = -1; }),
           "the answer without the right edge of the band");
  add_band("band-ignored-for-one-query", "a single query sees every key: the band is ignored where n = 1",
           solves([](owned_problem const& p) { return is_banded(p) && p.size().n == 1; },
                  [](problem_draft& p) { p.band = {}; }));
  add_band("band-ignored-with-mask", "the band is ignored where there is a mask",
           solves([](owned_problem const& p) { return is_banded(p) && is_masked(p); },
                  [](problem_draft& p) { p.band = {}; }));
  add_mask("mask-ignored-with-band", "the mask is ignored where there is a band",
           solves([](owned_problem const& p) { return is_banded(p) && is_masked(p); },
                  [](problem_draft& p) { p.mask.reset(); }));
  add_band("band-ignored", "the band is ignored", solves(is_banded, [](problem_draft& p) { p.band = {}; }),
           "the answer without the band");
  add_band("band-of-first-query", "every query sees the keys of query 0",
           solves([](owned_problem const& p) { return is_banded(p) && p.size().n > 1 && is_small(p); },
                  [](problem_draft& p) {
                    auto const whole = owned_problem::of_valid(p);
                    show(p, whole.size(), [&](auto b, auto h, auto, auto j) { return sees(whole, b, h, 0, j); });
                  }));
  add_mask("mask-and-band-ignored", "mask and band are ignored",
           solves([](owned_problem const& p) { return is_banded(p) || is_masked(p); },
                  [](problem_draft& p) { p.band = {}, p.mask.reset(); }),
           "the answer without the mask and the band");
  // --- a band where none is asked ---
  auto const is_open = [](owned_problem const& p) { return band_of(p).right < 0; };
  add("causal-unasked-bottom-right", "a causal mask, aligned bottom-right, is applied where none is asked",
      solves(is_open, [](problem_draft& p) { p.band.right = 0, p.band.diagonal = bottom_right(p); }));
  add("causal-unasked-top-left", "a causal mask, aligned top-left, is applied where none is asked",
      solves(is_open, [](problem_draft& p) { p.band.right = 0, p.band.diagonal = 0; }));
}

}  // namespace attest::audit
