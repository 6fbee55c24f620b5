// The choice of the rows of a large problem that are judged.
#pragma once

#include <vector>

#include "audit/cases/random.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "audit/tensors/row_index.hpp"

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

}  // namespace attest::audit
