#include "audit/cases/row_sample.hpp"

#include <algorithm>
#include <numeric>

#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/key_rows.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

/// The first query, the last, one at random, or one next to the edge of a tile.
std::int64_t drawn_query(std::int64_t n, random_stream& random) {
  constexpr std::int64_t tiles[]{8, 16, 32, 48, 64, 80, 96, 112, 128, 192, 256};
  switch (random.below(4)) {
    case 0: return random.below(2) * (n - 1);
    case 1: {
      std::int64_t const tile = tiles[random.below(std::ssize(tiles))];
      std::int64_t const edge = tile * (1 + random.below(std::max<std::int64_t>(n / tile, 1)));
      return std::clamp<std::int64_t>(edge - random.below(2), 0, n - 1);
    }
    default: return random.below(n);
  }
}

}  // namespace

void put_in_order(std::vector<row_index>& rows) {
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
}

std::vector<row_index> sampled_rows(problem::sizes const& s, std::int64_t most, random_stream& random) {
  most = std::max<std::int64_t>(most, 1);
  if (s.b * s.hq * s.n <= most) return {};
  std::vector<row_index> rows{{s.b - 1, s.hq - 1, s.n - 1}};
  std::int64_t const first_b = random.below(s.b), first_h = random.below(s.hq);
  std::int64_t const apart = std::lcm(s.b, s.hq);
  for (std::int64_t at = 0; at < most - 1; ++at) {
    // Batch entries and heads advance together. After `apart` steps they would meet in the same pairs again: then the
    // batch entries go one further, so that every pair comes once before any comes again.
    rows.push_back({(first_b + at / apart + at) % s.b, (first_h + at) % s.hq, drawn_query(s.n, random)});
  }
  put_in_order(rows);
  return rows;
}

std::vector<row_index> sampled_queries(owned_problem const& problem, std::int64_t most, random_stream& random) {
  std::vector<row_index> rows = sampled_rows(problem.size(), most, random);
  std::erase_if(rows, [&](row_index const& row) { return queries_of(problem, row.b) == 0; });
  for (row_index& row : rows) row.i %= queries_of(problem, row.b);  // a short entry has as many rows as a long one
  put_in_order(rows);
  return rows;
}

namespace {

constexpr std::size_t keys_of_head = 24;

/// Keys of a head of `count` keys, in increasing order.
std::vector<std::int64_t> drawn_keys(std::int64_t count, random_stream& random) {
  std::vector<std::int64_t> keys{0, count - 1};
  while (keys.size() < keys_of_head) keys.push_back(drawn_query(count, random));
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  return keys;
}

/// The queries of a group that see one of the keys.
template <class T>
std::int64_t queries_that_see(problem::instance<T> const& p, std::int64_t b, std::int64_t g,
                              std::span<std::int64_t const> keys) {
  std::int64_t const heads = p.size().hq / p.size().hk;
  std::int64_t count = 0;
  for (std::int64_t h = g * heads; h < (g + 1) * heads; ++h)
    for (std::int64_t i = 0; i < p.queries(b); ++i)
      count += std::ranges::any_of(keys, [&](std::int64_t j) { return reference::visible(p, b, h, i, j); });
  return count;
}

/// Keys of heads in an order that is drawn, until `most` queries see them. The first head has at least one key, which
/// the fewest queries see.
template <class T>
void add_keys(problem::instance<T> const& p, std::int64_t most, random_stream& random, std::vector<row_index>& to) {
  problem::sizes const& s = p.size();
  std::int64_t const groups = s.b * s.hk, first = random.below(groups);
  std::int64_t used = 0;
  for (std::int64_t n = 0; n < groups && used < most; ++n) {
    std::int64_t const at = (first + n) % groups, b = at / s.hk, g = at % s.hk;
    if (p.keys(b) == 0) continue;
    std::vector<std::int64_t> keys = drawn_keys(p.keys(b), random);
    std::int64_t cost = queries_that_see(p, b, g, keys);
    if (used + cost > most && used > 0) continue;
    if (cost > most) {
      std::vector<std::pair<std::int64_t, std::int64_t>> by_cost;
      for (std::int64_t const j : keys) by_cost.emplace_back(queries_that_see(p, b, g, std::span(&j, 1)), j);
      std::ranges::sort(by_cost);
      keys.clear();
      for (auto const& [queries, j] : by_cost) {
        keys.push_back(j);
        cost = queries_that_see(p, b, g, keys);
        if (cost <= most || keys.size() == 1) continue;
        keys.pop_back();
        break;
      }
    }
    used += cost;
    for (std::int64_t const j : keys) to.push_back(row_of_key(s, b, g, j));
  }
}

}  // namespace

std::vector<row_index> sampled_gradients(owned_problem const& problem, std::int64_t products, random_stream& random) {
  problem::sizes const& s = problem.size();
  std::int64_t const row = std::max<std::int64_t>(s.m * (s.d + s.dv), 1), most = products / row;
  if (s.b * s.hq * s.n <= most || s.hk == 0) return {};
  std::vector<row_index> rows = sampled_queries(problem, std::clamp<std::int64_t>(most / 4, 4, 64), random);
  if (rows.empty()) return {};
  std::visit([&](auto const& p) { add_keys(p, std::max<std::int64_t>(most - most / 4, 1), random, rows); },
             problem.instance());
  put_in_order(rows);
  return rows;
}

std::vector<row_index> kept_rows(std::span<row_index const> from, problem::sizes const& s, selection const& chosen) {
  std::int64_t const group = s.hk > 0 ? s.hq / s.hk : 1;
  auto const place = [](std::vector<std::int64_t> const& kept, std::int64_t at) -> std::optional<std::int64_t> {
    auto const found = std::ranges::lower_bound(kept, at);
    if (found == kept.end() || *found != at) return std::nullopt;
    return found - kept.begin();
  };
  std::vector<row_index> rows;
  std::int64_t const heads = std::ssize(chosen.hk) * (chosen.query_head >= 0 ? 1 : group);
  for (row_index const& row : from) {
    auto const& [b, h, i] = row;
    if (is_row_of_key(s, row)) {
      auto const of_b = place(chosen.b, b), of_g = place(chosen.hk, h - s.hq), of_m = place(chosen.m, i);
      if (of_b && of_g && of_m) rows.push_back({*of_b, heads + *of_g, *of_m});
      continue;
    }
    auto const in_b = place(chosen.b, b), in_hk = place(chosen.hk, h / group), in_n = place(chosen.n, i);
    bool const one_head = chosen.query_head >= 0;
    if (!in_b || !in_hk || !in_n || (one_head && h % group != chosen.query_head)) continue;
    rows.push_back({*in_b, one_head ? *in_hk : *in_hk * group + h % group, *in_n});
  }
  std::ranges::sort(rows);
  return rows;
}

}  // namespace attest::audit
