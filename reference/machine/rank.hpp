// R_j of every key of a row (docs/bound.md, section 3, Rescales; Lemma 2; E5), without sorting the row, and γ_j of
// section 9.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>

#include "reference/bound/records.hpp"
#include "reference/machine/workspace.hpp"

namespace attest::reference::machine {

/// rank[j] = min(most, #{i : above[i] > lowest[j]} − 1 + more), the same numbers as row_bound finds by sorting;
/// group[j] is
/// #{i : above[i] = above[j]}, 1 where that is six or less. On entry, rank holds lowest.
/// Requires  lowest[j] ≤ above[j], all finite; memory.above = above
/// Ensures   the largest rank
/// Why       bucket(x) decreases with x: every key in an earlier bucket lies above lowest[j], none in a later one does,
///           and only the bucket of lowest[j] itself must be searched
/// Cost      O(n) for scores that are spread out, O(n log n) for crowded ones
inline double ranks_of(rank_memory& memory, double most, double more, std::span<double> rank, std::span<double> group) {
  std::span<double const> const above(memory.above.data(), rank.size());
  std::size_t const n = rank.size();
  constexpr std::uint32_t few = 6;  // searched one by one, without a branch
  double largest = 0;
  std::ranges::fill(group, 1.0);
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
    std::uint32_t const own = memory.bucket[j], own_begin = memory.first[own], own_end = memory.first[own + 1];
    if (own_end - own_begin > few) {
      auto const equal = std::equal_range(memory.sorted.begin() + own_begin, memory.sorted.begin() + own_end, above[j],
                                          std::greater<>());
      group[j] = scalar::group_of(static_cast<double>(equal.second - equal.first));
    }
    if (end - begin > few) {
      auto const from = memory.sorted.begin();
      count = static_cast<std::uint32_t>(std::lower_bound(from + begin, from + end, lowest, std::greater<>()) - from);
    } else {
      double const* const at = memory.sorted.data() + begin;
      for (std::uint32_t i = 0; i < few; ++i) count += static_cast<std::uint32_t>(i < end - begin) & (at[i] > lowest);
    }
    rank[j] = smaller(most, (count > 0 ? count - 1.0 : 0.0) + more);
    largest = larger(largest, rank[j]);
  }
  return largest;
}

/// R_j and γ_j, as row_bound::rescales_of finds them; returns R. On entry, rescales holds s_j − E_j − m; memory.above
/// holds s_j + E_j − m. `index` holds the absolute indices of the keys.
inline double rescales_of(constant_terms const& terms, std::span<std::int64_t const> index, rank_memory& memory,
                          std::span<double> rescales, std::span<double> group) {
  std::size_t const n = rescales.size();
  double const most = terms.most_rescales();
  memory.lowest.assign(rescales.begin(), rescales.end());
  double largest = ranks_of(memory, most, terms.lazy_merges(), rescales, group);
  if (terms.always_rescales()) {
    std::ranges::fill(rescales, most);
    return most;
  }
  if (!terms.follows_index() || largest <= terms.ordered_rescales(0)) return largest;
  memory.records.resize(n);
  std::size_t const real = n - (terms.has_sink ? 1 : 0);
  records_of(
      std::span(memory.above).first(real), std::span(memory.lowest).first(real), std::span(memory.records).first(real),
      [&](std::size_t j) { return index[j]; }, memory.met);
  if (terms.has_sink) add_sink_to_records(std::span(memory.above).first(n), memory.lowest, memory.records);
  largest = 0;
  for (std::size_t j = 0; j < n; ++j) {
    double const ordered = terms.ordered_rescales(memory.records[j]) + (j < real ? 0 : 1);
    rescales[j] = smaller(rescales[j], ordered);
    largest = larger(largest, rescales[j]);
  }
  return largest;
}

}  // namespace attest::reference::machine
