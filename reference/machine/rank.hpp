// R_j of every key of a row (docs/bound.md, section 3, Rescales; Lemma 2; E5), without sorting the row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>

#include "reference/machine/workspace.hpp"

namespace attest::reference::machine {

/// rank[j] = min(most, #{i : above[i] > lowest[j]} − 1), the same numbers as row_bound finds by sorting. On entry, rank
/// holds lowest.
/// Requires  lowest[j] ≤ above[j], all finite; memory.above = above
/// Ensures   the largest rank
/// Why       bucket(x) decreases with x: every key in an earlier bucket lies above lowest[j], none in a later one does,
///           and only the bucket of lowest[j] itself must be searched
/// Cost      O(n) for scores that are spread out, O(n log n) for crowded ones
inline double ranks_of(rank_memory& memory, double most, std::span<double> rank) {
  std::span<double const> const above(memory.above.data(), rank.size());
  std::size_t const n = rank.size();
  constexpr std::uint32_t few = 6;  // searched one by one, without a branch
  double largest = 0;
  if (most == 0) {
    std::ranges::fill(rank, 0.0);
    return 0;
  }
  auto const [low, high] = std::ranges::minmax(above);
  std::size_t const bucket_count = 2 * n;
  double const buckets = static_cast<double>(bucket_count);
  double const per_unit = high - low > 0 ? smaller(buckets / (high - low), std::numeric_limits<double>::max()) : 0;
  auto const bucket_of = [=](double x) {
    double const at = (high - x) * per_unit;
    return static_cast<std::uint32_t>(at < buckets ? at : buckets - 1);
  };
  memory.bucket.resize(n);
  memory.sorted.resize(n + few);
  memory.first.assign(bucket_count + 2, 0);
  for (std::size_t i = 0; i < n; ++i) ++memory.first[(memory.bucket[i] = bucket_of(above[i])) + 2];
  for (std::size_t b = 2; b < bucket_count + 2; ++b) memory.first[b] += memory.first[b - 1];
  for (std::size_t i = 0; i < n; ++i) memory.sorted[memory.first[memory.bucket[i] + 1]++] = above[i];
  bool crowded = false;
  for (std::size_t b = 0; b < bucket_count; ++b) crowded |= memory.first[b + 1] - memory.first[b] > few;
  if (crowded)
    for (std::size_t b = 0; b < bucket_count; ++b)
      if (memory.first[b + 1] - memory.first[b] > few)
        std::sort(memory.sorted.begin() + memory.first[b], memory.sorted.begin() + memory.first[b + 1],
                  std::greater<>());
  for (std::size_t j = 0; j < n; ++j) {
    double const lowest = rank[j];
    std::uint32_t const b = bucket_of(lowest), begin = memory.first[b], end = memory.first[b + 1];
    std::uint32_t count = begin;
    if (end - begin > few) {
      auto const from = memory.sorted.begin();
      count = static_cast<std::uint32_t>(std::lower_bound(from + begin, from + end, lowest, std::greater<>()) - from);
    } else {
      double const* const at = memory.sorted.data() + begin;
      for (std::uint32_t i = 0; i < few; ++i) count += static_cast<std::uint32_t>(i < end - begin) & (at[i] > lowest);
    }
    rank[j] = smaller(most, count > 0 ? count - 1.0 : 0.0);
    largest = larger(largest, rank[j]);
  }
  return largest;
}

}  // namespace attest::reference::machine
