// Block masks: which keys the blocks of one query leave visible.
#pragma once

#include <cstdint>

#include "fast/algorithm/band.hpp"

namespace attest::fast {

/// The blocks of one query: block k is keys [k·keys, (k+1)·keys).
struct block_row {
  std::uint8_t const* set = nullptr;  ///< non-zero = set; null: there is no block mask
  std::int64_t keys = 1;

  constexpr bool shows(std::int64_t key) const noexcept { return set == nullptr || set[key / keys] != 0; }

  /// Calls visit(interval) for the keys of `among` in each unset block, in order.
  template <class Visit>
  constexpr void each_hidden(interval const& among, Visit&& visit) const {
    if (set == nullptr || among.empty()) return;
    for (std::int64_t k = among.first / keys; k <= (among.last - 1) / keys; ++k)
      if (set[k] == 0) visit(intersection(among, of_block(k, among.last)));
  }

  /// The shortest interval that holds every key of `among` in a set block.
  constexpr interval shown(interval const& among) const noexcept {
    if (set == nullptr || among.empty()) return among;
    std::int64_t first = among.first / keys, last = (among.last - 1) / keys;
    while (first <= last && set[first] == 0) ++first;
    while (first <= last && set[last] == 0) --last;
    return first > last ? interval{} : intersection(among, {first * keys, of_block(last, among.last).last});
  }

  constexpr bool shows_all(interval const& among) const noexcept {
    bool all = true;
    each_hidden(among, [&](interval const&) { all = false; });
    return all;
  }

 private:
  /// Keys of block k below `end`. Its own end may lie beyond 64 bits.
  constexpr interval of_block(std::int64_t k, std::int64_t end) const noexcept {
    return {k * keys, end - k * keys > keys ? (k + 1) * keys : end};
  }
};

}  // namespace attest::fast
