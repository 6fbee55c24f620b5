// Which keys are visible to a query, by definition. (fast/ decides the same by intervals; neither uses the other.)
#pragma once

#include <cstdint>
#include <limits>

#include "problem/instance.hpp"

namespace attest::reference {

/// a + b, saturated to 64 bits.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  using limits = std::numeric_limits<std::int64_t>;
  if (b > 0 && a > limits::max() - b) return limits::max();
  if (b < 0 && a < limits::min() - b) return limits::min();
  return a + b;
}

/// −left ≤ j − (i + diagonal) ≤ right, −1 = unbounded; i + diagonal saturates.
constexpr bool inside(problem::band const& band, std::int64_t i, std::int64_t j) noexcept {
  std::int64_t const centre = saturating_add(i, band.diagonal);
  return (band.left < 0 || j >= saturating_add(centre, -band.left)) &&
         (band.right < 0 || j <= saturating_add(centre, band.right));
}

/// Key j is visible to query i: inside the band, and attended by the mask where there is one.
template <class T>
constexpr bool visible(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                       std::int64_t j) noexcept {
  return inside(p.band(), i, j) && (!p.mask().present || p.mask()(b, h, i, j) != 0);
}

/// The head of K and V that query head h uses: h / (hq/hk).
constexpr std::int64_t key_head(problem::sizes const& s, std::int64_t h) noexcept { return h / (s.hq / s.hk); }

}  // namespace attest::reference
