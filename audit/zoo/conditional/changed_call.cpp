#include "audit/zoo/conditional/changed_call.hpp"

#include <algorithm>
#include <cstring>

namespace attest::zoo {
namespace {

std::int64_t bytes_per_element(DLTensor const& t) { return t.dtype.bits / 8; }

std::int64_t elements(DLTensor const& t) {
  std::int64_t count = 1;
  for (int axis = 0; axis < t.ndim; ++axis) count *= t.shape[axis];
  return count;
}

void take(changed_tensor& into, DLTensor const* from) {
  if (!from) return;
  into.t = *from;
  std::copy_n(from->shape, from->ndim, into.shape.begin());
  std::copy_n(from->strides, from->ndim, into.strides.begin());
  into.t.shape = into.shape.data(), into.t.strides = into.strides.data();
}

}  // namespace

changed_tensor::changed_tensor(DLTensor const& of) { take(*this, &of); }

void changed_tensor::keep(int axis, std::int64_t first, std::int64_t count, std::int64_t step) {
  auto const at = static_cast<std::size_t>(axis);
  if (!t.shape || shape[at] == 1) return;
  t.byte_offset += static_cast<std::uint64_t>(first * strides[at] * bytes_per_element(t));
  shape[at] = count, strides[at] *= step;
}

void changed_tensor::describe_as_compact() {
  std::int64_t stride = 1;
  for (int axis = t.ndim - 1; axis >= 0; --axis) {
    auto const at = static_cast<std::size_t>(axis);
    strides[at] = stride;
    stride *= shape[at];
  }
}

void changed_tensor::own_zeros() {
  memory_.assign(static_cast<std::size_t>(elements(t) * bytes_per_element(t)), std::byte{0});
  t.data = memory_.data(), t.byte_offset = 0;
  describe_as_compact();
}

void changed_tensor::own_copy() {
  DLTensor from = t;
  std::array<std::int64_t, 4> const strides_before = strides;
  auto const size = static_cast<std::size_t>(bytes_per_element(t));
  own_zeros();
  if (memory_.empty()) return;
  char const* const source = static_cast<char const*>(from.data) + from.byte_offset;
  std::byte* to = memory_.data();
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t i = 0; i < shape[2]; ++i) {
        std::size_t const row = static_cast<std::size_t>(t.ndim > 3 ? shape[3] : 1) * size;
        std::int64_t const offset = b * strides_before[0] + h * strides_before[1] + i * strides_before[2];
        std::memcpy(to, source + offset * static_cast<std::int64_t>(size), row);
        to += row;
      }
}

changed_call::changed_call(attest_call const& of) : call(problem::copy_of(of)) {
  auto const adopt = [](changed_tensor& mine, auto& field) {
    take(mine, field);
    if (field) field = &mine.t;
  };
  adopt(q, call.q), adopt(k, call.k), adopt(v, call.v), adopt(mask, call.mask), adopt(bias, call.bias);
  adopt(out, call.out), adopt(lse, call.lse), adopt(weights, call.weights);
}

void changed_call::keep_rows(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t count) {
  std::int64_t const group = std::max<std::int64_t>(1, q.shape[1] / std::max<std::int64_t>(1, k.shape[1]));
  for (changed_tensor* t : {&q, &k, &v, &mask, &bias, &out, &lse, &weights}) t->keep(0, b, 1);
  for (changed_tensor* t : {&q, &mask, &bias, &out, &lse, &weights}) t->keep(1, h, 1), t->keep(2, first, count);
  k.keep(1, h / group, 1), v.keep(1, h / group, 1);
  call.diagonal = saturated_sum(call.diagonal, first);
}

changed_tensor& changed_call::own_lse() {
  take(lse, &q.t);
  lse.t.ndim = 3;
  lse.t.dtype = {kDLFloat, static_cast<std::uint8_t>(q.t.dtype.bits == 64 ? 64 : 32), 1};
  lse.own_zeros();
  call.lse = &lse.t;
  return lse;
}

changed_tensor& changed_call::own_weights() {
  take(weights, &q.t);
  weights.shape[3] = k.shape[2];
  weights.own_zeros();
  call.weights = &weights.t;
  return weights;
}

double number_at(DLTensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  double x = 0;
  with_element_type(t, [&]<class F>(std::type_identity<F>) { x = read<F, double>(t, b, h, i, j); });
  return x;
}

}  // namespace attest::zoo
