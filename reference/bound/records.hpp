// rec_j of docs/bound.md, section 3, Rescales: how often a partial result that holds key j and takes its keys in the
// order of the index can meet a larger score (Lemma 2, Order of index).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attest::reference {

/// The place of x among the doubles: a < b exactly where ordered(a) < ordered(b), and −0 is 0. Such numbers are
/// compared and counted without a branch. Requires  x not NaN
constexpr std::uint64_t ordered(double x) noexcept {
  auto const bits = std::bit_cast<std::uint64_t>(x + 0.0);
  return (bits >> 63) != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

/// Of a key: its highest and lowest score, ordered, its absolute index, and its largest rec so far.
struct recorded_key {
  std::uint64_t highest = 0, lowest = 0, index = 0, records = 0;
};

/// The met keys of each lane of one direction that no key met later exceeds, by falling `highest`. Each lane begins
/// with keys that do not exist: they exceed all, and a key that meets them has no record.
class met_keys {
 public:
  static constexpr std::size_t most_lanes = 64;

  /// size[lane] keys are to come.
  constexpr void begin(std::span<std::size_t const> size) {
    std::size_t at = 0;
    for (std::size_t lane = 0; lane < size.size(); ++lane) {
      if (keys_.size() < at + few + size[lane]) keys_.resize(at + few + size[lane]);
      for (std::size_t i = 0; i < few; ++i) keys_[at++] = {none, none};
      top_[lane] = at - 1, at += size[lane];
    }
  }

  /// Meets a key, and raises its records to rec: 0 where no met key has highest > lowest, else 1 + the rec of the last
  /// such key. Requires  lowest ≤ highest
  constexpr void meet(recorded_key& key, std::size_t lanes) noexcept {
    std::size_t& top = top_[key.index & (lanes - 1)];
    met_key const* const last = &keys_[top];
    // Most keys exceed less than `few` of them, which are counted without a branch.
    std::size_t at = top - few;
    at += key.lowest < last[0].highest;
    at += key.lowest < last[-1].highest;
    at += key.lowest < last[-2].highest;
    at += key.lowest < last[-3].highest;
    while (!(key.lowest < keys_[at].highest)) --at;
    std::uint64_t const count = keys_[at].count + 1;
    while (!(key.highest < keys_[at].highest)) --at;
    keys_[top = at + 1] = {key.highest, count};
    key.records = key.records < count ? count : key.records;
  }

 private:
  struct met_key {
    std::uint64_t highest = 0, count = 0;
  };
  static constexpr std::size_t few = 4;
  static constexpr std::uint64_t none = static_cast<std::uint64_t>(-1);  // above all; 1 more is 0
  std::vector<met_key> keys_;
  std::array<std::size_t, most_lanes> top_{};
};

/// Memory of records_of.
struct record_memory {
  std::vector<recorded_key> keys;
  met_keys later, earlier;
};

/// records[j] = max over both directions and the lanes 1, 2, 4, …, 64 of rec_j: 0 where no later key i of the same lane
/// has highest[i] > lowest[j], else 1 + rec_i for the first such i. Key j has the absolute index `index(j)`, ascending.
/// Requires  lowest[j] ≤ highest[j], all finite; all arrays of one size
/// Why       the stack of a lane holds the later keys that no key before them exceeds, nearest on top; those at or
///           below lowest[j] ≤ highest[j] can leave it for good, and the next on top is the first that exceeds it
/// Cost      O(n) for each lane and direction
template <class Index>
constexpr void records_of(std::span<double const> highest, std::span<double const> lowest, std::span<double> records,
                          Index&& index, record_memory& memory) {
  std::size_t const n = records.size();
  auto& keys = memory.keys;
  keys.resize(n);
  std::array<std::size_t, met_keys::most_lanes> size{};
  for (std::size_t j = 0; j < n; ++j) {
    keys[j] = {ordered(highest[j]), ordered(lowest[j]), static_cast<std::uint64_t>(index(j)), 0};
    ++size[keys[j].index % size.size()];
  }
  for (std::size_t lanes = size.size(); lanes > 0; lanes /= 2) {
    std::span const keys_of = std::span(size).first(lanes);
    if (std::ranges::max(keys_of) > 1) {
      memory.later.begin(keys_of), memory.earlier.begin(keys_of);
      for (std::size_t j = 0; j < n; ++j)
        memory.later.meet(keys[n - 1 - j], lanes), memory.earlier.meet(keys[j], lanes);
    }
    for (std::size_t lane = 0; lane < lanes / 2; ++lane) size[lane] += size[lane + lanes / 2];
  }
  for (std::size_t j = 0; j < n; ++j) records[j] = static_cast<double>(keys[j].records);
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
