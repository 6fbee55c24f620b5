// A backward pass of the C interface: its descriptors, validated, as views.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <attest/kernel.h>

#include "problem/dlpack.hpp"

namespace attest::problem {

/// One call of attest_attention_backward, in the types that validation takes.
struct unpacked_backward_call {
  erased_arguments arguments;
  std::optional<erased_tensor> o, lse;                    ///< of the forward pass
  std::optional<erased_tensor> dq, dk, dv, dbias, dsink;  ///< none: not asked for
};

/// Validated: what a backward kernel is handed beside its instance, and where it writes. An absent view is not asked
/// for, or not handed over.
/// Shapes    O [b, hq, n, dv], LSE [b, hq, n, 1]; dQ, dK and dV as q, k and v; dBias [b or 1, hq or 1, n or 1, m] and
///           dSink [b or 1, hq, 1, 1] as the bias and the sink themselves are, in one of two types each: an axis in
///           which these are broadcast has size 1
template <floating_element T>
struct backward_views {
  view<T const> o{};
  view<lse_element<T> const> lse{};
  view<T> dq{}, dk{}, dv{};
  view<T> dbias{};
  view<float> dbias_f32{};
  view<T> dsink{};
  view<float> dsink_f32{};
};

/// Reads the descriptors and parameters of a call of version 3.
inline result<unpacked_backward_call> unpack_backward(attest_call const& call) {
  if (call.abi_version != ATTEST_KERNEL_ABI_3)
    return checks::fault(error_code::unsupported, "abi_version", "is not 3, that of a backward pass");
  unpacked_backward_call unpacked;
  std::optional<error> why;
  auto const read = [&](std::string_view name, DLTensor const* from, int rank, auto& to) {
    if (why || from == nullptr) return;
    auto tensor = unpack(name, from, rank);
    if (tensor) to = tensor.value();
    else why = tensor.why();
  };
  auto const rank_of_sink = [](DLTensor const* sink) { return sink != nullptr && sink->ndim == 1 ? 1 : 2; };
  for (auto const& [name, from, to] :
       {std::tuple{"q", call.q, &unpacked.arguments.q}, std::tuple{"k", call.k, &unpacked.arguments.k},
        std::tuple{"v", call.v, &unpacked.arguments.v}}) {
    if (from == nullptr) return checks::fault(error_code::missing, name, "is NULL");
    read(name, from, 4, *to);
  }
  visit_optional_tensors(
      [&](optional_tensor const& row, DLTensor const* from, auto& to) {
        read(row.name, from, row.name == "sink" ? rank_of_sink(from) : row.rank, to);
      },
      call, unpacked.arguments);
  if (!why && !unpacked.arguments.d_out) return checks::fault(error_code::missing, "d_out", "is NULL");
  read("out", call.out, 4, unpacked.o), read("lse", call.lse, 3, unpacked.lse);
  read("d_q", call.d_q, 4, unpacked.dq), read("d_k", call.d_k, 4, unpacked.dk), read("d_v", call.d_v, 4, unpacked.dv);
  read("d_bias", call.d_bias, 4, unpacked.dbias);
  read("d_sink", call.d_sink, rank_of_sink(call.d_sink), unpacked.dsink);
  if (why) return *std::move(why);
  static_cast<parameters&>(unpacked.arguments) = parameters_of(call);
  return unpacked;
}

namespace detail {

/// Has a gradient the type and the shape of its input? Pools of pages have none.
inline std::optional<error> gradient_fault(std::string_view name, erased_tensor const& gradient,
                                           std::optional<erased_tensor> const& of, bool is_pool = false) {
  if (!of) return checks::fault(error_code::missing, name, "has no input whose gradient it could be");
  if (is_pool) return checks::fault(error_code::unsupported, name, "a pool of pages has no gradient");
  if (auto why = type_fault(name, gradient, of->type)) return why;
  if (gradient.layout.rank != of->layout.rank || gradient.layout.shape != of->layout.shape)
    return checks::fault(error_code::bad_shape, name,
                         "shape is " + checks::text(gradient.layout) + ", expected " + checks::text(of->layout));
  return checks::layout_fault(name, gradient.layout, size_of(gradient.type), gradient.data != nullptr);
}

/// A gradient of a bias as a view, whose broadcast axes keep the size 1.
template <class E>
view<E> view_of_gradient(erased_tensor const& of, layout const& as) {
  return {static_cast<E*>(of.data), as.shape, {as.stride[0], as.stride[1], as.stride[2]}, true, {}};
}

}  // namespace detail

/// Requires  the instance of call.arguments
template <floating_element T>
result<backward_views<T>> make_backward_views(instance<T> const& p, unpacked_backward_call const& call) {
  backward_views<T> views;
  erased_arguments const& given = call.arguments;
  bool const paged = given.block_table.has_value();
  std::optional<error> why;
  auto const rows = [&](std::string_view name, std::optional<erased_tensor> const& gradient, erased_tensor const& of,
                        view<T const> const& input, bool is_pool, view<T>& to) {
    if (why || !gradient) return;
    if (why = detail::gradient_fault(name, *gradient, of, is_pool); why) return;
    to = lifted(detail::typed<T>(*gradient));
    to.shape = input.shape, to.map = input.map;
  };
  rows("d_q", call.dq, given.q, p.q(), false, views.dq);
  rows("d_k", call.dk, given.k, p.k(), paged, views.dk);
  rows("d_v", call.dv, given.v, p.v(), paged, views.dv);
  auto const shared = [&](std::string_view name, std::optional<erased_tensor> const& gradient,
                          std::optional<erased_tensor> const& of, bool is_sink, view<T>& to, view<float>& to_f32) {
    if (why || !gradient) return;
    if (why = detail::gradient_fault(name, *gradient, of); why) return;
    layout as = gradient->layout;
    if (is_sink) {
      auto const last = static_cast<std::size_t>(as.rank - 1);
      as = {4, {as.rank == 2 ? as.shape[0] : 1, as.shape[last], 1, 1}, {as.stride[0], as.stride[last], 0, 0}};
    }
    if (gradient->type == type_of<T>) to = detail::view_of_gradient<T>(*gradient, as);
    else to_f32 = detail::view_of_gradient<float>(*gradient, as);
  };
  shared("d_bias", call.dbias, given.bias, false, views.dbias, views.dbias_f32);
  shared("d_sink", call.dsink, given.sink, true, views.dsink, views.dsink_f32);
  if (why) return *std::move(why);
  if (!call.o) return views;
  auto const forward = make_outputs(p, {.o = *call.o, .lse = call.lse, .weights = {}});
  if (!forward) return forward.why();
  auto const read_only = []<class E>(view<E> const& from) {
    return view<E const>{from.data, from.shape, from.stride, from.present, from.map};
  };
  views.o = read_only(forward.value().o), views.lse = read_only(forward.value().lse);
  return views;
}

}  // namespace attest::problem
