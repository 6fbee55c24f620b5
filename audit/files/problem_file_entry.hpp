// One problem of a problem file (problem_file.hpp), its names, and the orders of axes that a file can have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/support/printable.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The name of a tensor or metadata key of the problem with this prefix: "layer0.q".
inline std::string prefixed(std::string_view prefix, std::string_view role) {
  return prefix.empty() ? std::string(role) : std::string(prefix) + '.' + std::string(role);
}

/// An error about a tensor, metadata key or flag, whose name comes from outside.
inline problem::error fault(problem::error_code code, std::string_view name, std::string reason) {
  return {code, printable(name), std::move(reason)};
}

/// The order of the axes of q, k, v and o in a file. A problem in memory has the order of its strides.
enum class axis_order : std::uint8_t { bhnd, bnhd, thd, nbhd };
/// The order of the axes of a pool of pages in a file.
enum class pool_order : std::uint8_t { hnd, nhd };

/// A tensor of a file that has the name of an output of a problem, but cannot be one.
struct unusable_output {
  std::string role;  ///< "o", "lse" or "weights"
  std::string says;  ///< "shape is [2, 4], expected [2, 5]"
  /// The same elements in the other axis_order, compact, if they have the shape of the output in that order.
  std::optional<owned_tensor> in_other_order{};
};

/// One problem of a file, and the outputs that the file has for it.
struct problem_file_entry {
  std::string prefix;  ///< without the last '.'; empty for plain q, k, v
  owned_problem problem;
  owned_outputs outputs{};  ///< compact, [b, h, n, ·] whatever the order of the file
  std::vector<unusable_output> unusable{};
  axis_order order = axis_order::bhnd;
  pool_order pools = pool_order::hnd;
  bool weights_over_packed_rows = false;  ///< the file has weights, which have no shape there: they are not read

  std::string name_of(std::string_view role) const { return prefixed(prefix, role); }
};

/// The same elements under another order of the axes of heads and rows. Requires rank 3 or 4.
inline owned_tensor with_swapped_axes(owned_tensor tensor) {
  auto const heads = static_cast<std::size_t>(tensor.layout.rank) - 3;
  std::swap(tensor.layout.shape[heads], tensor.layout.shape[heads + 1]);
  std::swap(tensor.layout.stride[heads], tensor.layout.stride[heads + 1]);
  return tensor;
}

/// A tensor with the axes of a file as [b, h, n, d], or [h, n, d]. Fewer axes, and packed rows, have one order.
inline owned_tensor from_order(axis_order order, owned_tensor tensor) {
  auto& [rank, shape, stride] = tensor.layout;
  if (rank < 3 || order == axis_order::bhnd || order == axis_order::thd) return tensor;
  if (rank == 3 || order == axis_order::bnhd) return with_swapped_axes(std::move(tensor));
  shape = {shape[1], shape[2], shape[0], shape[3]}, stride = {stride[1], stride[2], stride[0], stride[3]};
  return tensor;
}

/// The inverse of from_order.
inline owned_tensor to_order(axis_order order, owned_tensor tensor) {
  auto& [rank, shape, stride] = tensor.layout;
  if (rank < 4 || order != axis_order::nbhd) return from_order(order, std::move(tensor));
  shape = {shape[2], shape[0], shape[1], shape[3]}, stride = {stride[2], stride[0], stride[1], stride[3]};
  return tensor;
}

/// The parameters that the user set by flags: name and unparsed value. Each one overrides the file's metadata.
using flag_overrides = std::map<std::string, std::optional<std::string>, std::less<>>;

}  // namespace attest::audit
