// rec_j of docs/bound.md, section 3, Rescales: how often a partial result that holds key j and takes its keys in the
// order of the index can meet a larger score (Lemma 2, Order of index).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attest::reference {

/// records[j] = max over both directions and the lanes 1, 2, 4, …, 64 of rec_j: 0 where no later key i of the same lane
/// has highest[i] > lowest[j], else 1 + rec_i for the first such i. Key j has the absolute index `index(j)`, ascending.
/// Requires  lowest[j] ≤ highest[j], all finite; all arrays of one size
/// Why       the stack of a lane holds the later keys that no key before them exceeds, nearest on top; those at or
///           below lowest[j] ≤ highest[j] can leave it for good, and the next on top is the first that exceeds it
/// Cost      O(n) for each lane and direction
template <class Index>
constexpr void records_of(std::span<double const> highest, std::span<double const> lowest, std::span<double> records,
                          Index&& index, std::vector<std::size_t>& below, std::vector<double>& count) {
  constexpr std::size_t most_lanes = 64, none = static_cast<std::size_t>(-1);
  std::size_t const n = records.size();
  std::ranges::fill(records, 0.0);
  below.resize(n), count.resize(n);
  for (std::size_t lanes = 1; lanes <= most_lanes; lanes *= 2)
    for (bool const rising : {true, false}) {
      std::size_t top[most_lanes];
      for (std::size_t lane = 0; lane < lanes; ++lane) top[lane] = none;
      for (std::size_t step = 0; step < n; ++step) {
        std::size_t const j = rising ? n - 1 - step : step;
        std::size_t& nearest = top[static_cast<std::uint64_t>(index(j)) % lanes];
        while (nearest != none && !(highest[nearest] > lowest[j])) nearest = below[nearest];
        count[j] = nearest == none ? 0 : count[nearest] + 1;
        records[j] = records[j] < count[j] ? count[j] : records[j];
        while (nearest != none && !(highest[nearest] > highest[j])) nearest = below[nearest];
        below[j] = nearest, nearest = j;
      }
    }
}

/// A sink, the last of these keys, has no place in the order: a walk may meet it anywhere. So a key that it may exceed
/// has one record more, and the sink itself as many as the keys that may exceed it.
/// Requires  records of the other keys
constexpr void add_sink_to_records(std::span<double const> highest, std::span<double const> lowest,
                                   std::span<double> records) noexcept {
  std::size_t const sink = records.size() - 1;
  double most = 0;
  for (std::size_t j = 0; j < sink; ++j) {
    if (highest[j] > lowest[sink] && most < records[j]) most = records[j];
    if (highest[sink] > lowest[j]) records[j] += 1;
  }
  records[sink] = most;
}

}  // namespace attest::reference
