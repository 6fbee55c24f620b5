// The sizes that the work is cut into. Other files use these words as they are defined here.
//
//   word         what it counts                                set by                     bounded by
//   split        keys of one partial row (m, l, O)             blocking_of                long enough to hide a merge
//   key block    keys j that update m, l and O at once:        blocking_of                packed K, V and a strip of
//                B_c of FlashAttention                                                    scores fit in the caches
//   query block  rows i of one kv head that share one packing  query_block_rows(),        packed Q and O fit in half
//                of K and V, one task: B_r of FlashAttention   called by plan.cpp         the second-level cache
//   strip        rows of a query block whose scores exist at   strip_rows                 the first-level cache
//                the same time
//   tile         rows of the register tile of both products    the target                 the vector registers
//                                                              (vectors-inl.hpp)
//   panel        columns of that tile, which lie side by       operations::panel, by the  the vector registers
//                side: keys in packed K, columns in packed V   target (vectors-inl.hpp)
//
// A result depends on the first two and on sum_lanes, which are the same on every machine, and on nothing else here.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace attest::fast {

/// The sizes that a result depends on: they are the same on every machine.
///
/// Key blocks lie at absolute key indices, [0, keys), [keys, 2·keys), …, whatever the mask or the band, and so do the
/// splits. A row absorbs its scores key block by key block, and the partial rows of its splits are merged in order. So
/// the tree in which a row is summed is a function of the indices of its visible keys and of T alone. Key j counts from
/// the first key of its entry, wherever that lies. (An empty split adds exact zeros.) A sink comes behind all keys.
struct blocking {
  std::int64_t keys = 1;   ///< of one key block
  std::int64_t split = 1;  ///< keys of one partial row; a multiple of `keys`
  friend constexpr bool operator==(blocking const&, blocking const&) noexcept = default;
};

/// Why these   An element of O is the result of keys + m/keys − 2 additions: within a factor 1.3 of the minimum for m
///             from 1,000 to 60,000. One key block of K and one of V take 32 KiB each at d = dv = 64 in f32, beside a
///             strip of scores of 14 KiB. In f64 they take twice as much, and the second-level cache is still read less
///             than with blocks of 64 keys, which read O twice as often: that gains 2 to 3 % of the peak.
///             A split is long enough to hide a merge, and short enough for 8 threads to share 32,768 keys.
template <std::floating_point T>
inline constexpr blocking blocking_of{.keys = 128, .split = 4096};

/// l is summed in this many lanes, key j in lane j mod sum_lanes, on every SIMD target.
inline constexpr std::int64_t sum_lanes = 16;

/// Rows of a strip: the strip's scores are computed, exponentiated and multiplied with V before the next strip's. A
/// multiple of every target's tile.
inline constexpr std::int64_t strip_rows = 24;

/// A block mask makes no strip shorter than this, except the last of a query block: the register tiles of few rows are
/// slow, and packed Q takes strip_rows rows for each strip.
inline constexpr std::int64_t fewest_strip_rows = strip_rows / 2;

/// The row stride of a strip's scores: 64 bytes more than a key block, so that rows fall on different cache sets.
template <std::floating_point T>
inline constexpr std::int64_t score_stride = blocking_of<T>.keys + 64 / static_cast<std::int64_t>(sizeof(T));

constexpr std::int64_t ceiling_division(std::int64_t a, std::int64_t b) noexcept { return a / b + (a % b != 0); }
constexpr std::int64_t rounded_up(std::int64_t a, std::int64_t b) noexcept { return ceiling_division(a, b) * b; }

/// The rows of a query block. No result depends on it.
///
/// Ensures   packed queries, O and row states fill at most half of `cache` bytes, except if one strip takes more;
///           `tasks_wanted` tasks if there are enough rows; a multiple of strip_rows
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
