// One mutation of a problem's bytes (problem_bytes.hpp) that keeps their meaning: another regime, a size at an edge, an
// element moved by ulps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "audit/cases/random.hpp"
#include "fuzz/support/problem_bytes.hpp"

namespace attest::fuzz {

/// Where a kernel changes its mind: 0, 1, primes, powers of two and their neighbours, the blocks of 64 keys.
inline constexpr std::array<std::uint8_t, 22> edge_sizes{0,  1,  2,  3,  4,  5,  7,  8,  9,   13,  15,
                                                         16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};

/// Mutates in place; the bytes are `size` of `room`.
/// Requires  size ≤ room.size()
/// Ensures   the new size, ≤ room.size()
inline std::size_t mutate(std::span<std::uint8_t> room, std::size_t size, std::uint64_t seed_of_the_draw) {
  audit::random_stream random(seed_of_the_draw, "mutator");
  auto const byte = [&] { return static_cast<std::uint8_t>(random.bits() >> 32); };
  auto const any_of = [&](auto const& from) { return from[static_cast<std::size_t>(random.below(std::ssize(from)))]; };
  if (size < fields) {
    std::size_t const full = std::min<std::size_t>(fields, room.size());
    std::fill(room.begin() + static_cast<std::ptrdiff_t>(size), room.begin() + static_cast<std::ptrdiff_t>(full),
              std::uint8_t{0});
    size = full;
    if (size < fields) return size;
  }
  std::size_t const patches = (size - fields) / patch_bytes;
  auto const patch = [&](std::size_t which) { return room.subspan(fields + which * patch_bytes, patch_bytes); };
  auto const any_patch = [&] { return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(patches))); };
  auto const add = [&](patch_kind how, std::uint8_t value) {
    std::size_t const end = fields + patches * patch_bytes;
    if (end + patch_bytes > room.size()) return size;
    auto const added = patch(patches);
    for (std::uint8_t& content : added) content = byte();
    added[patch_how] = how, added[patch_value] = value;
    return end + patch_bytes;
  };
  constexpr std::array regimes{type,   scores,  values, mask, bias,    scale,   softcap, gap,
                               choice, entries, page,   sink, block_q, block_k, keep};
  constexpr std::array sizes{b, groups, hk, n, m, d, dv};
  constexpr std::array bands{diagonal, left, right};
  switch (random.below(10)) {
    case 0:
    case 1: room[any_of(regimes)] = byte(); return size;
    case 2: {  // the edges are meant for m: folded into the few queries of a target they are no edges, and small
      field const which = any_of(sizes);
      room[which] = which == m && random.below(2) ? any_of(edge_sizes) : byte();
      return size;
    }
    case 3: room[any_of(bands)] = byte(); return size;
    case 4: room[random.below(2) ? seed : seed_high] = byte(); return size;
    case 5: return add(ulps, static_cast<std::uint8_t>(random.below(5) - 2));
    case 6: return add(twin, static_cast<std::uint8_t>(random.below(3) - 1));
    case 7: return add(special, byte());
    case 8:
      if (patches == 0) return add(bits, byte());
      patch(any_patch())[patch_value] += static_cast<std::uint8_t>(random.below(2) ? 1 : 0xff);
      return size;
    default:
      if (patches == 0) return size;
      std::ranges::copy(patch(patches - 1), patch(any_patch()).begin());
      return fields + (patches - 1) * patch_bytes;
  }
}

}  // namespace attest::fuzz
