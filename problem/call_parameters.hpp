// The parameters of a problem as fields of the C interface's call, and back.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include <attest/kernel.h>

#include "problem/parameters.hpp"

namespace attest::problem {

/// The bytes of a call: one of version 1 ends before the fields of version 2, and so on.
inline std::size_t call_bytes(attest_call const& call) noexcept {
  return call.abi_version < ATTEST_KERNEL_ABI_2   ? offsetof(attest_call, sink)
         : call.abi_version < ATTEST_KERNEL_ABI_3 ? offsetof(attest_call, d_out)
                                                  : sizeof(attest_call);
}

/// A copy of a call; fields of later versions than its own are 0. (Copying the structure itself would read on.)
inline attest_call copy_of(attest_call const& call) noexcept {
  attest_call copy{};
  std::memcpy(&copy, &call, call_bytes(call));
  return copy;
}

/// The parameters of a call of any version. A NaN for the scale means the default, 1/√d.
inline parameters parameters_of(attest_call const& call) noexcept {
  parameters p;
  if (!std::isnan(call.scale)) p.scale = call.scale;
  p.softcap = call.softcap;
  p.band = {call.diagonal, call.left, call.right};
  if (call.abi_version < ATTEST_KERNEL_ABI_2) return p;  // the structure ends before the fields of version 2
  p.align = call.align;
  p.dropout = call.dropout;
  p.block_q = call.block_q, p.block_k = call.block_k;
  return p;
}

/// Writes the parameters into a call, whose abi_version says whether it has the fields of version 2.
/// Ensures   parameters_of(call) == p, if no number of p is NaN and p needs no field that the call does not have
inline void set_parameters(attest_call& call, parameters const& p) noexcept {
  call.scale = p.scale ? *p.scale : std::numeric_limits<double>::quiet_NaN();
  call.softcap = p.softcap;
  call.diagonal = p.band.diagonal;
  call.left = p.band.left;
  call.right = p.band.right;
  if (call.abi_version < ATTEST_KERNEL_ABI_2) return;
  call.align = static_cast<std::int32_t>(p.align);
  call.dropout = p.dropout;
  call.block_q = static_cast<std::int32_t>(p.block_q), call.block_k = static_cast<std::int32_t>(p.block_k);
}

}  // namespace attest::problem
