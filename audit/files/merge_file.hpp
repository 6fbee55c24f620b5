// The groups of a problem file that are merges of partial results (docs/audit.md): PREFIX.o_parts [S, b, hq, n, dv] and
// PREFIX.lse_parts [S, b, hq, n], or PREFIX.o_part_0, PREFIX.lse_part_0, PREFIX.o_part_1, …, one a part; and the answer
// in PREFIX.o and PREFIX.lse. The axes b and hq may be absent.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "audit/files/safetensors.hpp"
#include "audit/tensors/merge_form.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The tensors of one prefix, by role.
using tensor_group = std::map<std::string_view, safetensor const*>;

/// Is this the role of a tensor of parts: o_parts, lse_parts, o_part_N or lse_part_N?
bool is_part_role(std::string_view role);

/// Has the group a tensor of parts?
bool has_parts(tensor_group const& group);

/// The problem of a merge. If the group has PREFIX.o of a type for which there is a contract (answer_fault), the answer
/// has this type; else it has the type of the parts.
/// Requires  has_parts(group)
/// Ensures   an error names the tensor
/// Cost      memory in proportion to the parts
problem::result<problem_draft> merge_of(std::string_view prefix, tensor_group const& group);

/// Why there is no contract for an answer of that type from parts of this type. Returns nothing if there is one.
std::optional<problem::error> answer_fault(std::string_view name, problem::element_type parts,
                                           problem::element_type answer);

}  // namespace attest::audit
