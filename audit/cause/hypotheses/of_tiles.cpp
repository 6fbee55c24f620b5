// Hypotheses about tiles of keys: what fills the last one, where a loop over them ends, and tensors of another tile.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

std::int64_t padding(std::int64_t m, std::int64_t tile) { return (tile - m % tile) % tile; }
bool has_right_edge(owned_problem const& p) { return p.draft().band.right >= 0; }

/// Of the visible keys, the kernel reads the ones that `read` names.
calls reads_fewer(answered_call const& call, pair_question const& read) {
  return with_sight(without_weights(call), [&](auto b, auto h, auto i, auto j) {
    bool const is_read = read(b, h, i, j);  // asked of every key: it counts along
    return is_read && sees(call.problem, b, h, i, j);
  });
}

/// `count(m)` keys with the score 0 and the value 0 stand behind the last key. A band hides them
/// as others, unless `behind_edges`.
supposition adds_zeros(std::function<std::int64_t(std::int64_t m)> count, bool behind_edges = false) {
  return [count = std::move(count), behind_edges](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m, more = count(m);
    if (!is_small(p) || m == 0 || more == 0 || !p.draft().is_dense()) return {};
    auto const none = [](std::int64_t) { return std::optional<std::int64_t>(); };
    return with_further_keys(
        call, {.count = more,
               .key = none,
               .value = none,
               .shown = [&](auto, auto, auto i,
                            auto j) { return behind_edges || reference::inside(p.draft().band, i, m + j); },
               .bias = {},
               .weight = {}});
  };
}

/// Keys [from(m), to(m)) count twice, for tiles of so many queries whose right edge reaches key to(m).
using key_of_size = std::function<std::int64_t(std::int64_t m)>;
supposition counts_again(key_of_size from, key_of_size to, std::int64_t queries = 0) {
  return [=, from = std::move(from), to = std::move(to)](answered_call const& call, answered_call const*) -> calls {
    std::int64_t const m = call.problem.size().m;
    if (!is_small(call.problem) || m == 0 || from(m) < 0 || from(m) >= to(m)) return {};
    std::vector<std::int64_t> keys(static_cast<std::size_t>(to(m) - from(m)));
    std::iota(keys.begin(), keys.end(), from(m));
    further_keys copies = copies_of(call.problem, std::move(keys));
    auto const reaches = [&](std::int64_t b, std::int64_t i) {
      std::int64_t const last = std::min(i / queries * queries + queries, call.problem.size().n) - 1;
      return last_key(band_of_entry(call.problem, b), last) >= to(m);
    };
    if (queries > 0 && has_right_edge(call.problem))
      copies.shown = [&, seen = std::move(copies.shown)](auto b, auto h, auto i, auto n) {
        return reaches(b, i) && seen(b, h, i, n);
      };
    return with_further_keys(call, copies);
  };
}

/// The last key stands for the keys that fill the last tile.
supposition repeats_last_key(std::int64_t tile) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    std::int64_t const m = call.problem.size().m, more = padding(m, tile);
    if (!is_small(call.problem) || m == 0 || more == 0) return {};
    return with_further_keys(call, copies_of(call.problem, std::vector(static_cast<std::size_t>(more), m - 1)));
  };
}

/// Of the keys that a right edge shows to a query, the ones from `end` on are not read.
supposition ends_loop(std::function<std::int64_t(owned_problem const&, std::int64_t i)> end) {
  return [end = std::move(end)](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    if (!is_small(p) || !has_right_edge(p)) return {};
    return reads_fewer(call, [&](auto, auto, auto i, auto j) { return j < end(p, i); });
  };
}

/// Before a tile without a visible key, what was summed is forgotten, if a later key is visible.
supposition forgets_before_empty(std::int64_t tile) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (!is_small(p) || s.m <= tile) return {};
    std::int64_t begin = 0;
    return reads_fewer(call, [&](auto b, auto h, auto i, auto j) {
      auto const sees_some = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t at = first; at < std::min(last, s.m); ++at)
          if (sees(p, b, h, i, at)) return true;
        return false;
      };
      if (j == 0) {
        begin = 0;
        for (std::int64_t first = 0; first < s.m; first += tile)
          if (!sees_some(first, first + tile) && sees_some(first + tile, s.m)) begin = first;
      }
      return j >= begin;
    });
  };
}

/// The sink is counted once in each tile of the keys.
supposition counts_sink_in_tiles(std::int64_t tile) {
  return solves([=](owned_problem const& p) { return p.draft().sink && p.size().m > tile; },
                [=](problem_draft& p) {
                  owned_tensor& sink = *p.sink;
                  double const more = std::log(static_cast<double>((p.k.layout.shape[2] + tile - 1) / tile));
                  for (std::size_t at = 0; at < sink.bytes.size() / problem::size_of(sink.type); ++at)
                    store(sink, at, load(sink, at) + more);
                });
}

/// Row j of a tensor of the keys is read at row from(j, m); below 0: it is 0.
using row_read = std::function<std::int64_t(std::int64_t j, std::int64_t m)>;
supposition reads_rows(owned_tensor problem_draft::* which, std::int64_t least, row_read from) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    problem_draft draft = call.problem.draft();
    owned_tensor const& old = call.problem.draft().*which;
    auto const& shape = old.layout.shape;
    std::int64_t const rows = shape[2];
    if (rows <= least || shape[0] * shape[1] * rows * shape[3] > (std::int64_t{1} << 24)) return {};
    draft.*which = owned_tensor::compact(old.type, {shape[0], shape[1], rows, shape[3]});
    fill(draft.*which, [&](auto b, auto h, auto j, auto t) {
      std::int64_t const row = from(j, rows);
      return row < 0 ? 0 : load(old, offset_of(old, b, h, row, t));
    });
    return with_problem(call, std::move(draft));
  };
}

/// Every tile of keys uses the columns of the first tile of the mask, or of the bias.
supposition repeats_columns(std::optional<owned_tensor> problem_draft::* which, std::int64_t tile) {
  return solves(
      [=](owned_problem const& p) {
        auto const& of = p.draft().*which;
        return of && of->layout.shape[3] > tile && is_small(p);
      },
      [=](problem_draft& p) {
        owned_tensor const old = *(p.*which);
        auto const& n = old.layout.shape;
        p.*which = owned_tensor::compact(old.type, {n[0], n[1], n[2], n[3]});
        fill(*(p.*which), [&](auto b, auto h, auto i, auto j) { return element(old, b, h, i, j % tile); });
      });
}

}  // namespace

void add_hypotheses_of_tiles(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_band = adds_problems_to(to, bug_class::causal_alignment),
             add_empty = adds_problems_to(to, bug_class::empty_block), add_sink = adds_problems_to(to, bug_class::sink),
             add_mask = adds_problems_to(to, bug_class::mask_polarity),
             add_bias = adds_problems_to(to, bug_class::accuracy);
  add("key-of-zeros-counts", "beside the keys a key with the score 0 and the value 0 counts",
      adds_zeros([](std::int64_t) { return std::int64_t{1}; }));
  for (std::int64_t const tile : {8, 16, 32, 64, 128}) {
    auto const tail = [=](std::int64_t m) { return m / tile * tile; };
    auto const of_tile = [=](char const* form) { return fmt::format(fmt::runtime(form), tile); };
    add(of_tile("zeros-fill-tile-of-{}"),
        of_tile("the last tile is not masked: keys with the score 0 and the value 0 count up to a multiple of {}"),
        adds_zeros([=](std::int64_t m) { return padding(m, tile); }));
    add(of_tile("zeros-fill-tile-of-{}-behind-edges"),
        of_tile(
            "the last tile is not masked: keys with the score 0 and the value 0 count up to a multiple of {}, behind "
            "the edge of a band too"),
        adds_zeros([=](std::int64_t m) { return padding(m, tile); }, true));
    add(of_tile("last-key-fills-tile-of-{}"), of_tile("the last key counts again, up to a multiple of {} keys"),
        repeats_last_key(tile));
    add(of_tile("last-tile-of-{}-shifted"),
        of_tile("the last tile of {} keys is moved back to end with the last key: keys before it count twice"),
        counts_again([=](std::int64_t m) { return m % tile == 0 ? m : m - tile; }, tail));
    for (std::int64_t const queries : {16, 64, 128})
      add(fmt::format("last-tile-of-{}-shifted-by-{}", tile, queries),
          fmt::format("the last tile of {} keys is moved back to end with the last key, if a tile of {} queries "
                      "reaches it: keys before it count twice",
                      tile, queries),
          counts_again([=](std::int64_t m) { return m % tile == 0 ? m : m - tile; }, tail, queries));
    add_band(
        of_tile("diagonal-tile-of-{}-unread"), of_tile("the tile of {} keys with the diagonal is not read"),
        ends_loop([=](owned_problem const& p, std::int64_t i) { return last_key(p.draft().band, i) / tile * tile; }));
    add_band(of_tile("later-diagonal-tiles-of-{}-unread"),
             of_tile("the tile of {} keys with the diagonal is not read, except the first"),
             ends_loop([=](owned_problem const& p, std::int64_t i) {
               std::int64_t const end = last_key(p.draft().band, i) / tile * tile;
               return end > 0 ? end : tile;
             }));
    add_band(of_tile("whole-tiles-of-{}-before-diagonal"),
             of_tile("tiles of {} keys that the diagonal cuts are not read"),
             ends_loop([=](owned_problem const& p, std::int64_t i) {
               return reference::saturating_add(last_key(p.draft().band, i), 1) / tile * tile;
             }));
    add_band(of_tile("causal-loop-of-{}-top-left"),
             of_tile("the loop over tiles of {} keys ends with the query's own tile, whatever the diagonal"),
             ends_loop([=](owned_problem const&, std::int64_t i) { return i / tile * tile + tile; }));
    add_empty(of_tile("empty-tile-of-{}-forgets"),
              of_tile("a tile of {} keys without a visible one makes the kernel forget the keys before it"),
              forgets_before_empty(tile));
    add_sink(of_tile("sink-once-per-tile-of-{}"), of_tile("the sink is counted in each tile of {} keys"),
             counts_sink_in_tiles(tile));
    for (auto const& [name, which] : {std::pair{"V", &problem_draft::v}, std::pair{"K", &problem_draft::k}}) {
      char const* const token = *name == 'V' ? "v" : "k";
      add(fmt::format("{}-of-tile-before-{}", token, tile),
          fmt::format("a tile of {} keys is read with the {} of the tile before", tile, name),
          reads_rows(which, tile, [=](std::int64_t j, std::int64_t) { return j < tile ? j : j - tile; }));
      add(fmt::format("{}-of-last-tile-of-{}-late", token, tile),
          fmt::format("{} of the last tile of {} keys comes from two tiles before, or is 0", name, tile),
          reads_rows(which, tile, [=](std::int64_t j, std::int64_t m) {
            if (j / tile < (m - 1) / tile) return j;
            return std::max<std::int64_t>(j - 2 * tile, -1);
          }));
      // Rows behind the last whole tile.
      auto const in_tail = [tile](std::int64_t j, std::int64_t m) { return j >= m / tile * tile; };
      add(fmt::format("{}-of-tail-of-{}-moved-back", token, tile),
          fmt::format("the last tile of {} keys is read with the {} of a tile that ends with the last key", tile, name),
          reads_rows(which, tile,
                     [=](std::int64_t j, std::int64_t m) { return in_tail(j, m) ? j % tile + m - tile : j; }));
      add(fmt::format("{}-of-tail-of-{}-one-back", token, tile),
          fmt::format("behind the last whole tile of {} keys, {} is read one row too early", tile, name),
          reads_rows(which, tile, [=](std::int64_t j, std::int64_t m) { return in_tail(j, m) ? j - 1 : j; }));
      add(fmt::format("{}-of-tail-of-{}-from-0", token, tile),
          fmt::format("behind the last whole tile of {} keys, {} is read from its first row on", tile, name),
          reads_rows(which, tile, [=](std::int64_t j, std::int64_t m) { return in_tail(j, m) ? j % tile : j; }));
      add(fmt::format("{}-of-first-tile-of-{}", token, tile),
          fmt::format("every tile of {} keys is read with the {} of the first", tile, name),
          reads_rows(which, tile, [=](std::int64_t j, std::int64_t) { return j % tile; }));
    }
    add(of_tile("q-of-first-tile-of-{}"), of_tile("every tile of {} queries reads Q of the first"),
        reads_rows(&problem_draft::q, tile, [=](std::int64_t i, std::int64_t) { return i % tile; }));
    add_mask(of_tile("mask-of-first-tile-of-{}"), of_tile("every tile of {} keys uses the mask of the first"),
             repeats_columns(&problem_draft::mask, tile));
    add_bias(of_tile("bias-of-first-tile-of-{}"), of_tile("every tile of {} keys uses the bias of the first"),
             repeats_columns(&problem_draft::bias, tile));
  }
  for (std::int64_t const bit : {1, 2, 4, 8})
    for (auto const& [name, which] : {std::pair{"V", &problem_draft::v}, std::pair{"K", &problem_draft::k}})
      add(fmt::format("{}-swapped-by-{}", *name == 'V' ? "v" : "k", bit),
          fmt::format("rows of {} that lie {} apart are swapped", name, bit),
          reads_rows(which, 1, [=](std::int64_t j, std::int64_t m) { return (j ^ bit) < m ? j ^ bit : j; }));
}

}  // namespace attest::audit
