// From the C interface to the door: DLPack descriptors to erased tensors.
#pragma once

#include <attest/kernel.h>

#include <optional>
#include <string>

#include "problem/call_parameters.hpp"
#include "problem/erased.hpp"

namespace attest::problem {

/// One call of the C interface, as the door takes it.
struct unpacked_call {
  erased_arguments asked;
  erased_outputs given;
};

inline result<erased_tensor> unpack(std::string_view name, DLTensor const* from, int rank) {
  using checks::fault;
  if (from == nullptr) return fault(error_code::missing, name, "is NULL");
  if (from->device.device_type != kDLCPU) return fault(error_code::unsupported, name, "is not in CPU memory");
  if (from->ndim != rank)
    return fault(error_code::bad_shape, name,
                 "ndim is " + std::to_string(from->ndim) + ", expected " + std::to_string(rank));
  if (from->shape == nullptr || from->strides == nullptr)
    return fault(error_code::missing, name, "shape and strides must be given");
  erased_tensor made;
  DLDataType const type = from->dtype;
  if (type.lanes != 1) return fault(error_code::bad_type, name, "lanes must be 1");
  if (type.code == kDLFloat && type.bits == 32) made.type = element_type::f32;
  else if (type.code == kDLFloat && type.bits == 64) made.type = element_type::f64;
  else if (type.code == kDLFloat && type.bits == 16) made.type = element_type::f16;
  else if (type.code == kDLBfloat && type.bits == 16) made.type = element_type::bf16;
  else if (type.code == kDLUInt && type.bits == 8) made.type = element_type::u8;
  else
    return fault(error_code::bad_type, name, "type code " + std::to_string(type.code) + " of " +
                                                 std::to_string(type.bits) + " bits is not f32, f64, f16, bf16 or u8");
  made.where.rank = rank;
  for (int axis = 0; axis < rank; ++axis) {
    made.where.shape[static_cast<std::size_t>(axis)] = from->shape[axis];
    made.where.stride[static_cast<std::size_t>(axis)] = from->strides[axis];
  }
  if (from->data != nullptr) made.data = static_cast<char*>(from->data) + from->byte_offset;
  return made;
}

/// Reads the descriptors of `call`; shapes and types are checked by make_instance and make_outputs.
inline result<unpacked_call> unpack(attest_call const& call) {
  unpacked_call made;
  std::optional<error> why;
  auto const read = [&](std::string_view name, DLTensor const* from, int rank, auto& to) {
    if (why) return;
    auto tensor = unpack(name, from, rank);
    if (tensor) to = tensor.value();
    else why = tensor.why();
  };
  read("q", call.q, 4, made.asked.q);
  read("k", call.k, 4, made.asked.k);
  read("v", call.v, 4, made.asked.v);
  if (call.mask) read("mask", call.mask, 4, made.asked.mask);
  if (call.bias) read("bias", call.bias, 4, made.asked.bias);
  read("out", call.out, 4, made.given.o);
  if (call.lse) read("lse", call.lse, 3, made.given.lse);
  if (call.weights) read("weights", call.weights, 4, made.given.weights);
  if (why) return *std::move(why);
  static_cast<parameters&>(made.asked) = parameters_of(call);
  return made;
}

}  // namespace attest::problem
