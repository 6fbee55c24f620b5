// Limits on packed and paged entries. The bytes of a file bound the work and the memory that it takes, with two
// exceptions. A block table may name one page again and again. Offsets may make entries without rows, whose keys and
// heads have no bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The limit on the keys of all paged entries, for each row of their pool. Sequences that begin with the same prompt
/// share its pages. With this limit, 1,024 of them can share a prompt of 65,536 keys; any number of them can share one
/// if their keys are at most 64 times the pool.
inline constexpr std::int64_t most_sharing = 64;

/// Why a problem has more than its file bounds; nothing if it is within the limits. The room of a paged entry is at
/// most the rows of the pool, or most_empty_rows: the judge's memory follows the room, whatever the length. The keys of
/// all entries are at most most_sharing times that. Entries without queries have at most most_empty_rows rows along the
/// heads.
/// Cost      one pass over the entries
std::optional<problem::error> entry_limits_fault(std::string_view prefix, owned_problem const& problem);

}  // namespace attest::audit
