// Slices of a problem: some of its batches, heads, queries, keys and dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "audit/tensors/owned_problem.hpp"
#include "problem/checks.hpp"

namespace attest::audit {

/// The indices to keep, in increasing order. A kept head of K and V keeps all query heads that read it, or one of them.
struct selection {
  std::vector<std::int64_t> b, hk, n, m, d, dv;
  std::int64_t query_head = -1;  ///< the one to keep of each group, counted from 0; −1 = all

  static selection all(problem::sizes const& s);
};

/// The selected part as a compact problem of rank 4. The diagonal is adjusted to the first kept query and key; the
/// default scale becomes explicit if d changes.
/// Requires  `whole` of rank 4
/// Ensures   nothing if the part has no band with the same visibility: a band needs consecutive queries and keys
std::optional<owned_problem> sliced(owned_problem const& whole, selection const& chosen);

}  // namespace attest::audit
