// Added queries, which may see what the calls of a case hide from their own queries.
#pragma once

#include <cstdint>

#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Does an added query see a key at which two calls of a case differ in K or V? Its answers differ then, too. The
/// queries that were there are `count` ones from `first` on.
/// Requires  calls of the same sizes; without added queries they may be packed or paged
/// Cost      one pass over K and V, and n products of a head for each key that differs
bool added_queries_tell(owned_problem const& one, owned_problem const& other, std::int64_t first, std::int64_t count);

}  // namespace attest::audit
