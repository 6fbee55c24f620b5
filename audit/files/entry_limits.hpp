// What packed and paged entries may ask of whoever reads their file. The bytes of a file bound the work and the memory
// that it takes; a block table may name one page again and again, and offsets may make entries without a row, whose
// keys and heads have no bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The keys of all paged entries, for each row of their pool. Sequences share the pages of a prompt that they have in
/// common: with this 1,024 of them share one of 65,536 keys, or any number of them one of 64 times their own pool.
inline constexpr std::int64_t most_sharing = 64;

/// Why a problem has more than its file bounds; none where it has not. The room of a paged entry, which the judge's
/// memory follows whatever the length, is at most the rows of the pool, or most_empty_rows; the keys of all entries are
/// at most most_sharing times that. Entries without queries have at most most_empty_rows rows along the heads.
/// Cost      one pass over the entries
std::optional<problem::error> entry_limits_fault(std::string_view prefix, owned_problem const& problem);

}  // namespace attest::audit
