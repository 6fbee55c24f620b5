// Parts of a problem: some batches, heads, queries, keys, dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "audit/tensors/owned.hpp"
#include "problem/checks.hpp"

namespace attest::audit {

/// Indices that stay, rising. Each kept head of K and V keeps all the query heads that read it, or one of them.
struct selection {
  std::vector<std::int64_t> b, hk, n, m, d, dv;
  std::int64_t query_head = -1;  ///< of each group, counted from 0; −1 = all

  static selection all(problem::sizes const& s);
};

/// Requires a problem that problem::make_instance accepts.
problem::sizes sizes_of(stored_problem const& asked);

/// The chosen part, compact, rank 4. The band moves with the first query and key; the scale is made explicit where d
/// changes.
/// Requires  `from` of rank 4
/// Ensures   nothing where the band cannot follow: it needs queries and keys without holes
std::optional<stored_problem> sliced(stored_problem const& from, selection const& chosen);

}  // namespace attest::audit
