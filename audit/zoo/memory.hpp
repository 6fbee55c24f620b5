// How a kernel of the zoo reads and writes the tensors of a call.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include <attest/kernel.h>

#include "audit/tensors/elements.hpp"

namespace attest::zoo {

/// The elements between two indices of an axis; 0 if the tensor lacks the axis, or broadcasts it.
inline std::int64_t step_of(DLTensor const& t, int axis) {
  return axis < t.ndim && t.shape[axis] != 1 ? t.strides[axis] : 0;
}

/// Element [b, h, i, j] of a tensor; a tensor of fewer axes has the first of these indices. Axes of size 1 broadcast.
/// Requires the indices inside the (broadcast) shape.
template <class E>
char const* address_of(DLTensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  std::int64_t const offset = b * step_of(t, 0) + h * step_of(t, 1) + i * step_of(t, 2) + j * step_of(t, 3);
  return static_cast<char const*>(t.data) + t.byte_offset + offset * static_cast<std::int64_t>(sizeof(E));
}
template <class E>
E load(DLTensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  E value;
  std::memcpy(&value, address_of<E>(t, b, h, i, j), sizeof(E));
  return value;
}

/// An element of a tensor as a number of R.
template <class R, class E>
R number_as(E stored) {
  if constexpr (std::is_floating_point_v<E>) return static_cast<R>(stored);
  else return static_cast<R>(audit::number(stored));
}

/// Element [b, h, i, j], converted to R.
template <class E, class R>
R read(DLTensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  return number_as<R>(load<E>(t, b, h, i, j));
}

/// The first elements of row [b, h, i], converted to R.
template <class E, class R>
void read_row(DLTensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::span<R> to) {
  char const* from = address_of<E>(t, b, h, i, 0);  // of any alignment
  std::int64_t const step = step_of(t, 3) * static_cast<std::int64_t>(sizeof(E));
  for (R& x : to) {
    E stored;
    std::memcpy(&stored, from, sizeof(E));
    x = number_as<R>(stored), from += step;
  }
}

/// x rounded to nearest in E.
template <class E, class R>
E stored_as(R x) {
  if constexpr (std::is_floating_point_v<E>) return static_cast<E>(x);
  else return audit::nearest_element<E>(static_cast<double>(x));
}

/// The number of To next to x.
template <class To, class R>
R rounded(R x) {
  return number_as<R>(audit::nearest_element<To>(static_cast<double>(x)));
}

template <class E>
void store(DLTensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, E value) {
  std::int64_t const at[4]{b, h, i, j};
  std::int64_t offset = 0;
  for (int axis = 0; axis < t.ndim; ++axis) offset += at[axis] * t.strides[axis];
  std::memcpy(static_cast<char*>(t.data) + t.byte_offset + offset * static_cast<std::int64_t>(sizeof(E)), &value,
              sizeof(E));
}

/// One query of a call, and the head of K and V that it reads.
struct place {
  attest_call const& call;
  std::int64_t b = 0, h = 0, hk = 0, i = 0;

  std::int64_t queries() const { return call.q->shape[2]; }
  std::int64_t keys() const { return call.k->shape[2]; }
  std::int64_t depth() const { return call.q->shape[3]; }
  std::int64_t columns() const { return call.v->shape[3]; }
  std::int64_t query_heads() const { return call.q->shape[1]; }
  std::int64_t key_heads() const { return call.k->shape[1]; }
  bool explicit_scale() const { return !std::isnan(call.scale); }
};

/// a + b, saturated: the nearest int64 if the sum overflows.
inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  using limits = std::numeric_limits<std::int64_t>;
  if (b > 0 && a > limits::max() - b) return limits::max();
  if (b < 0 && a < limits::min() - b) return limits::min();
  return a + b;
}

/// −left ≤ j − (i + diagonal) ≤ right. Requires left, right ≥ −1; i, j ≥ 0.
inline bool in_band(std::int64_t i, std::int64_t j, std::int64_t diagonal, std::int64_t left, std::int64_t right) {
  std::int64_t const middle = saturated_sum(i, diagonal);
  if (left >= 0 && saturated_sum(j, left) < middle) return false;
  return right < 0 || j <= saturated_sum(middle, right);
}

/// The first whole tile of keys behind the left edge of the window of the first of 16 queries.
inline std::int64_t first_whole_tile(place const& at, std::int64_t tile) {
  std::int64_t const edge =
      saturated_sum(saturated_sum(at.i / 16 * 16, at.call.diagonal), -std::max<std::int64_t>(at.call.left, 0));
  std::int64_t const first = edge > at.keys() ? at.keys() : std::max<std::int64_t>(edge, 0);
  return (first + tile - 1) / tile * tile;
}

}  // namespace attest::zoo
