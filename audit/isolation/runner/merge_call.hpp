// The descriptors of attest_merge, built from two tensors of a call: v holds the O of the parts and bias their LSE.
#pragma once

#include <cstddef>
#include <cstdint>

#include <attest/kernel.h>

#include "audit/isolation/runner/protocol.hpp"

namespace attest::audit::runner {

using merge_function = attest_status (*)(attest_merge_call const*);

/// The descriptors of one merge, in one object, so that one comparison shows whether the kernel wrote to them.
struct merge_descriptors {
  DLTensor o[most_parts], lse[most_parts], out, out_lse;
  DLTensor const* o_at[most_parts];
  DLTensor const* lse_at[most_parts];
  std::int64_t shape[4], o_strides[2][4], lse_strides[2][3], out_strides[4], out_lse_strides[3];
  attest_merge_call call;
};

/// Fills in the descriptors. Part s lies s strides of the keys behind the first. If the odd parts have the same numbers
/// in every row, their rows have stride 0. Requires `to` zeroed, since padding is compared too; message.merge.asked,
/// and at most most_parts parts
inline void describe_merge(call_message const& message, std::byte* range, merge_descriptors& to) noexcept {
  merge_shape const& merge = message.merge;
  tensor_slot const &o = message.slots[v], &lse_of = message.slots[bias], &answer = message.slots[out];
  to.shape[0] = o.shape[0], to.shape[1] = merge.heads, to.shape[2] = merge.queries, to.shape[3] = o.shape[3];
  auto const strides_of = [&](tensor_slot const& slot, std::int64_t* strides, std::int64_t rows) {
    strides[0] = rows * slot.strides[0], strides[1] = rows * merge.queries * slot.strides[1];
    strides[2] = rows * slot.strides[1];
  };
  for (int const odd : {0, 1}) {
    std::int64_t const rows = odd != 0 && merge.odd_rows_are_one != 0 ? 0 : 1;
    strides_of(o, to.o_strides[odd], rows), strides_of(lse_of, to.lse_strides[odd], rows);
    to.o_strides[odd][3] = 1;
  }
  strides_of(answer, to.out_strides, 1), strides_of(message.slots[lse], to.out_lse_strides, 1);
  to.out_strides[3] = 1;
  auto const describe = [&](tensor_slot const& slot, DLTensor& tensor, int rank, std::int64_t* strides,
                            std::int64_t first) {
    tensor.data = slot.data == null_data ? nullptr : range + slot.data + first * (slot.type_bits / 8);
    tensor.device.device_type = kDLCPU;
    tensor.ndim = rank;
    tensor.dtype.code = slot.type_code, tensor.dtype.bits = slot.type_bits, tensor.dtype.lanes = 1;
    tensor.shape = to.shape, tensor.strides = strides;
    tensor.byte_offset = slot.byte_offset;
  };
  std::int64_t const parts = o.shape[2];
  for (std::int64_t s = 0; s < parts; ++s) {
    describe(o, to.o[s], 4, to.o_strides[s % 2], s * o.strides[2]);
    describe(lse_of, to.lse[s], 3, to.lse_strides[s % 2], s * lse_of.strides[3]);
    to.o_at[s] = &to.o[s], to.lse_at[s] = &to.lse[s];
  }
  describe(answer, to.out, 4, to.out_strides, 0);
  if (message.slots[lse].present != 0) describe(message.slots[lse], to.out_lse, 3, to.out_lse_strides, 0);
  to.call.abi_version = ATTEST_KERNEL_ABI_2;
  to.call.threads = message.threads;
  to.call.parts = static_cast<std::int32_t>(parts);
  to.call.o = to.o_at, to.call.lse = to.lse_at;
  to.call.out = &to.out;
  to.call.out_lse = message.slots[lse].present != 0 ? &to.out_lse : nullptr;
}

}  // namespace attest::audit::runner
