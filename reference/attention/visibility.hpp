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

/// Is the block of (i, j) set, if the problem has a block mask?
template <class T>
constexpr bool block_is_set(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                            std::int64_t j) noexcept {
  auto const& blocks = p.block_mask();
  return !blocks.present || blocks(b, h, i / p.parameters().block_q, j / p.parameters().block_k) != 0;
}

/// Key j is visible to query i of entry b: a key of the entry, inside its band, attended by the mask and in a block
/// that is set, if these exist. It is an intersection: the order of the conditions does not matter.
template <class T>
constexpr bool visible(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                       std::int64_t j) noexcept {
  return j < p.keys(b) && inside(p.band(b), i, j) && (!p.mask().present || p.mask()(b, h, i, j) != 0) &&
         block_is_set(p, b, h, i, j);
}

/// The head of K and V that query head h uses: h / (hq/hk).
constexpr std::int64_t key_head(problem::sizes const& s, std::int64_t h) noexcept { return h / (s.hq / s.hk); }

}  // namespace attest::reference
