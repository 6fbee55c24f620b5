// Layouts, and strided views of rank 4. Validation (problem/instance.hpp) turns every tensor into such a view.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace attest::problem {

/// How a tensor of rank 0 to 4 lies in memory: sizes and strides in elements, outermost first.
struct layout {
  int rank = 0;
  std::array<std::int64_t, 4> shape{};
  std::array<std::int64_t, 4> stride{};

  /// Row-major, without gaps. Requires at most 4 sizes. A stride that does not fit in 63 bits becomes the largest
  /// number, which validation rejects (checks::layout_fault).
  static constexpr layout compact(std::initializer_list<std::int64_t> sizes) noexcept {
    layout contiguous;
    for (std::int64_t const size : sizes) contiguous.shape[static_cast<std::size_t>(contiguous.rank++)] = size;
    std::int64_t step = 1;
    for (int axis = contiguous.rank - 1; axis >= 0; --axis) {
      auto const a = static_cast<std::size_t>(axis);
      contiguous.stride[a] = step;
      std::int64_t const size = contiguous.shape[a] > 0 ? contiguous.shape[a] : 1;
      constexpr auto largest = std::numeric_limits<std::int64_t>::max();
      step = step > largest / size ? largest : step * size;
    }
    return contiguous;
  }
};

/// A tensor as the caller describes it: memory and layout, not yet validated.
template <class T>
struct tensor {
  T* data = nullptr;
  problem::layout layout{};
};

/// A validated view of rank 4. x(b, h, i, j) is element b·stride[0] + h·stride[1] + i·stride[2] + j.
/// A broadcast axis has stride 0. Requires indices inside shape.
template <class T>
struct view {
  T* data = nullptr;
  std::array<std::int64_t, 4> shape{};
  std::array<std::int64_t, 3> stride{};

  /// The first element of a row; null where the view has no memory (a size is 0).
  constexpr T* row(std::int64_t b, std::int64_t h, std::int64_t i) const noexcept {
    return data == nullptr ? data : data + (b * stride[0] + h * stride[1] + i * stride[2]);
  }
  constexpr T& operator()(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const noexcept {
    return row(b, h, i)[j];
  }
  constexpr explicit operator bool() const noexcept { return present; }

  bool present = false;  ///< false: the optional tensor is absent
};

}  // namespace attest::problem
