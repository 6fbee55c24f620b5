// Problems with slots as packed and paged problems: the same queries, keys and values, in other places.
#pragma once

#include <cstdint>

#include "audit/tensors/problem_draft.hpp"

namespace attest::audit {

class random_stream;  // random.hpp

/// Draws the queries and keys of each entry: no row, one, all of the slot, a few below all, or any number; at least one
/// entry has all. Sets q_lengths and k_lengths.
/// Requires  a dense problem of rank 4
void draw_lengths(problem_draft& to, random_stream& random);

/// The lengths of the entries, as given. Requires a dense problem of rank 4 with so many entries
void set_lengths(problem_draft& to, std::vector<std::int32_t> const& queries, std::vector<std::int32_t> const& keys);

/// The entries of q, or of k and v, one behind the other. `behind` further rows, which belong to no entry, hold NaN.
/// Requires  rank 4, no mask, bias, keep or block mask; that side not packed or paged
void pack_queries(problem_draft& to, std::int64_t behind);
void pack_keys(problem_draft& to, std::int64_t behind);

/// The layout of keys in pages.
struct paging {
  std::int64_t page = 16;
  std::int64_t more_columns = 1;  ///< of the table, which no key needs; they hold numbers that name no page
  std::int64_t more_pages = 2;    ///< of the pool, to which no key is mapped; they hold NaN
  bool shared = false;            ///< entries whose first pages hold the same bytes share them
};

/// K and V as pools of pages in a drawn order. Memory behind a length is NaN, in the last page too. Mask, bias, keep
/// and block mask get columns for keys for which a page has room, but which no entry has.
/// Requires  rank 4, k neither packed nor paged, how.page ≥ 1
void page_keys(problem_draft& to, paging const& how, random_stream& random);

}  // namespace attest::audit
