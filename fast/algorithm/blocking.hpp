// How the work is cut: the block sizes that a result depends on, and the rows that share one packing. What depends on the
// instruction set is in simd.inc; what only costs time or memory is where it is used (plan.cpp, workspace.hpp,
// query_block.hpp).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace attest::fast {

/// The sizes that a result depends on: they are the same on every machine.
///
/// Key blocks lie at absolute key indices, [0, keys), [keys, 2·keys), …, whatever the mask or the band, and so do the
/// splits: a row's scores are absorbed block by block, and the partial rows of splits are merged in order. The tree in
/// which a row is summed is thereby a function of m and T alone.
struct blocking {
  std::int64_t keys = 1;   ///< of one block
  std::int64_t split = 1;  ///< keys of one partial row; a multiple of `keys`
  friend constexpr bool operator==(blocking const&, blocking const&) noexcept = default;
};

/// Why these   O meets keys + m/keys − 2 additions: within a factor 1.3 of its minimum for m from 1,000 to 60,000. A
///             block of keys and one of values take 32 KiB each at d = dv = 64 in f32, beside a strip of scores of 14 KiB.
///             In f64 that is twice as much, and still the second cache is read less than with 64 keys, whose blocks meet O
///             twice as often: 2 to 3 % of the peak.
///             A split is long enough to hide a merge, and short enough for 8 threads to share 32,768 keys.
template <std::floating_point T>
inline constexpr blocking blocking_of{.keys = 128, .split = 4096};

/// l is summed in this many lanes, key j in lane j mod sum_lanes, on every instruction set.
inline constexpr std::int64_t sum_lanes = 16;

/// Queries whose scores are computed, weighed and multiplied with V before the next ones': a multiple of every tile.
inline constexpr std::int64_t strip_rows = 24;

/// Rows of a strip's scores lie this far apart: 64 bytes more than a block, so that they fall on different cache sets.
template <std::floating_point T>
inline constexpr std::int64_t score_stride = blocking_of<T>.keys + 64 / static_cast<std::int64_t>(sizeof(T));

constexpr std::int64_t ceiling_division(std::int64_t a, std::int64_t b) noexcept { return a / b + (a % b != 0); }
constexpr std::int64_t rounded_up(std::int64_t a, std::int64_t b) noexcept { return ceiling_division(a, b) * b; }

/// How many queries share one packing of K and V. Never shows in a result.
///
/// Ensures  packed queries, O and row states fill at most half of `cache` bytes; `tasks_wanted` tasks where there are
///          rows enough; a multiple of strip_rows
template <std::floating_point T>
constexpr std::int64_t query_block_rows(std::int64_t rows, std::int64_t heads, std::int64_t d, std::int64_t dv,
                                        std::int64_t cache, std::int64_t tasks_wanted) noexcept {
  std::int64_t const row_bytes = (d + dv + 2 * sum_lanes) * static_cast<std::int64_t>(sizeof(T));
  std::int64_t const fitting = std::clamp<std::int64_t>(cache / 2 / row_bytes, strip_rows, 4096);
  std::int64_t const blocks_wanted =
      std::max(ceiling_division(rows, fitting), ceiling_division(tasks_wanted, std::max<std::int64_t>(heads, 1)));
  return rounded_up(ceiling_division(rows, std::max<std::int64_t>(blocks_wanted, 1)), strip_rows);
}

static_assert(blocking_of<float>.split % blocking_of<float>.keys == 0 && blocking_of<float>.keys % sum_lanes == 0);
static_assert(blocking_of<double>.split % blocking_of<double>.keys == 0 && blocking_of<double>.keys % sum_lanes == 0);

}  // namespace attest::fast
