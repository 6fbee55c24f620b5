// Batch entries, heads and queries in numbers that a domain takes. Added ones repeat the entries and heads of the call;
// heads or queries beyond the most of the domain become batch entries.
#pragma once

#include <string>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// A problem with the batch, heads and number of queries of a domain.
struct folded_problem {
  owned_problem problem;
  bool changed = false;  ///< do its rows lie at other places?
};

/// Requires  rank 4; `name`: of the case, which draws the queries that are kept if there are too many
/// Ensures   batch, kv_heads and group of the result are in the domain, and it has at most domain.n.most queries; or an
///           error whose reason says what the domain cannot express
problem::result<folded_problem> folded(owned_problem const& from, call_domain const& domain, std::string_view name);

}  // namespace attest::audit
