// What a band lets through: the keys of one query, and whole tiles that are empty, full or partial.
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

/// The keys that the band shows to at least one of `queries`.
/// Why  both ends of keys_in_band rise with i by at most 1 a step, and left + right ≥ 0 leaves no interval empty: the
///      union has no hole.
constexpr interval keys_of_any(problem::band const& where, interval const& queries, std::int64_t m) noexcept {
  if (queries.empty()) return {0, 0};
  return intersection({keys_in_band(where, queries.first).first, keys_in_band(where, queries.last - 1).last}, {0, m});
}

enum class tile_kind : std::uint8_t {
  empty,    ///< no pair is in the band: not computed, not read
  partial,  ///< some are
  full,     ///< all are: no visibility code
};

/// Requires  keys ⊆ [0, m)
constexpr tile_kind classify(problem::band const& where, interval const& queries, interval const& keys) noexcept {
  if (queries.empty() || keys.empty()) return tile_kind::empty;
  interval const top = keys_in_band(where, queries.first), bottom = keys_in_band(where, queries.last - 1);
  if (keys.last <= top.first || bottom.last <= keys.first) return tile_kind::empty;
  return bottom.first <= keys.first && keys.last <= top.last ? tile_kind::full : tile_kind::partial;
}

}  // namespace attest::fast
