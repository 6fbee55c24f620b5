// The shapes of dBias and dSink: those in which the tensors themselves are broadcast.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "problem/instance.hpp"

namespace attest::reference {

/// [b or 1, hq or 1, n or 1, m]; 1 where the axis of the bias has stride 0. Requires a bias.
template <class T>
constexpr std::array<std::int64_t, 4> shape_of_dbias(problem::instance<T> const& p) noexcept {
  auto const& shape = p.bias().present ? p.bias().shape : p.bias_f32().shape;
  auto const& stride = p.bias().present ? p.bias().stride : p.bias_f32().stride;
  auto const size = [&](std::size_t axis) { return stride[axis] == 0 && shape[axis] > 1 ? 1 : shape[axis]; };
  return {size(0), size(1), size(2), shape[3]};
}

/// [b or 1, hq, 1, 1]. Requires a sink.
template <class T>
constexpr std::array<std::int64_t, 4> shape_of_dsink(problem::instance<T> const& p) noexcept {
  auto const& shape = p.sink().present ? p.sink().shape : p.sink_f32().shape;
  auto const& stride = p.sink().present ? p.sink().stride : p.sink_f32().stride;
  return {stride[0] == 0 && shape[0] > 1 ? 1 : shape[0], shape[1], 1, 1};
}

}  // namespace attest::reference
