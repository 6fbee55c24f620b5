// The writer of audit/files/problem_file.hpp: problems and outputs to a safetensors file.
#include <cstring>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "audit/files/parameters_text.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

/// The elements of a tensor in row-major order, without gaps.
std::vector<std::byte> compact_bytes(owned_tensor const& from) {
  auto const rank = static_cast<std::size_t>(from.layout.rank);
  auto const& [_, shape, stride] = from.layout;
  std::size_t const element = problem::size_of(from.type);
  std::vector<std::byte> compact;
  if (from.spanned_elements() == 0) return compact;
  std::size_t const row_bytes = static_cast<std::size_t>(shape[rank - 1]) * element;
  std::array<std::int64_t, 4> at{};
  for (;;) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) offset += at[axis] * stride[axis];
    auto const* row = from.bytes.data() + static_cast<std::size_t>(offset) * element;
    compact.insert(compact.end(), row, row + row_bytes);
    std::size_t axis = rank - 1;  // the next row, as an odometer counts
    while (axis > 0 && ++at[axis - 1] == shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return compact;
  }
}

std::string_view dtype_of(std::string_view role, problem::element_type type) {
  if (role == "mask") return "BOOL";
  return problem::row_of(type).dtype;
}

}  // namespace

result<std::vector<std::byte>> problem_file_bytes(std::span<problem_file_entry const> problems,
                                                  safetensors_metadata metadata) {
  safetensor_map tensors;
  std::deque<std::vector<std::byte>> owned;
  for (problem_file_entry const& entry : problems) {
    bool unique = true;
    auto const add = [&](std::string_view role, owned_tensor const& from) {
      auto& bytes = owned.emplace_back(compact_bytes(from));
      // A safetensors BOOL is 0 or 1, while in a mask every non-zero byte means true.
      if (role == "mask")
        for (auto& byte : bytes) byte = byte == std::byte{0} ? byte : std::byte{1};
      auto const& shape = from.layout.shape;
      unique = tensors
                   .emplace(entry.name_of(role), safetensor{std::string(dtype_of(role, from.type)),
                                                            {shape.begin(), shape.begin() + from.layout.rank},
                                                            bytes})
                   .second &&
               unique;
    };
    auto const add_if = [&](std::string_view role, std::optional<owned_tensor> const& from) {
      if (from) add(role, *from);
    };
    bool const swapped = entry.order == axis_order::bnhd && entry.problem.rank() == 4;
    auto const add_rows = [&](std::string_view role, owned_tensor const& from) {
      swapped ? add(role, with_swapped_axes(from)) : add(role, from);
    };
    problem_draft const& draft = entry.problem.draft();
    add_rows("q", draft.q);
    add_rows("k", draft.k);
    add_rows("v", draft.v);
    add_if("mask", draft.mask);
    add_if("bias", draft.bias);
    if (entry.outputs.o) add_rows("o", *entry.outputs.o);
    add_if("lse", entry.outputs.lse);
    add_if("weights", entry.outputs.weights);
    if (!unique) return error{error_code::bad_value, printable(entry.prefix), "two problems have this prefix"};
    write_parameters(draft, entry.prefix, metadata);
    if (entry.problem.rank() == 4) metadata[entry.name_of("attest.layout")] = swapped ? "bnhd" : "bhnd";
  }
  return safetensors_bytes(tensors, metadata);
}

}  // namespace attest::audit
