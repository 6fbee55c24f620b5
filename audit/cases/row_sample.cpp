#include "audit/cases/row_sample.hpp"

#include <algorithm>
#include <numeric>

#include "audit/tensors/entry_forms.hpp"

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

}  // namespace attest::audit
