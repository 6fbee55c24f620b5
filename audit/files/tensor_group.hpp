// The tensors of one prefix of a problem file, and the operator whose problem they are.
#pragma once

#include <map>
#include <span>
#include <string_view>

#include "audit/files/safetensors.hpp"
#include "problem/operators.hpp"

namespace attest::audit {

/// The tensors of one prefix, by role.
using tensor_group = std::map<std::string_view, safetensor const*>;

/// The operators that a file may hold. Problems point to its rows.
using operator_table = std::span<problem::operator_row const>;

/// Is this the role of a tensor that the operator cannot do without? Parts may be in one tensor each: NAME_N for NAMEs.
bool is_taken(problem::operator_row const& by, std::string_view role);

/// The operator of a group. If the group has a tensor that one operator alone takes, it is this operator, and the last
/// if there are several. Otherwise, among the operators whose tensors are all there, it is the one with the most
/// tensors. Otherwise it is the first operator that takes a tensor of the group. Returns null if there is none.
problem::operator_row const* operator_of(tensor_group const& group, operator_table table);

}  // namespace attest::audit
