// A tensor of a test, with memory and an element type of its own. (What audit/tensors owns is bytes of a type that a
// file or a case names.)
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "problem/instance.hpp"

namespace attest::tests {

template <class T>
struct owned {
  std::vector<T> values;  ///< of all that the layout reaches, gaps too
  problem::layout layout{};

  owned() = default;
  /// Without gaps.
  owned(std::initializer_list<std::int64_t> shape, T fill = T{}) : layout(problem::layout::compact(shape)) {
    std::size_t count = 1;
    for (auto const size : shape) count *= static_cast<std::size_t>(size);
    values.assign(count, fill);
  }
  owned(std::initializer_list<std::int64_t> shape, std::initializer_list<T> elements) : owned(shape) {
    std::size_t at = 0;
    for (T const& x : elements) values.at(at++) = x;
  }
  /// `gap` elements lie between rows; the gaps hold `filler`, as everything does at first.
  static owned shaped(std::initializer_list<std::int64_t> shape, std::int64_t gap = 0, T filler = {}) {
    owned result;
    result.layout = problem::layout::compact(shape);
    if (gap > 0 && result.layout.rank > 1) {
      std::int64_t step = result.layout.shape[static_cast<std::size_t>(result.layout.rank - 1)] + gap;
      for (int axis = result.layout.rank - 2; axis >= 0; --axis) {
        auto const a = static_cast<std::size_t>(axis);
        result.layout.stride[a] = step;
        step = step * (result.layout.shape[a] > 0 ? result.layout.shape[a] : 1) + gap;
      }
    }
    std::int64_t span = 1;
    for (int axis = 0; axis < result.layout.rank; ++axis) {
      auto const a = static_cast<std::size_t>(axis);
      if (result.layout.shape[a] > 0) span += (result.layout.shape[a] - 1) * result.layout.stride[a];
    }
    result.values.assign(static_cast<std::size_t>(span), filler);
    return result;
  }

  bool is_absent() const { return layout.rank == 0 && values.empty(); }
  /// Numbers without a shape are a list.
  problem::tensor<T const> in() const {
    return {values.data(),
            layout.rank > 0 ? layout : problem::layout::compact({static_cast<std::int64_t>(values.size())})};
  }
  problem::tensor<T> out() { return {values.data(), layout}; }

  /// Requires at most four axes.
  T& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j = 0) {
    auto const& s = layout.stride;
    return values[static_cast<std::size_t>(b * s[0] + h * s[1] + i * s[2] + (layout.rank == 4 ? j * s[3] : 0))];
  }
  /// visit(element, b, h, i, j) for all elements, not for gaps. Requires at most four axes.
  template <class Each>
  void each(Each&& visit) {
    std::array<std::int64_t, 4> shape{1, 1, 1, 1};
    for (int axis = 0; axis < layout.rank; ++axis)
      shape[static_cast<std::size_t>(axis)] = layout.shape[static_cast<std::size_t>(axis)];
    for (std::int64_t b = 0; b < shape[0]; ++b)
      for (std::int64_t h = 0; h < shape[1]; ++h)
        for (std::int64_t i = 0; i < shape[2]; ++i)
          for (std::int64_t j = 0; j < shape[3]; ++j) visit(at(b, h, i, j), b, h, i, j);
  }
};

}  // namespace attest::tests
