// Hypotheses about the edges of a band: an edge of 0 that counts as none, edges that are taken for each other, a
// diagonal that is moved, tiles at an edge that are seen whole.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

using problem::band;
using reference::inside;
using reference::saturating_add;

/// Where an entry's band is `concerned`, it shows to query i the keys j that `seen` names.
supposition sees_by(std::function<bool(band const&)> concerned,
                    std::function<bool(band const&, std::int64_t i, std::int64_t j)> seen) {
  return [concerned = std::move(concerned), seen = std::move(seen)](
             answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    if (!is_small(p) || (p.draft().band.left < 0 && p.draft().band.right < 0)) return {};
    std::vector<band> bands;
    for (std::int64_t b = 0; b < p.size().b; ++b) bands.push_back(band_of_entry(p, b));
    if (std::ranges::none_of(bands, concerned)) return {};
    problem_draft draft = p.draft();
    draft.band = {}, draft.align = 0;
    auto const open = owned_problem::of_valid(draft);
    show(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
      band const& of = bands[static_cast<std::size_t>(b)];
      return sees(open, b, h, i, j) && (concerned(of) ? seen(of, i, j) : inside(of, i, j));
    });
    return with_problem(call, std::move(draft));
  };
}

/// The band of an entry as the kernel takes it. Nothing: the mistake does not concern the band.
using other_band = std::optional<band> (*)(band of);
supposition takes_band(other_band other) {
  return sees_by([=](band const& of) { return other(of).has_value(); },
                 [=](band const& of, std::int64_t i, std::int64_t j) { return inside(*other(of), i, j); });
}

void add_zeros(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::window_edge);
  add("left-0-is-none", "a left edge of 0 counts as no left edge", takes_band([](band of) -> std::optional<band> {
        if (of.left != 0) return {};
        return band{.diagonal = of.diagonal, .right = of.right};
      }));
  add("right-0-is-none", "a right edge of 0 counts as no right edge", takes_band([](band of) -> std::optional<band> {
        if (of.right != 0) return {};
        return band{.diagonal = of.diagonal, .left = of.left};
      }));
  add("edges-0-are-none", "an edge of 0 counts as none", takes_band([](band of) -> std::optional<band> {
        if (of.left != 0 && of.right != 0) return {};
        return band{.diagonal = of.diagonal, .left = of.left ? of.left : -1, .right = of.right ? of.right : -1};
      }));
}

void add_exchanges(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::window_edge);
  add("right-edge-is-left", "a window reaches as far to the right as to the left",
      takes_band([](band of) -> std::optional<band> {
        if (of.left < 0 || of.right == of.left) return {};
        return band{.diagonal = of.diagonal, .left = of.left, .right = of.left};
      }));
  add("left-edge-is-right", "a window reaches as far to the left as to the right",
      takes_band([](band of) -> std::optional<band> {
        if (of.left < 0 || of.right < 0 || of.right == of.left) return {};
        return band{.diagonal = of.diagonal, .left = of.right, .right = of.right};
      }));
  add("edges-exchanged", "the left and the right edge of a band are exchanged",
      takes_band([](band of) -> std::optional<band> {
        if (of.right == of.left) return {};
        return band{.diagonal = of.diagonal, .left = of.right, .right = of.left};
      }));
  add("window-is-causal", "a window ends at the diagonal, whatever its right edge",
      takes_band([](band of) -> std::optional<band> {
        if (of.left < 0 || of.right == 0) return {};
        return band{.diagonal = of.diagonal, .left = of.left, .right = 0};
      }));
}

/// The band on the diagonal of the other sign.
band mirrored(band const& of) {
  return {.diagonal = -std::max(of.diagonal, -INT64_MAX), .left = of.left, .right = of.right};
}

void add_diagonals(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::causal_alignment);
  add("diagonal-from-0", "a diagonal below 0, as of more queries than keys, counts as 0",
      takes_band([](band of) -> std::optional<band> {
        if (of.diagonal >= 0) return {};
        return band{.left = of.left, .right = of.right};
      }));
  add("diagonal-to-0", "a diagonal above 0, as of more keys than queries, counts as 0",
      takes_band([](band of) -> std::optional<band> {
        if (of.diagonal <= 0) return {};
        return band{.left = of.left, .right = of.right};
      }));
  add("diagonal-without-sign", "the diagonal of a band is |m - n|, also where n > m",
      takes_band([](band of) -> std::optional<band> {
        if (of.diagonal >= 0) return {};
        return mirrored(of);
      }));
  add("diagonal-negated", "the diagonal of a band is n - m, not m - n", takes_band([](band of) -> std::optional<band> {
        if (of.diagonal == 0) return {};
        return mirrored(of);
      }));
  add("band-one-to-the-right", "a band lies one key too far to the right",
      takes_band([](band of) { return std::optional(band{saturating_add(of.diagonal, 1), of.left, of.right}); }));
  add("band-one-to-the-left", "a band lies one key too far to the left",
      takes_band([](band of) { return std::optional(band{saturating_add(of.diagonal, -1), of.left, of.right}); }));
}

/// Edges that are aligned apart, and a band that shows the other side.
void add_alignments(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::causal_alignment);
  add("left-edge-top-left", "the left edge of a window is aligned top-left",
      sees_by([](band const& of) { return of.left >= 0 && of.diagonal != 0; },
              [](band const& of, std::int64_t i, std::int64_t j) {
                return inside({.left = of.left}, i, j) && inside({.diagonal = of.diagonal, .right = of.right}, i, j);
              }));
  add("right-edge-top-left", "the right edge of a window is aligned top-left, and the left one is not",
      sees_by([](band const& of) { return of.left >= 0 && of.right >= 0 && of.diagonal != 0; },
              [](band const& of, std::int64_t i, std::int64_t j) {
                return inside({.diagonal = of.diagonal, .left = of.left}, i, j) && inside({.right = of.right}, i, j);
              }));
  add("band-reversed", "a causal band shows the keys behind the diagonal, not those before it",
      sees_by([](band const& of) { return of.right >= 0 && of.left < 0; },
              [](band const& of, std::int64_t i, std::int64_t j) { return j >= last_key(of, i); }));
}

/// Tiles of keys that an edge cuts are seen whole. The edge is the one of the query, or of the first or last query of
/// its tile.
void add_whole_tiles(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::causal_alignment),
             add_left = adds_problems_to(to, bug_class::window_edge);
  auto const has_left = [](band const& of) { return of.left >= 0; };
  auto const has_right = [](band const& of) { return of.right >= 0; };
  for (std::int64_t const tile : {2, 4, 8, 16, 32, 64, 128}) {
    auto const below = [tile](std::int64_t x) { return x - ((x % tile) + tile) % tile; };
    add(fmt::format("diagonal-tile-of-{}-unmasked", tile),
        fmt::format("the tile of {} keys with the right edge of a band is seen whole", tile),
        sees_by(has_right, [=](band const& of, std::int64_t i, std::int64_t j) {
          return inside({of.diagonal, of.left, -1}, i, j) && below(j) <= last_key(of, i);
        }));
    add(fmt::format("band-of-last-query-of-{}", tile),
        fmt::format("each query sees as far to the right as the last of its tile of {}", tile),
        sees_by(has_right, [=](band const& of, std::int64_t i, std::int64_t j) {
          return inside({of.diagonal, of.left, -1}, i, j) &&
                 inside({of.diagonal, -1, of.right}, below(i) + tile - 1, j);
        }));
    add_left(fmt::format("left-edge-tile-of-{}-unmasked", tile),
             fmt::format("the tile of {} keys with the left edge of a window is seen whole", tile),
             sees_by(has_left, [=](band const& of, std::int64_t i, std::int64_t j) {
               return inside({of.diagonal, -1, of.right}, i, j) &&
                      inside({of.diagonal, of.left, -1}, i, below(j) + tile - 1);
             }));
    add_left(fmt::format("band-of-first-query-of-{}", tile),
             fmt::format("each query sees as far to the left as the first of its tile of {}", tile),
             sees_by(has_left, [=](band const& of, std::int64_t i, std::int64_t j) {
               return inside({of.diagonal, -1, of.right}, i, j) && inside({of.diagonal, of.left, -1}, below(i), j);
             }));
  }
}

}  // namespace

void add_hypotheses_of_edges(hypothesis_list& to) {
  add_zeros(to);
  add_exchanges(to);
  add_diagonals(to);
  add_alignments(to);
  add_whole_tiles(to);
}

}  // namespace attest::audit
