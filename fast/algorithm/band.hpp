// The keys that a band leaves visible: to one query, and to a strip of queries.
#pragma once

#include <cstdint>
#include <limits>

#include "problem/instance.hpp"

namespace attest::fast {

/// The indices first, first + 1, …, last − 1; empty if last ≤ first.
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

/// The shortest interval that holds every index of a and of b; a if b is empty.
constexpr interval hull(interval const& a, interval const& b) noexcept {
  if (b.empty()) return a;
  if (a.empty()) return b;
  return {a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
}

/// Whether `outer` holds every index of `inner`. For an empty `inner` either result is possible.
constexpr bool contains(interval const& outer, interval const& inner) noexcept {
  return outer.first <= inner.first && inner.last <= outer.last;
}

/// a + b, clamped to the 64-bit range.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  using range = std::numeric_limits<std::int64_t>;
  if (b > 0 && a > range::max() - b) return range::max();
  if (b < 0 && a < range::min() - b) return range::min();
  return a + b;
}

/// { j : −left ≤ j − (i + diagonal) ≤ right }. An end beyond 64 bits saturates; the indices that this cuts off lie
/// below key 0 or above every m.
/// Requires  left, right ≥ −1
constexpr interval keys_in_band(problem::band const& band, std::int64_t i) noexcept {
  using range = std::numeric_limits<std::int64_t>;
  std::int64_t const centre = saturating_add(i, band.diagonal);
  return {band.left < 0 ? range::min() : saturating_add(centre, -band.left),
          band.right < 0 ? range::max() : saturating_add(saturating_add(centre, band.right), 1)};
}

/// The keys among 0 … m − 1 that the band leaves visible to query i.
constexpr interval visible_keys(problem::band const& band, std::int64_t i, std::int64_t m) noexcept {
  return intersection(keys_in_band(band, i), {0, m});
}

/// The keys that the queries of a strip see. A key block outside `any` is skipped. Inside `all` no score has to become
/// −∞, and no value has to be kept out of a query's sum.
struct strip_view {
  interval any{};  ///< the shortest interval outside which no query of the strip sees a key
  interval all{};  ///< every query of the strip sees every key of it; empty if there is a mask
};

/// The view of `rows` queries. rules[i].visible is the interval that the band leaves to query i, and rules[i].mask is
/// null if there is no mask.
/// Requires  rows ≥ 1
template <class Rule>
constexpr strip_view view_of(Rule const* rules, std::int64_t rows) noexcept {
  strip_view view{{}, rules[0].visible};
  for (std::int64_t i = 0; i < rows; ++i) {
    view.any = hull(view.any, rules[i].visible);
    view.all = rules[i].mask != nullptr ? interval{} : intersection(view.all, rules[i].visible);
  }
  return view;
}

}  // namespace attest::fast
