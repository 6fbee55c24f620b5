// A tensor of a problem file, copied to a tensor that owns its memory.
#pragma once

#include <string_view>

#include "audit/files/safetensors.hpp"
#include "audit/tensors/owned_tensor.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The tensor of this name and role, in the order of the file. Returns an error if the role does not allow its type or
/// rank.
problem::result<owned_tensor> tensor_of(std::string_view name, std::string_view role, safetensor const& from);

/// A packed tensor [rows, heads, width] as [1, heads, rows, width]; others as they are.
owned_tensor from_thd(owned_tensor tensor);

/// A packed tensor [1, heads, rows, width] as [rows, heads, width]; an LSE [1, heads, rows] as [heads, rows].
owned_tensor as_thd(owned_tensor tensor);

}  // namespace attest::audit
