// Hypotheses about tiles of queries: what one query of a tile, or a corner of it, decides for all.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

/// A tile: so many queries, so many keys.
struct tile_sizes {
  std::int64_t queries, keys;
};
std::int64_t first_of(std::int64_t i, std::int64_t tile) { return i / tile * tile; }
/// The last query of entry b in the tile of query i.
std::int64_t last_of(owned_problem const& p, std::int64_t b, std::int64_t i, std::int64_t tile) {
  return std::min(first_of(i, tile) + tile, queries_of(p, b)) - 1;
}

/// Key j is visible to query i as `seen` says, in place of mask and band. Returns nothing if that changes nothing.
using tile_sight =
    std::function<bool(owned_problem const&, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)>;
supposition sees_in_tiles(std::function<bool(owned_problem const&)> concerned, tile_sight seen) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    if (!is_small(p) || !concerned(p)) return {};
    return with_sight(call, [&](auto b, auto h, auto i, auto j) { return seen(p, b, h, i, j); });
  };
}

/// O and l of every row of a tile are rescaled by what the first row of the tile needs.
supposition rescales_as_first(tile_sizes tile) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m <= tile.keys || p.size().n < 2) return {};
    score_table const score(p);
    // By how much the maximum rises behind the tile of key j.
    auto const rises = [&](auto b, auto h, auto i, auto j) {
      double const here = score.largest(b, h, i, 0, first_of(j, tile.keys) + tile.keys);
      return std::isfinite(here) ? score.largest(b, h, i) - here : 0.0;
    };
    double gained = 0;
    return with_gains(call, [&](auto b, auto h, auto i, auto j) {
      if (j % tile.keys == 0) {
        gained = rises(b, h, i, j) - rises(b, h, first_of(i, tile.queries), j);
        if (!std::isfinite(gained)) gained = 0;
      }
      return gained;
    });
  };
}

void add_bands(hypothesis_list& to, tile_sizes tile) {
  auto const add = adds_problems_to(to, bug_class::causal_alignment),
             add_window = adds_problems_to(to, bug_class::window_edge);
  auto const has_right = [](owned_problem const& p) { return p.draft().band.right >= 0; };
  auto const has_left = [](owned_problem const& p) { return p.draft().band.left >= 0; };
  add(fmt::format("loop-of-first-query-of-{}-by-{}", tile.queries, tile.keys),
      fmt::format("tiles of {} queries end with the tile of {} keys that the right edge of their first query reaches",
                  tile.queries, tile.keys),
      sees_in_tiles(has_right, [=](owned_problem const& p, auto b, auto h, auto i, auto j) {
        std::int64_t const last = last_key(band_of_entry(p, b), first_of(i, tile.queries));
        return sees(p, b, h, i, j) && first_of(j, tile.keys) <= last;
      }));
  add(fmt::format("right-edge-in-last-tile-of-{}-by-{}", tile.queries, tile.keys),
      fmt::format("of the tiles of {1} keys that {0} queries reach, the right edge hides keys in the last one alone",
                  tile.queries, tile.keys),
      sees_in_tiles(has_right, [=](owned_problem const& p, auto b, auto h, auto i, auto j) {
        problem::band of = band_of_entry(p, b);
        std::int64_t const last = last_of(p, b, i, tile.queries);
        if (j < first_of(std::max<std::int64_t>(last_key(of, last), 0), tile.keys)) of.right = -1;
        return sees_in_band(p, of, b, h, i, j);
      }));
  add_window(
      fmt::format("window-of-last-query-of-{}-by-{}", tile.queries, tile.keys),
      fmt::format("tiles of {} queries begin with the tile of {} keys in which the window of their last query begins",
                  tile.queries, tile.keys),
      sees_in_tiles(has_left, [=](owned_problem const& p, auto b, auto h, auto i, auto j) {
        problem::band const of = band_of_entry(p, b);
        std::int64_t const last = last_of(p, b, i, tile.queries);
        std::int64_t const begin = reference::saturating_add(last + of.diagonal, -of.left);
        return sees(p, b, h, i, j) && j >= first_of(std::max<std::int64_t>(begin, 0), tile.keys);
      }));
  // Few answers tell both apart: what is said of the first is true of the second, too.
  for (bool const whole : {true, false})
    add_window(
        fmt::format("left-edge-in-cut-tiles-of-{}-by-{}{}", tile.queries, tile.keys, whole ? "-or-whole" : ""),
        fmt::format(fmt::runtime(whole ? "the left edge of a window hides at most whole tiles of {} queries and {} "
                                         "keys, unless the right edge cuts them"
                                       : "the left edge of a window hides nothing in tiles of {} queries and {} keys "
                                         "that the right edge does not cut"),
                    tile.queries, tile.keys),
        sees_in_tiles(has_left, [=](owned_problem const& p, auto b, auto h, auto i, auto j) {
          problem::band of = band_of_entry(p, b);
          std::int64_t const i0 = first_of(i, tile.queries), end = first_of(j, tile.keys) + tile.keys - 1;
          bool const cut = of.right >= 0 && end > last_key(of, i0);
          if (cut || (whole && !reference::inside({of.diagonal, of.left, -1}, i0, end))) return sees(p, b, h, i, j);
          of.left = -1;
          return sees_in_band(p, of, b, h, i, j);
        }));
}

void add_masks(hypothesis_list& to, tile_sizes tile) {
  auto const add = adds_problems_to(to, bug_class::mask_polarity);
  auto const is_masked = [](owned_problem const& p) { return p.draft().mask.has_value(); };
  for (bool const both : {true, false})
    add(fmt::format("tile-of-{}-by-{}-skipped-by-{}", tile.queries, tile.keys, both ? "corners" : "first"),
        fmt::format("a tile of {} queries and {} keys is skipped where the mask hides its first {}", tile.queries,
                    tile.keys, both ? "pair and its last" : "pair"),
        sees_in_tiles(is_masked, [=](owned_problem const& p, auto b, auto h, auto i, auto j) {
          std::int64_t const i0 = first_of(i, tile.queries), j0 = first_of(j, tile.keys);
          std::int64_t const i1 = std::min(i0 + tile.queries, p.size().n) - 1,
                             j1 = std::min(j0 + tile.keys, p.size().m) - 1;
          owned_tensor const& mask = *p.draft().mask;
          bool const skipped = element(mask, b, h, i0, j0) == 0 && (!both || element(mask, b, h, i1, j1) == 0);
          return !skipped && sees(p, b, h, i, j);
        }));
}

}  // namespace

void add_hypotheses_of_query_tiles(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_packed = adds_problems_to(to, bug_class::causal_alignment);
  for (std::int64_t const queries : {8, 16, 32, 64, 128})
    for (std::int64_t const keys : {8, 16, 32, 64, 128}) {
      add(fmt::format("rescaled-as-first-of-{}-by-{}", queries, keys),
          fmt::format("all queries of a tile of {} are rescaled by the factor of its first, in blocks of {} keys",
                      queries, keys),
          rescales_as_first({queries, keys}));
      add_bands(to, {queries, keys});
      add_masks(to, {queries, keys});
    }
  auto const is_grouped = [](owned_problem const& p) {
    return p.size().hk > 0 && p.size().hq > p.size().hk && (p.draft().band.left >= 0 || p.draft().band.right >= 0);
  };
  // The queries of a group are the rows of one tile.
  using row_of_group = std::int64_t (*)(std::int64_t i, std::int64_t h, std::int64_t group, std::int64_t n);
  for (auto const& [name, words, row] :
       {std::tuple{"band-of-packed-queries", "i·g + h mod g",
                   row_of_group([](auto i, auto h, auto group, auto) { return i * group + h % group; })},
        {"band-of-packed-heads", "(h mod g)·n + i",
         [](auto i, auto h, auto group, auto n) { return h % group * n + i; }}})
    add_packed(name, fmt::format("a band takes row {} of a group of g heads for the place of query i", words),
               sees_in_tiles(is_grouped, [at = row](owned_problem const& p, auto b, auto h, auto i, auto j) {
                 problem::sizes const& s = p.size();
                 problem::band of = band_of_entry(p, b);
                 of.diagonal = reference::saturating_add(of.diagonal, at(i, h, s.hq / s.hk, s.n) - i);
                 return sees_in_band(p, of, b, h, i, j);
               }));
}

}  // namespace attest::audit
