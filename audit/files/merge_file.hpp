// The groups of a problem file that are merges of partial results (docs/files.md): PREFIX.o_parts [S, b, hq, n, dv] and
// PREFIX.lse_parts [S, b, hq, n], or PREFIX.o_part_0, PREFIX.lse_part_0, PREFIX.o_part_1, …, one a part; and the answer
// in PREFIX.o and PREFIX.lse. The axes b and hq may be absent.
#pragma once

#include <optional>
#include <string_view>

#include "audit/files/tensor_group.hpp"
#include "audit/tensors/merge_form.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The tensors of all parts.
inline constexpr std::string_view o_parts = problem::merge.takes[0], lse_parts = problem::merge.takes[1];

/// The problem of a merge. If the group has PREFIX.o of a type for which there is a contract (answer_fault), the answer
/// has this type; else it has the type of the parts.
/// Requires  a tensor of parts in the group
/// Ensures   an error names the tensor
/// Cost      memory in proportion to the parts
problem::result<problem_draft> merge_of(std::string_view prefix, tensor_group const& group);

/// Why there is no contract for an answer of that type from parts of this type. Returns nothing if there is one.
std::optional<problem::error> answer_fault(std::string_view name, problem::element_type parts,
                                           problem::element_type answer);

}  // namespace attest::audit
