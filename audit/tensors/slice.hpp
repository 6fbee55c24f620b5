// Parts of a problem: some batches, heads, queries, keys, dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "audit/tensors/owned_problem.hpp"
#include "problem/checks.hpp"

namespace attest::audit {

/// Indices that stay, rising. Each kept head of K and V keeps all the query heads that read it, or one of them.
struct selection {
  std::vector<std::int64_t> b, hk, n, m, d, dv;
  std::int64_t query_head = -1;  ///< of each group, counted from 0; −1 = all

  static selection all(problem::sizes const& s);
};

/// The chosen part, compact, rank 4. The band moves with the first query and key; the scale is made explicit where d
/// changes.
/// Requires  `whole` of rank 4
/// Ensures   nothing where the band cannot follow: it needs queries and keys without holes
std::optional<owned_problem> sliced(owned_problem const& whole, selection const& chosen);

}  // namespace attest::audit
