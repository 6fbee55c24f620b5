#include "fuzz/support/described_tensor.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace attest::fuzz {
namespace {

__extension__ using wide = __int128;

constexpr wide most = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::int64_t byte_source::number() {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  constexpr std::array<std::int64_t, 16> numbers{0,
                                                 1,
                                                 2,
                                                 3,
                                                 5,
                                                 16,
                                                 17,
                                                 -1,
                                                 -2,
                                                 largest,
                                                 largest / 2,
                                                 std::int64_t{1} << 32,
                                                 std::int64_t{1} << 61,
                                                 std::numeric_limits<std::int64_t>::min(),
                                                 64,
                                                 7};
  return numbers[static_cast<std::size_t>(below(16))];
}

void described_tensor::wreck(std::int64_t what, byte_source& by) {
  auto const axis = [&] { return static_cast<std::size_t>(by.below(4)); };
  switch (what) {
    case 0: tensor.ndim = static_cast<std::int32_t>(by.number()); break;
    case 1:
    case 2: shape[axis()] = by.number(); break;
    case 3:
    case 4: strides[axis()] = by.number(); break;
    case 5: tensor.dtype.code = by.byte(); break;
    case 6: tensor.dtype.bits = by.byte(); break;
    case 7: tensor.dtype.lanes = static_cast<std::uint16_t>(by.below(3)); break;
    case 8:
      tensor.device.device_type = static_cast<DLDeviceType>(by.below(16));
      break;  // what every such enum can hold
    case 9: has_data = false; break;
    case 10: has_shape = false; break;
    case 11: has_strides = false; break;
    case 12: present = !present; break;
    default: tensor.byte_offset = static_cast<std::uint64_t>(by.below(40));
  }
}

void described_tensor::point(described_tensor& owner) {
  tensor.data = has_data ? owner.memory.data() + owner.at : nullptr;
  tensor.shape = has_shape ? shape.data() : nullptr;
  tensor.strides = has_strides ? strides.data() : nullptr;
}

bool described_tensor::same_descriptor(described_tensor const& other) const {
  return shape == other.shape && strides == other.strides && tensor.ndim == other.tensor.ndim &&
         tensor.byte_offset == other.tensor.byte_offset &&
         std::memcmp(&tensor.dtype, &other.tensor.dtype, sizeof(DLDataType)) == 0;
}

bool described_tensor::is_sound(int rank, bool any_last_stride) const {
  if (tensor.device.device_type != kDLCPU || tensor.ndim != rank || !has_shape || !has_strides) return false;
  auto const bytes = static_cast<wide>(bytes_of(tensor.dtype));
  wide elements = 1, last = 0;
  bool empty = false;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
    std::int64_t const size = shape[axis], stride = strides[axis];
    if (size < 0 || stride < 0) return false;
    empty = empty || size == 0;
    elements *= std::max<std::int64_t>(size, 1), last += static_cast<wide>(size > 0 ? size - 1 : 0) * stride;
    if (elements * bytes > most || (last + 1) * bytes > most) return false;
  }
  auto const end = static_cast<std::size_t>(rank) - 1;
  if (shape[end] > 1 && strides[end] != 1 && !any_last_stride) return false;
  if (!empty && !has_data) return false;
  return !has_data ||
         (reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset) % bytes_of(tensor.dtype) == 0;
}

bool described_tensor::lies_inside(described_tensor const& owner, int rank) const {
  if (!is_complete() || tensor.ndim != rank) return true;
  wide last = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
    if (shape[axis] < 0 || strides[axis] < 0) return true;
    last += static_cast<wide>(shape[axis] > 0 ? shape[axis] - 1 : 0) * strides[axis];
    last = std::min<wide>(last, most);  // no memory is larger
  }
  if (std::find(shape.begin(), shape.begin() + rank, 0) != shape.begin() + rank) return true;
  wide const end = (last + 1) * static_cast<wide>(std::max<std::size_t>(bytes_of(tensor.dtype), 1)) +
                   static_cast<wide>(tensor.byte_offset);
  return end <= static_cast<wide>(owner.memory.size() - owner.at);
}

bool described_tensor::meets_itself(int rank) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
    if (shape[axis] > 1) axes.emplace_back(strides[axis], shape[axis]);
  std::ranges::sort(axes);
  wide span = 0;
  for (auto const& [stride, size] : axes) {
    if (stride <= span) return true;
    span += static_cast<wide>(stride) * (size - 1);
  }
  return false;
}

std::vector<bool> described_tensor::element_bytes(int rank) const {
  std::vector<bool> elements(memory.size());
  auto const bytes = static_cast<std::int64_t>(bytes_of(tensor.dtype));
  std::array<std::int64_t, 4> size{1, 1, 1, 1}, stride{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
    size[axis] = shape[axis], stride[axis] = strides[axis];
  if (std::ranges::count(size, 0) > 0) return elements;  // the other sizes may be any
  for (std::int64_t b = 0; b < size[0]; ++b)
    for (std::int64_t h = 0; h < size[1]; ++h)
      for (std::int64_t i = 0; i < size[2]; ++i)
        for (std::int64_t j = 0; j < size[3]; ++j) {
          auto const from = elements.begin() + static_cast<std::ptrdiff_t>(at + tensor.byte_offset) +
                            (b * stride[0] + h * stride[1] + i * stride[2] + j * stride[3]) * bytes;
          std::fill(from, from + bytes, true);
        }
  return elements;
}

}  // namespace attest::fuzz
