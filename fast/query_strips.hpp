// The strips of a query block: where they end, and which keys each sees.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fast/query_rows.hpp"

namespace attest::fast {

/// Some rows of a query block, and the keys that they see: of all keys, and of the key block that is being absorbed.
template <class T>
struct query_strip {
  interval rows{};             ///< at most strip_rows
  T* Q = nullptr;              ///< their queries, packed: memory for [strip_rows, d]
  bool one_block_row = false;  ///< they have the same blocks of a block mask
  strip_view view{};
  interval seen{};     ///< the shortest interval outside which no query of the strip sees a key of the key block
  bool whole = false;  ///< every query sees every key of `seen`
};

/// The strips of a query block, in the order of its rows.
template <class T>
struct block_strips {
  query_strip<T>* first = nullptr;
  std::int64_t count = 0;
  std::int64_t rows = 0;  ///< of the query block
  interval seen{};        ///< the shortest interval outside which no query of the block sees a key

  query_strip<T>* begin() const noexcept { return first; }
  query_strip<T>* end() const noexcept { return first + count; }
  query_strip<T>& back() const noexcept { return first[count - 1]; }

  /// As in decoding: then packed copies of K and V would be used only once.
  bool are_one() const noexcept { return count == 1; }

  /// One more strip. Its packed queries, each with memory for `width` numbers, follow the other strips' queries in Q.
  query_strip<T>& append(T* Q, std::int64_t width) noexcept {
    first[count].Q = Q + count * strip_rows * width;
    return first[count++];
  }
};

/// The number of rows of a strip, if so many rows are left and the first `alike` queries have the same blocks of a
/// block mask; 0: there is none. The strip ends with these queries if that leaves no strip with less than
/// fewest_strip_rows: each query of a strip is multiplied with the blocks of all its queries.
constexpr std::int64_t rows_of_strip(std::int64_t alike) noexcept {
  if (alike < fewest_strip_rows) return strip_rows;
  return alike <= strip_rows ? alike : std::min(strip_rows, alike - fewest_strip_rows);
}
static_assert(rows_of_strip(64) == 24 && rows_of_strip(40) == 24 && rows_of_strip(16) == 16);  // blocks of 64 queries
static_assert(rows_of_strip(32) == 20 && rows_of_strip(12) == 12 && rows_of_strip(8) == 24);

/// Do these rows have the same blocks? rules[r] belongs to row r of the query block.
template <class E>
bool have_one_block_row(query_rules<E> const* rules, interval const& rows) noexcept {
  std::uint8_t const* const set = rules[rows.first].blocks.set;
  if (set == nullptr) return true;
  return std::all_of(rules + rows.first, rules + rows.last, [&](auto const& row) { return row.blocks.set == set; });
}

/// Calls visit(block_row) for every row of a strip, but only once for neighbours that share one.
template <class E, class Visit>
void each_blocks(query_strip<working<E>> const& strip, query_rules<E> const* rules, Visit&& visit) {
  if (strip.one_block_row) return visit(rules[strip.rows.first].blocks);
  std::uint8_t const* before = nullptr;
  for (std::int64_t r = strip.rows.first; r < strip.rows.last; ++r) {
    if (rules[r].blocks.set != before) visit(rules[r].blocks);
    before = rules[r].blocks.set;
  }
}

/// Sets the keys that a strip sees of a key block.
template <class E>
void look(query_strip<working<E>>& strip, query_rules<E> const* rules, interval const& keys) noexcept {
  strip.seen = intersection(strip.view.any, keys);
  bool const has_blocks = rules[strip.rows.first].blocks.set != nullptr;
  if (has_blocks && !strip.seen.empty()) {
    interval shown{};
    each_blocks(strip, rules, [&](block_row const& blocks) { shown = hull(shown, blocks.shown(strip.seen)); });
    strip.seen = shown;
  }
  strip.whole = contains(strip.view.all, strip.seen);
  if (has_blocks && strip.whole)
    each_blocks(strip, rules,
                [&](block_row const& blocks) { strip.whole = strip.whole && blocks.shows_all(strip.seen); });
}

}  // namespace attest::fast
