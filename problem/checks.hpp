// The rules of docs/semantics.md for shapes, strides and sizes. Validation (problem/instance.hpp) applies them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "problem/result.hpp"
#include "problem/view.hpp"

namespace attest::problem {

/// The sizes of one problem: Q [b, hq, n, d], K [b, hk, m, d], V [b, hk, m, dv].
struct sizes {
  std::int64_t b = 0, hq = 0, hk = 0, n = 0, m = 0, d = 0, dv = 0;
  friend constexpr bool operator==(sizes const&, sizes const&) noexcept = default;
};

namespace checks {

inline std::string text(layout const& tensor) {
  std::string written = "[";
  for (int axis = 0; axis < tensor.rank && axis < 4; ++axis)
    written += (axis ? ", " : "") + std::to_string(tensor.shape[static_cast<std::size_t>(axis)]);
  return written + "]";
}

inline error fault(error_code code, std::string_view argument, std::string reason) {
  return {code, std::string(argument), std::move(reason)};
}

/// a·b + c for non-negative numbers. Returns nothing if it is above 2⁶³ − 1.
constexpr std::optional<std::int64_t> multiply_add(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  if (b != 0 && a > (largest - c) / b) return std::nullopt;
  return a * b + c;
}

/// The rules for one tensor: rank 1 to 4, sizes and strides non-negative, last stride 1 unless `any_last_stride`, every
/// byte offset below 2⁶³.
constexpr std::optional<error> layout_fault(std::string_view argument, layout const& tensor, std::size_t element_bytes,
                                            bool has_data, bool any_last_stride = false) {
  if (tensor.rank < 1 || tensor.rank > 4)
    return fault(error_code::bad_shape, argument, "rank is " + std::to_string(tensor.rank) + ", expected 1 to 4");
  auto const rank = static_cast<std::size_t>(tensor.rank);
  std::int64_t elements = 1, last_offset = 0;
  bool empty = false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (tensor.shape[axis] < 0)
      return fault(error_code::bad_shape, argument,
                   "size " + std::to_string(tensor.shape[axis]) + " of axis " + std::to_string(axis) + " is negative");
    if (tensor.stride[axis] < 0)
      return fault(
          error_code::bad_stride, argument,
          "stride " + std::to_string(tensor.stride[axis]) + " of axis " + std::to_string(axis) + " is negative");
    empty = empty || tensor.shape[axis] == 0;
  }
  if (!any_last_stride && tensor.shape[rank - 1] > 1 && tensor.stride[rank - 1] != 1)
    return fault(error_code::bad_stride, argument,
                 "the last axis has stride " + std::to_string(tensor.stride[rank - 1]) + ", expected 1");
  for (std::size_t axis = 0; axis < rank; ++axis) {
    auto const product = multiply_add(elements, tensor.shape[axis] > 0 ? tensor.shape[axis] : 1, 0);
    auto const offset =
        multiply_add(tensor.shape[axis] > 0 ? tensor.shape[axis] - 1 : 0, tensor.stride[axis], last_offset);
    if (!product || !offset || !multiply_add(*product, static_cast<std::int64_t>(element_bytes), 0) ||
        !multiply_add(*offset, static_cast<std::int64_t>(element_bytes), static_cast<std::int64_t>(element_bytes)))
      return fault(error_code::size_overflow, argument, "the sizes " + text(tensor) + " pass 2^63 bytes");
    elements = *product;
    last_offset = *offset;
  }
  if (!empty && !has_data) return fault(error_code::missing, argument, "no data for shape " + text(tensor));
  return std::nullopt;
}

/// The rules for the ranks and sizes of q, k, v together. If they hold, `found` is set to the sizes of the problem.
constexpr std::optional<error> sizes_fault(layout const& q, layout const& k, layout const& v, sizes& found) {
  if (q.rank < 2)
    return fault(error_code::bad_shape, "q", "rank is " + std::to_string(q.rank) + ", expected 2, 3 or 4");
  auto const axis = [](layout const& tensor, int from_the_end) {
    return from_the_end > tensor.rank ? std::int64_t{1}
                                      : tensor.shape[static_cast<std::size_t>(tensor.rank - from_the_end)];
  };
  struct named {
    std::string_view name;
    layout const& tensor;
  };
  for (auto const& [name, tensor] : {named{"k", k}, named{"v", v}})
    if (tensor.rank != q.rank)
      return fault(error_code::bad_shape, name,
                   "rank is " + std::to_string(tensor.rank) + ", q has rank " + std::to_string(q.rank));
  auto const differs = [&](std::string_view name, std::string_view size_name, std::int64_t got, std::string_view other,
                           std::int64_t expected) {
    return fault(error_code::bad_shape, name,
                 std::string(size_name) + " is " + std::to_string(got) + ", " + std::string(other) + " has " +
                     std::to_string(expected));
  };
  // Rank 3 is [b, n, d]: its batch axis is third from the end and there is one head.
  bool const has_heads = q.rank == 4;
  auto const batch = [&](layout const& tensor) { return has_heads ? axis(tensor, 4) : axis(tensor, 3); };
  auto const heads = [&](layout const& tensor) { return has_heads ? axis(tensor, 3) : std::int64_t{1}; };
  if (batch(k) != batch(q)) return differs("k", "batch size", batch(k), "q", batch(q));
  if (batch(v) != batch(q)) return differs("v", "batch size", batch(v), "q", batch(q));
  if (heads(v) != heads(k)) return differs("v", "number of heads", heads(v), "k", heads(k));
  if (axis(k, 1) != axis(q, 1)) return differs("k", "head dimension d", axis(k, 1), "q", axis(q, 1));
  if (axis(v, 2) != axis(k, 2)) return differs("v", "number of keys m", axis(v, 2), "k", axis(k, 2));
  if (heads(k) == 0 ? heads(q) != 0 : heads(q) % heads(k) != 0)
    return fault(error_code::bad_shape, "q",
                 "its " + std::to_string(heads(q)) + " heads cannot share the " + std::to_string(heads(k)) +
                     " heads of k evenly");
  found = {batch(q), heads(q), heads(k), axis(q, 2), axis(k, 2), axis(q, 1), axis(v, 1)};
  // Outputs have sizes that no input has: weights [b, hq, n, m] and o [b, hq, n, dv].
  struct output {
    std::string_view formula;
    std::int64_t last;
  };
  for (auto const& [formula, last] :
       {output{"b·hq·n·m of the weights", found.m}, output{"b·hq·n·dv of the output", found.dv}}) {
    std::int64_t elements = 1;
    for (std::int64_t const size : {found.b, found.hq, found.n, last}) {
      auto const product = multiply_add(elements, size > 0 ? size : 1, 0);
      if (!product || *product > std::numeric_limits<std::int64_t>::max() / 8)
        return fault(error_code::size_overflow, "q", std::string(formula) + " passes 2^63 bytes");
      elements = *product;
    }
  }
  return std::nullopt;
}

}  // namespace checks

/// The axis of [b, h, i, j] to which an axis of a problem of this rank is lifted: the third axis from the end is b in
/// rank 3 and h in rank 4.
constexpr std::size_t lifted_axis(int from_the_end, int problem_rank) noexcept {
  return from_the_end == 3 && problem_rank == 3 ? 0 : static_cast<std::size_t>(4 - from_the_end);
}

/// A tensor of a problem of rank 2 to 4 as one of rank 4: [n, d] → [1, 1, n, d], [b, n, d] → [b, 1, n, d]; a mask or
/// bias with fewer axes is aligned at the end. New axes have size 1 and stride 0.
/// Requires  a layout that passed layout_fault, with no more axes than the problem has
constexpr layout lifted(layout const& from, int problem_rank) noexcept {
  layout to{4, {1, 1, 1, 1}, {}};
  for (int from_the_end = 1; from_the_end <= from.rank; ++from_the_end) {
    auto const source = static_cast<std::size_t>(from.rank - from_the_end);
    auto const target = lifted_axis(from_the_end, problem_rank);
    to.shape[target] = from.shape[source];
    to.stride[target] = from.stride[source];
  }
  return to;
}

/// The same layout with one more axis of size 1 at the end: an LSE [b, hq, n] as [b, hq, n, 1]. Requires a rank
/// below 4.
constexpr layout with_last_axis(layout of) noexcept {
  auto const last = static_cast<std::size_t>(of.rank++);
  of.shape[last] = of.stride[last] = 1;
  return of;
}

/// The rows of an output in the rank of the problem, row-major: LSE is [b, hq, n], [b, n] or [n].
constexpr layout rows_layout(sizes const& s, int problem_rank) noexcept {
  return problem_rank == 4   ? layout::compact({s.b, s.hq, s.n})
         : problem_rank == 3 ? layout::compact({s.b, s.n})
                             : layout::compact({s.n});
}
/// O (last = dv) and the weights (last = m) in the rank of the problem, row-major: [b, hq, n, last] and so on.
constexpr layout rows_layout(sizes const& s, int problem_rank, std::int64_t last) noexcept {
  return problem_rank == 4   ? layout::compact({s.b, s.hq, s.n, last})
         : problem_rank == 3 ? layout::compact({s.b, s.n, last})
                             : layout::compact({s.n, last});
}

/// q, k, v or o as a view of rank 4. Requires a layout that passed layout_fault.
template <class T>
constexpr view<T> lifted(tensor<T> const& from) noexcept {
  auto const [rank, shape, stride] = lifted(from.layout, from.layout.rank);
  return {from.data, shape, {stride[0], stride[1], stride[2]}, true};
}

/// A tensor as a view of the shape [b, hq, ·, ·]. Its axes are aligned at the end with the axes of a problem of rank
/// `rank`; an axis of size 1 broadcasts, if it is among the first `free_axes` of the four.
template <class T>
constexpr result<view<T>> broadcast(std::string_view argument, tensor<T> const& from,
                                    std::array<std::int64_t, 4> const& shape, int rank, std::size_t free_axes) {
  if (from.layout.rank > rank)
    return checks::fault(
        error_code::bad_shape, argument,
        "rank is " + std::to_string(from.layout.rank) + ", the weights have rank " + std::to_string(rank));
  view<T> to{from.data, shape, {0, 0, 0}, true};
  for (int from_the_end = 1; from_the_end <= from.layout.rank; ++from_the_end) {
    auto const source = static_cast<std::size_t>(from.layout.rank - from_the_end);
    std::size_t const target = lifted_axis(from_the_end, rank);
    std::int64_t const got = from.layout.shape[source], expected = to.shape[target];
    if (got != expected && (got != 1 || target >= free_axes))
      return checks::fault(error_code::bad_shape, argument,
                           "shape " + checks::text(from.layout) + " does not broadcast: axis " +
                               std::to_string(source) + " has size " + std::to_string(got) + ", expected " +
                               (target >= free_axes ? "" : "1 or ") + std::to_string(expected));
    if (target < 3 && got == expected) to.stride[target] = from.layout.stride[source];
  }
  return to;
}
/// A mask or bias, of the shape of the weights [b, hq, n, m]: it broadcasts over b, hq and n, never over m.
template <class T>
constexpr result<view<T>> broadcast(std::string_view argument, tensor<T> const& from, sizes const& s, int rank) {
  return broadcast(argument, from, {s.b, s.hq, s.n, s.m}, rank, 3);
}

}  // namespace attest::problem
