// fast/algorithm/tiles.hpp against the definition of visibility, reference/attention/visibility.hpp: every small band, tile by tile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fast/algorithm/tiles.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::proofs {

/// Which bands: diagonals −diagonal … diagonal, lefts and rights −1 … side.
struct band_family {
  std::int64_t diagonal = 7, side = 7;
};

/// Is everything that fast/algorithm/tiles.hpp says of `where` so, pair by pair, for up to `size` queries and keys?
///
/// Every interval of 1 to 3 indices inside [0, size) is taken as a tile's queries and as its keys: those are the tiles
/// of sizes 1 to 3 of all n, m ≤ size, the last and cut ones too, and more. Requires size ≤ 6.
constexpr bool tiles_are_right(problem::band const& where, std::int64_t size) noexcept {
  // Bit j of shown[i]: key j is visible to query i, by definition.
  std::array<unsigned, 6> shown{};
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      if (reference::inside(where, i, j)) shown[static_cast<std::size_t>(i)] |= 1u << j;
  auto const bits = [](fast::interval const& keys) noexcept {
    return keys.empty() ? 0u : ((1u << keys.size()) - 1) << keys.first;
  };

  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t m = 0; m <= size; ++m)
      if (bits(fast::visible_keys(where, i, m)) != (shown[static_cast<std::size_t>(i)] & ((1u << m) - 1))) return false;

  for (std::int64_t first = 0; first < size; ++first)
    for (std::int64_t last = first + 1; last <= size && last <= first + 3; ++last) {
      unsigned to_any = 0, to_all = ~0u;
      for (std::int64_t i = first; i < last; ++i) {
        to_any |= shown[static_cast<std::size_t>(i)];
        to_all &= shown[static_cast<std::size_t>(i)];
      }
      for (std::int64_t m = 0; m <= size; ++m)
        if (bits(fast::keys_of_any(where, {first, last}, m)) != (to_any & ((1u << m) - 1))) return false;
      for (std::int64_t from = 0; from < size; ++from)
        for (std::int64_t to = from + 1; to <= size && to <= from + 3; ++to) {
          unsigned const tile = bits({from, to});
          fast::tile_kind const expected = (to_any & tile) == 0      ? fast::tile_kind::empty
                                           : (to_all & tile) == tile ? fast::tile_kind::full
                                                                     : fast::tile_kind::partial;
          if (fast::classify(where, {first, last}, {from, to}) != expected) return false;
        }
    }
  return true;
}

/// Is that so for every band of the family?
constexpr bool tiles_are_right(band_family const& bands, std::int64_t size) noexcept {
  for (std::int64_t diagonal = -bands.diagonal; diagonal <= bands.diagonal; ++diagonal)
    for (std::int64_t left = -1; left <= bands.side; ++left)
      for (std::int64_t right = -1; right <= bands.side; ++right)
        if (!tiles_are_right(problem::band{diagonal, left, right}, size)) return false;
  return true;
}

}  // namespace attest::proofs
