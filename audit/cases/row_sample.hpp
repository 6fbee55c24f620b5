// The choice of the rows of a large problem that are judged.
#pragma once

#include <span>
#include <vector>

#include "audit/cases/random.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "audit/tensors/row_index.hpp"
#include "audit/tensors/slice.hpp"

namespace attest::audit {

/// Puts rows in increasing order, each once.
void put_in_order(std::vector<row_index>& rows);

/// Rows of [b, hq, n] in increasing order. Of every pair of a batch entry and a head in turn: the first and the last
/// query, the queries at the edges of tiles of 8 to 256 queries, and some at random.
/// Ensures   empty, which stands for all rows, if there are no more than `most`; else at least one and at most `most`
///           rows. The last row of the last head is always among them. From b·hq + 1 rows on, one of every pair is
std::vector<row_index> sampled_rows(problem::sizes const& s, std::int64_t most, random_stream& random);
/// The same for the queries of each entry, as far as a short entry has so many. Empty, which stands for all, if no
/// entry has one.
std::vector<row_index> sampled_queries(owned_problem const& problem, std::int64_t most, random_stream& random);

/// Rows of a backward pass (key_rows.hpp) in increasing order, whose judging costs about `products` multiplications. A
/// quarter of that is for rows of dQ, chosen as sampled_queries does. The rest is for keys of a few heads: of a head of
/// keys the first, the last, those at the edges of tiles, and some at random. A key costs each query that sees it, over
/// all keys of that query, and so further keys of its head cost little. Empty, which stands for all, if all are not
/// dearer. Requires  a problem without pages
std::vector<row_index> sampled_gradients(owned_problem const& problem, std::int64_t products, random_stream& random);

/// Those rows that are inside the selection, by their indices there. An empty list, which stands for all rows, if none
/// is inside.
std::vector<row_index> kept_rows(std::span<row_index const> from, problem::sizes const& s, selection const& chosen);

}  // namespace attest::audit
