// softmax along any axis of an array.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "problem/view.hpp"
#include "reference/textbook/softmax.hpp"

namespace attest::reference {

/// Every line of x along `axis` is replaced by its softmax at temperature T, independently of the other lines.
///
/// Shapes    x with layout `where`: rank 1 to 4, any strides; axis in [−rank, rank), −1 the last as in "axis=-1"
/// Requires  what softmax requires of every line
/// Ensures   along the axis every line sums to 1
/// Source    "def stable_softmax(x, dim=-1)", Scaled Dot-Product Attention, Numerical Stability
/// Cost      one exp an element
template <ball_range R>
constexpr R softmax_along(R x, problem::layout const& where, int axis, ball_of<R> const& T = 1) {
  auto const along = static_cast<std::size_t>(axis < 0 ? axis + where.rank : axis);
  std::array<std::int64_t, 4> shape{1, 1, 1, 1}, stride{};
  for (std::size_t a = 0; a < static_cast<std::size_t>(where.rank); ++a)
    shape[a] = where.shape[a], stride[a] = where.stride[a];
  std::int64_t const count = shape[along], step = stride[along];
  shape[along] = 1;
  auto* const data = std::ranges::data(x);
  std::vector<ball_of<R>> line;
  for (std::int64_t a = 0; a < shape[0]; ++a)
    for (std::int64_t b = 0; b < shape[1]; ++b)
      for (std::int64_t c = 0; c < shape[2]; ++c)
        for (std::int64_t d = 0; d < shape[3]; ++d) {
          auto* const start = data + (a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3]);
          line.clear();
          for (std::int64_t n = 0; n < count; ++n) line.push_back(start[n * step]);
          line = softmax(std::move(line), T);
          for (std::int64_t n = 0; n < count; ++n) start[n * step] = line[static_cast<std::size_t>(n)];
        }
  return x;
}

}  // namespace attest::reference
