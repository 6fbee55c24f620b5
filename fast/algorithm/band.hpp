// What a band lets through: the keys of one query, and of a strip of queries.
#pragma once

#include <cstdint>
#include <limits>

#include "problem/instance.hpp"

namespace attest::fast {

/// Indices first, first + 1, …, last − 1; none where last ≤ first.
struct interval {
  std::int64_t first = 0, last = 0;

  constexpr bool empty() const noexcept { return last <= first; }
  constexpr bool contains(std::int64_t index) const noexcept { return first <= index && index < last; }
  constexpr std::int64_t size() const noexcept { return empty() ? 0 : last - first; }
  friend constexpr bool operator==(interval const&, interval const&) noexcept = default;
};

constexpr interval intersection(interval const& a, interval const& b) noexcept {
  return {a.first > b.first ? a.first : b.first, a.last < b.last ? a.last : b.last};
}

/// The shortest interval with every index of a and of b; a where b is empty.
constexpr interval hull(interval const& a, interval const& b) noexcept {
  if (b.empty()) return a;
  if (a.empty()) return b;
  return {a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
}

/// Does `outer` have every index of `inner`?
/// Ensures  for an empty `inner` either answer
constexpr bool contains(interval const& outer, interval const& inner) noexcept {
  return outer.first <= inner.first && inner.last <= outer.last;
}

/// a + b, held at the ends of the 64-bit range.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  using range = std::numeric_limits<std::int64_t>;
  if (b > 0 && a > range::max() - b) return range::max();
  if (b < 0 && a < range::min() - b) return range::min();
  return a + b;
}

/// { j : −left ≤ j − (i + diagonal) ≤ right }, as far as 64 bits reach: what an end that saturates cuts off lies below
/// key 0 or above every m.
/// Requires  left, right ≥ −1
constexpr interval keys_in_band(problem::band const& where, std::int64_t i) noexcept {
  using range = std::numeric_limits<std::int64_t>;
  std::int64_t const centre = saturating_add(i, where.diagonal);
  return {where.left < 0 ? range::min() : saturating_add(centre, -where.left),
          where.right < 0 ? range::max() : saturating_add(saturating_add(centre, where.right), 1)};
}

/// The keys among 0 … m − 1 that the band shows to query i.
constexpr interval visible_keys(problem::band const& where, std::int64_t i, std::int64_t m) noexcept {
  return intersection(keys_in_band(where, i), {0, m});
}

/// The keys that a strip of queries sees. A block of keys is skipped where none is in `any`; where all are in `all`, no
/// score has to be hidden and no value kept from a query.
struct strip_view {
  interval any{};  ///< the shortest one outside which no query sees a key
  interval all{};  ///< every query sees every key inside; empty where there is a mask
};

/// The view of queries whose rules are `rules`: visible, an interval of keys; mask, null where there is none.
/// Requires  rows ≥ 1
template <class Rule>
constexpr strip_view view_of(Rule const* rules, std::int64_t rows) noexcept {
  strip_view made{{}, rules[0].visible};
  for (std::int64_t i = 0; i < rows; ++i) {
    made.any = hull(made.any, rules[i].visible);
    made.all = rules[i].mask != nullptr ? interval{} : intersection(made.all, rules[i].visible);
  }
  return made;
}

}  // namespace attest::fast
