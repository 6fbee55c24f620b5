// fast/algorithm/band.hpp against the definition of visibility, reference/attention/visibility.hpp: every small band,
// strip by strip, in what the kernel asks: visible_keys, view_of, and for a view and a block of keys intersection and
// contains.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "fast/algorithm/band.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::proofs {

/// Which bands: diagonals −diagonal … diagonal, lefts and rights −1 … side.
struct band_family {
  std::int64_t diagonal = 7, side = 7;
};

/// What view_of reads of a query.
struct strip_row {
  fast::interval visible{};
  bool const* mask = nullptr;
};

// A set of keys below 8, key j as bit j.

constexpr unsigned bits(fast::interval const& keys) noexcept {
  return keys.empty() ? 0u : ((1u << keys.size()) - 1) << keys.first;
}
/// Every key between two of the set.
constexpr unsigned filled(unsigned set) noexcept {
  return set == 0 ? 0 : (1u << std::bit_width(set)) - (1u << std::countr_zero(set));
}

/// Is this the view of queries that see these keys: `to_any`, seen by at least one of them, and `to_all`, seen by all?
/// Also checks the kernel's questions to it, for every block of keys below `size`, even beyond the problem's last key.
constexpr bool view_is_right(fast::strip_view const& view, unsigned to_any, unsigned to_all,
                             std::int64_t size) noexcept {
  unsigned const hull = filled(to_any);
  if (bits(view.any) != hull || bits(view.all) != to_all) return false;
  for (std::int64_t first = 0; first < size; ++first)
    for (std::int64_t last = first + 1; last <= size; ++last) {
      fast::interval const block{first, last};
      unsigned const keys = bits(block);
      if (bits(fast::intersection(view.any, block)) != (hull & keys)) return false;
      if (fast::contains(view.all, block) != ((to_all & keys) == keys)) return false;
    }
  return true;
}

/// Is everything that fast/algorithm/band.hpp says of `where` so, pair by pair, for up to `size` queries a head and
/// keys?
///
/// A strip is 1 to 3 rows of a block whose row r is query r mod n: it may run from the last query of a head to the
/// first of the next one, and see two intervals of keys with a hole between. With a mask no key is surely visible to
/// all. Requires size ≤ 6.
constexpr bool band_is_right(problem::band const& where, std::int64_t size) noexcept {
  std::array<unsigned, 6> shown{};  // to query i, by definition
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      if (reference::inside(where, i, j)) shown[static_cast<std::size_t>(i)] |= 1u << j;

  constexpr bool some_mask = true;
  for (std::int64_t m = 0; m <= size; ++m) {
    unsigned const present = (1u << m) - 1;
    for (std::int64_t i = 0; i < size; ++i)
      if (bits(fast::visible_keys(where, i, m)) != (shown[static_cast<std::size_t>(i)] & present)) return false;
    for (std::int64_t n = 1; n <= size; ++n)
      for (std::int64_t first = 0; first < n; ++first) {
        std::array<strip_row, 3> plain{}, masked{};
        unsigned to_any = 0, to_all = present;
        for (std::int64_t r = 0; r < 3; ++r) {
          std::int64_t const i = (first + r) % n;
          plain[static_cast<std::size_t>(r)] = {fast::visible_keys(where, i, m)};
          masked[static_cast<std::size_t>(r)] = {fast::visible_keys(where, i, m), &some_mask};
          to_any |= shown[static_cast<std::size_t>(i)] & present;
          to_all &= shown[static_cast<std::size_t>(i)];
          if (n < size && first + r < n) continue;  // the same strip is in a longer head
          fast::strip_view const view = fast::view_of(plain.data(), r + 1),
                                 hidden = fast::view_of(masked.data(), r + 1);
          if (!view_is_right(view, to_any, to_all, size) || hidden.any != view.any || !hidden.all.empty()) return false;
        }
      }
  }
  return true;
}

/// Is that so for every band of the family?
constexpr bool bands_are_right(band_family const& bands, std::int64_t size) noexcept {
  for (std::int64_t diagonal = -bands.diagonal; diagonal <= bands.diagonal; ++diagonal)
    for (std::int64_t left = -1; left <= bands.side; ++left)
      for (std::int64_t right = -1; right <= bands.side; ++right)
        if (!band_is_right(problem::band{diagonal, left, right}, size)) return false;
  return true;
}

/// Is hull() the shortest interval with every index of both, and contains() the subset relation, for all intervals in
/// [0, size), the empty ones {first, last ≤ first} too?
constexpr bool intervals_are_right(std::int64_t size) noexcept {
  for (std::int64_t first = 0; first <= size; ++first)
    for (std::int64_t last = 0; last <= size; ++last)
      for (std::int64_t from = 0; from <= size; ++from)
        for (std::int64_t to = 0; to <= size; ++to) {
          fast::interval const a{first, last}, b{from, to};
          if (bits(fast::hull(a, b)) != filled(bits(a) | bits(b))) return false;
          if (bits(fast::intersection(a, b)) != (bits(a) & bits(b))) return false;
          if (!b.empty() && fast::contains(a, b) != ((bits(b) & ~bits(a)) == 0)) return false;
        }
  return true;
}

}  // namespace attest::proofs
