// attest_merge of the C interface. It allocates nothing: descriptors are read where they lie.
#include <type_traits>

#include <attest/kernel.h>

#include "fast/merge.hpp"
#include "problem/dlpack.hpp"

namespace attest::fast {
namespace {

using problem::element_type;

template <class N>
N* first_of(DLTensor const& tensor) noexcept {
  return tensor.data == nullptr ? nullptr : reinterpret_cast<N*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
}

std::array<std::int64_t, 3> outer_strides(DLTensor const& tensor) noexcept {
  return {tensor.strides[0], tensor.strides[1], tensor.strides[2]};
}

/// A descriptor with the shape of the first axes of `shape`, in memory that it may lie in.
problem::result<problem::erased_tensor> checked(char const* name, DLTensor const* from, int rank,
                                                std::array<std::int64_t, 4> const& shape) {
  using problem::error_code;
  using problem::checks::fault;
  auto tensor = problem::unpack(name, from, rank);
  if (!tensor) return tensor;
  auto const& [data, type, layout] = tensor.value();
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
    if (layout.shape[axis] != shape[axis]) return fault(error_code::bad_shape, name, "differs from the shape of out");
  if (auto why = problem::checks::layout_fault(name, layout, problem::size_of(type), data != nullptr, rank == 3))
    return *std::move(why);
  if (!problem::row_of(type).is_floating()) return fault(error_code::bad_type, name, "is not of a floating type");
  if (reinterpret_cast<std::uintptr_t>(data) % problem::size_of(type) != 0)
    return fault(error_code::bad_value, name, "data is not aligned to its element size");
  return tensor;
}

template <class E, class Out>
void run(attest_merge_call const& call, std::array<std::int64_t, 4> const& shape) {
  merge_parts<E> const parts{call.parts, &call, [](void const* described, std::int64_t s) noexcept {
                               auto const& of = *static_cast<attest_merge_call const*>(described);
                               return merge_part<E>{first_of<E const>(*of.o[s]), outer_strides(*of.o[s]),
                                                    first_of<problem::lse_element<E> const>(*of.lse[s]),
                                                    outer_strides(*of.lse[s])};
                             }};
  merge_outputs<E, Out> outputs;
  outputs.o = {first_of<Out>(*call.out), shape, outer_strides(*call.out), true, {}};
  if (call.out_lse != nullptr)
    outputs.lse = {first_of<problem::lse_element<E>>(*call.out_lse),
                   {shape[0], shape[1], shape[2], 1},
                   outer_strides(*call.out_lse),
                   true,
                   {}};
  merge(parts, outputs, {.threads = call.threads});
}

attest_status run(attest_merge_call const& call) {
  if (call.reserved != 0 || call.threads < 0 || call.parts < 1 || call.o == nullptr || call.lse == nullptr)
    return ATTEST_FAILED;
  if (call.out == nullptr || call.out->ndim != 4 || call.out->shape == nullptr) return ATTEST_FAILED;
  std::array<std::int64_t, 4> const shape{call.out->shape[0], call.out->shape[1], call.out->shape[2],
                                          call.out->shape[3]};
  auto const out = checked("out", call.out, 4, shape), first = checked("o", call.o[0], 4, shape);
  if (!out || !first) return ATTEST_FAILED;
  element_type const type = first.value().type, out_type = out.value().type,
                     lse_type = type == element_type::f64 ? element_type::f64 : element_type::f32;
  for (std::int32_t s = 0; s < call.parts; ++s) {
    auto const o = checked("o", call.o[s], 4, shape), lse = checked("lse", call.lse[s], 3, shape);
    if (!o || !lse || o.value().type != type || lse.value().type != lse_type) return ATTEST_FAILED;
  }
  if (call.out_lse != nullptr) {
    auto const lse = checked("out_lse", call.out_lse, 3, shape);
    if (!lse || lse.value().type != lse_type) return ATTEST_FAILED;
  }
  using problem::floating_elements, problem::with_type;
  with_type(type, floating_elements{}, [&]<class E>(std::type_identity<E>) {
    with_type(out_type, floating_elements{}, [&]<class Out>(std::type_identity<Out>) { run<E, Out>(call, shape); });
  });
  return ATTEST_OK;
}

}  // namespace
}  // namespace attest::fast

extern "C" {

/* FAILED for a malformed call, UNSUPPORTED for an unknown abi_version; then no output is written. */
ATTEST_EXPORT attest_status attest_merge(attest_merge_call const* call) {
  if (call == nullptr) return ATTEST_FAILED;
  if (call->abi_version != ATTEST_KERNEL_ABI_2) return ATTEST_UNSUPPORTED;
  try {
    return attest::fast::run(*call);
  } catch (...) {  // out of memory
    return ATTEST_FAILED;
  }
}
}
