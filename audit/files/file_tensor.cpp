#include "audit/files/file_tensor.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/files/dtype.hpp"
#include "audit/files/empty_rows.hpp"
#include "audit/files/problem_file_entry.hpp"
#include "audit/support/printable.hpp"
#include "problem/optional_tensors.hpp"

namespace attest::audit {
namespace {

using problem::element_type;
using problem::error;
using problem::error_code;
using problem::result;

result<element_type> type_for(std::string_view name, std::string_view role, std::string_view dtype) {
  auto const floating = floating_type(dtype);
  auto const optional = problem::find_optional_tensor(role);
  if (optional && optional->whole_numbers) {
    if (dtype == "I32" || dtype == "I64") return element_type::i32;
    return fault(error_code::bad_type, name, fmt::format("dtype is {}, expected I32", printable(dtype, 20)));
  }
  if (!optional || optional->is_floating()) {
    if (floating) return *floating;
    return fault(error_code::bad_type, name,
                 fmt::format("dtype is {}, expected {}", printable(dtype, 20),
                             problem::listed(problem::ieee_rows_first(), "or", &problem::element_row::dtype)));
  }
  if (dtype == "BOOL" || dtype == problem::row_of(element_type::u8).dtype) return element_type::u8;
  if (role != "mask")
    return fault(error_code::bad_type, name, fmt::format("dtype is {}, expected BOOL or U8", printable(dtype, 20)));
  auto const instead = std::string(name.substr(0, name.size() - role.size())) + "bias";
  return fault(error_code::bad_type, name,
               floating ? fmt::format("dtype is {}, but a mask is BOOL or U8 (non-zero = attend); if its values are "
                                      "added to the scores, name the tensor '{}'",
                                      printable(dtype, 20), printable(instead))
                        : fmt::format("dtype is {}, expected BOOL or U8 (non-zero = attend)", printable(dtype, 20)));
}

/// Copies numbers of 64 bits to 32 bits. Returns an error if one does not fit.
std::optional<error> take_whole_numbers(std::string_view name, std::span<std::byte const> from,
                                        std::vector<std::byte>& to) {
  to.resize(from.size() / 2);
  for (std::size_t at = 0; at < from.size() / sizeof(std::int64_t); ++at) {
    std::int64_t wide = 0;
    std::memcpy(&wide, from.data() + at * sizeof wide, sizeof wide);
    auto const narrow = static_cast<std::int32_t>(wide);
    if (narrow != wide)
      return fault(error_code::bad_value, name,
                   fmt::format("element {} is {}, and lengths, offsets and tables have 32 bits", at, wide));
    std::memcpy(to.data() + at * sizeof narrow, &narrow, sizeof narrow);
  }
  return std::nullopt;
}

/// The ranks that a tensor may have.
std::string_view ranks_of(std::string_view role) {
  if (role == "lse") return "1, 2 or 3";
  auto const optional = problem::find_optional_tensor(role);
  if (!optional || optional->rank == 4) return "2, 3 or 4";
  return optional->rank == 1 ? "1" : optional->whole_numbers ? "2" : "1 or 2";
}

}  // namespace

result<owned_tensor> tensor_of(std::string_view name, std::string_view role, safetensor const& from) {
  auto const type = type_for(name, role, from.dtype);
  if (!type) return type.why();
  if (from.shape.empty() || from.shape.size() > 4)
    return fault(error_code::bad_shape, name,
                 fmt::format("rank is {}, expected {}", from.shape.size(), ranks_of(role)));
  if (from.bytes.empty() && empty_rows(from.shape) > most_empty_rows)
    return fault(error_code::unsupported, name,
                 fmt::format("shape is [{}]: a tensor without elements has at most {} rows",
                             fmt::join(from.shape, ", "), most_empty_rows));
  owned_tensor tensor{type.value(), {}, {}};
  if (from.dtype == "I64") {
    if (auto why = take_whole_numbers(name, from.bytes, tensor.bytes)) return *std::move(why);
  } else {
    tensor.bytes.assign(from.bytes.begin(), from.bytes.end());
  }
  tensor.layout.rank = static_cast<int>(from.shape.size());
  std::int64_t step = 1;
  for (std::size_t axis = from.shape.size(); axis-- > 0;) {
    tensor.layout.shape[axis] = from.shape[axis];
    tensor.layout.stride[axis] = step;
    step *= std::max<std::int64_t>(from.shape[axis], 1);
  }
  return tensor;
}

owned_tensor from_thd(owned_tensor tensor) {
  if (tensor.layout.rank != 3) return tensor;
  auto const [rank, shape, stride] = tensor.layout;
  tensor.layout = {
      4, {1, shape[1], shape[0], shape[2]}, {shape[0] * shape[1] * shape[2], stride[1], stride[0], stride[2]}};
  return tensor;
}

owned_tensor as_thd(owned_tensor tensor) {
  auto const [rank, shape, stride] = tensor.layout;
  tensor.layout = rank == 4 ? problem::layout{3, {shape[2], shape[1], shape[3]}, {stride[2], stride[1], stride[3]}}
                            : problem::layout{2, {shape[1], shape[2]}, {stride[1], stride[2]}};
  return tensor;
}

}  // namespace attest::audit
