// From the C interface to validation: DLPack descriptors become erased tensors.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <attest/kernel.h>

#include "problem/call_parameters.hpp"
#include "problem/erased.hpp"

namespace attest::problem {

/// One call of the C interface, in the types that validation takes (problem/erased.hpp).
struct unpacked_call {
  erased_arguments arguments;
  erased_outputs outputs;
};

static_assert(static_cast<int>(dlpack_code::signed_integer) == kDLInt &&
              static_cast<int>(dlpack_code::unsigned_integer) == kDLUInt &&
              static_cast<int>(dlpack_code::floating) == kDLFloat &&
              static_cast<int>(dlpack_code::bfloat) == kDLBfloat);

constexpr DLDataType dlpack_type_of(element_type type) noexcept {
  element_row const& row = row_of(type);
  return {static_cast<std::uint8_t>(row.dlpack), static_cast<std::uint8_t>(8 * row.bytes), 1};
}

/// The element type with this code and number of bits. Returns nothing if there is no such type. Ignores `lanes`.
constexpr std::optional<element_type> element_type_of(DLDataType const& type) noexcept {
  for (element_row const& row : element_table)
    if (DLDataType const known = dlpack_type_of(row.type); known.code == type.code && known.bits == type.bits)
      return row.type;
  return std::nullopt;
}

/// One descriptor as an erased tensor. Requires (checked) CPU memory, `rank` axes, explicit shape and strides, one lane
/// and a known element type; errors call the tensor `name`.
inline result<erased_tensor> unpack(std::string_view name, DLTensor const* from, int rank) {
  using checks::fault;
  if (from == nullptr) return fault(error_code::missing, name, "is NULL");
  if (from->device.device_type != kDLCPU) return fault(error_code::unsupported, name, "is not in CPU memory");
  if (from->ndim != rank)
    return fault(error_code::bad_shape, name,
                 "ndim is " + std::to_string(from->ndim) + ", expected " + std::to_string(rank));
  if (from->shape == nullptr || from->strides == nullptr)
    return fault(error_code::missing, name, "shape and strides must be given");
  erased_tensor tensor;
  DLDataType const type = from->dtype;
  if (type.lanes != 1) return fault(error_code::bad_type, name, "lanes must be 1");
  auto const element = element_type_of(type);
  if (!element) {
    std::array<element_row, floating_rows.size() + 2> expected;
    std::ranges::copy(ieee_rows_first(), expected.begin());
    expected[floating_rows.size()] = row_of(element_type::u8);
    expected.back() = row_of(element_type::i32);
    return fault(error_code::bad_type, name,
                 "type code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bits is not " +
                     listed(expected, "or"));
  }
  tensor.type = *element;
  tensor.layout.rank = rank;
  for (int axis = 0; axis < rank; ++axis) {
    tensor.layout.shape[static_cast<std::size_t>(axis)] = from->shape[axis];
    tensor.layout.stride[static_cast<std::size_t>(axis)] = from->strides[axis];
  }
  if (from->data != nullptr) tensor.data = static_cast<char*>(from->data) + from->byte_offset;
  return tensor;
}

/// Reads the descriptors and parameters of `call`, of either version. make_instance and make_outputs validate shapes
/// and types later.
inline result<unpacked_call> unpack(attest_call const& call) {
  unpacked_call unpacked;
  std::optional<error> why;
  auto const read = [&](std::string_view name, DLTensor const* from, int rank, auto& to) {
    if (why) return;
    auto tensor = unpack(name, from, rank);
    if (tensor) to = tensor.value();
    else why = tensor.why();
  };
  read("q", call.q, 4, unpacked.arguments.q);
  read("k", call.k, 4, unpacked.arguments.k);
  read("v", call.v, 4, unpacked.arguments.v);
  bool const second = call.abi_version >= ATTEST_KERNEL_ABI_2;  // else the structure ends after `weights`
  auto const read_optional = [&](optional_tensor const& row, DLTensor const* const& from, auto& to) {
    if (row.version > 1 && !second) return;
    if (row.version > 2) return;  // a call of attention
    if (from != nullptr) read(row.name, from, row.name == "sink" && from->ndim == 1 ? 1 : row.rank, to);
  };
  visit_optional_tensors(read_optional, call, unpacked.arguments);
  read("out", call.out, 4, unpacked.outputs.o);
  if (call.lse) read("lse", call.lse, 3, unpacked.outputs.lse);
  if (call.weights) read("weights", call.weights, 4, unpacked.outputs.weights);
  if (why) return *std::move(why);
  if (second && (call.q_scale != nullptr || call.k_scale != nullptr || call.v_scale != nullptr))
    return checks::fault(error_code::unsupported, "q_scale",
                         "q_scale, k_scale and v_scale must be NULL: no rule is stated for them yet");
  static_cast<parameters&>(unpacked.arguments) = parameters_of(call);
  return unpacked;
}

}  // namespace attest::problem
