// Layouts, and strided views of rank 4. Validation (problem/instance.hpp) turns every tensor into such a view.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace attest::problem {

/// The place of a tensor of rank 0 to 4 in memory: sizes and strides in elements, outermost first.
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

/// Where the rows of the entries of a call begin, if strides alone do not say it: entries packed one behind the other,
/// or rows in pages of a pool.
struct row_map {
  std::int32_t const* starts = nullptr;  ///< packed: the rows of entry b begin at row starts[b]
  std::int32_t const* table = nullptr;   ///< paged: row i of entry b is row i mod page of page table[b·width + i/page]
  std::int64_t width = 0, page = 0;
};

/// A validated view of rank 4. x(b, h, i, j) is element b·stride[0] + h·stride[1] + i·stride[2] + j. A broadcast axis
/// has stride 0. Packed entries and pages have a row_map: stride[0] is then the distance of pages, or not read.
/// Requires  indices inside shape; for a paged view also that validation has checked the page of the row.
template <class T>
struct view {
  T* data = nullptr;
  std::array<std::int64_t, 4> shape{};
  std::array<std::int64_t, 3> stride{};

  /// The first element of a row; null if the view has no memory (a size is 0).
  constexpr T* row(std::int64_t b, std::int64_t h, std::int64_t i) const noexcept {
    if (data == nullptr) return data;
    if (map.starts != nullptr) return data + (h * stride[1] + (map.starts[b] + i) * stride[2]);
    if (map.table != nullptr) {
      std::int64_t const page = map.table[b * map.width + i / map.page];
      return data + (page * stride[0] + h * stride[1] + i % map.page * stride[2]);
    }
    return data + (b * stride[0] + h * stride[1] + i * stride[2]);
  }
  constexpr T& operator()(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const noexcept {
    return row(b, h, i)[j];
  }
  constexpr explicit operator bool() const noexcept { return present; }

  bool present = false;  ///< false: the optional tensor is absent
  row_map map{};

  /// Does a stride say where each row of an entry lies? Else ask row() for each.
  constexpr bool has_row_stride() const noexcept { return map.table == nullptr; }
};

}  // namespace attest::problem
