#include "audit/isolation/placed_tensor.hpp"

#include <cstring>

#include <unistd.h>

namespace attest::audit {
namespace {

using problem::element_type;
using problem::layout;

constexpr std::uint64_t unaligned_base = 64;
/// If two parts of a tensor are at least so many bytes apart, the bytes between them are inaccessible.
constexpr std::uint64_t hole_bytes = std::uint64_t{1} << 16;

constexpr int input_surroundings = 0xFF;   // a NaN in every element type
constexpr int output_surroundings = 0xA5;  // a value no kernel computes by chance

/// A quiet NaN that arithmetic does not produce: an output element that still has it was not written.
/// Requires  a floating type
constexpr std::uint64_t unwritten_pattern(element_type type) noexcept {
  problem::binary_format const format = problem::row_of(type).format;
  return format.infinity() | format.quiet_bit() | (0xA5A5A5A5A5A5A5A5 & (format.quiet_bit() - 1));
}

std::uint64_t spanned_bytes_of(layout const& strided, std::size_t element) {
  return owned_tensor{element_type::f32, strided, {}}.spanned_elements() * element;
}

struct outer_axis {
  std::uint64_t count, step;
};

/// A tensor as equal blocks of memory: `block` bytes, repeated along `outer`, from the innermost axis on.
struct blocks {
  std::uint64_t block = 0;
  std::vector<outer_axis> outer{};

  std::uint64_t count() const noexcept {
    std::uint64_t all = 1;
    for (auto const& [count, step] : outer) all = count > ~std::uint64_t{0} / all ? ~std::uint64_t{0} : all * count;
    return all;
  }
};

/// Requires  no size 0
blocks blocks_of(layout const& strided, std::size_t element, std::uint64_t hole) {
  auto const last = static_cast<std::size_t>(strided.rank - 1);
  std::vector<outer_axis> axes;
  for (std::size_t axis = 0; axis < last; ++axis)
    if (strided.shape[axis] > 1)
      axes.push_back({static_cast<std::uint64_t>(strided.shape[axis]),
                      static_cast<std::uint64_t>(strided.stride[axis]) * element});
  std::ranges::sort(axes, {}, &outer_axis::step);
  blocks found{.block = static_cast<std::uint64_t>(strided.shape[last]) * element};
  for (outer_axis const& axis : axes) {
    if (found.outer.empty() && axis.step <= found.block + hole) found.block += (axis.count - 1) * axis.step;
    else found.outer.push_back(axis);
  }
  return found;
}

}  // namespace

std::uint64_t page_bytes() noexcept {
  static auto const bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

placed_tensor placed_tensor::of_input(owned_tensor const& input, layout const& usual, layout const& strided) {
  placed_tensor placed;
  placed.type_ = input.type;
  placed.input_ = &input;
  placed.source_ = usual;
  placed.strided_ = strided;
  placed.as_drafted_ = usual.stride == strided.stride;
  return placed;
}

placed_tensor placed_tensor::of_output(element_type type, layout const& strided) {
  placed_tensor placed;
  placed.type_ = type;
  placed.source_ = placed.strided_ = strided;
  return placed;
}

bool placed_tensor::place(placement where, std::size_t most_pieces) {
  auto const page = page_bytes();
  spanned_ = spanned_bytes_of(strided_, element());
  byte_offset_ = where == placement::unaligned && spanned_ > 0 ? unaligned_base + element() : 0;
  skew_ = where == placement::end ? rounded_up(spanned_, page) - spanned_ : byte_offset_;
  pieces_.clear();
  if (spanned_ == 0) return true;

  blocks const found =
      as_drafted_ ? blocks{.block = spanned_} : blocks_of(strided_, element(), std::max(hole_bytes, 2 * page));
  auto const count = found.count();
  if (count > most_pieces) return false;
  for (std::uint64_t n = 0, image = 0; n < count; ++n) {
    std::uint64_t offset = skew_, rest = n;
    for (auto const& [size, step] : found.outer) offset += rest % size * step, rest /= size;
    std::uint64_t const begin = offset / page * page, end = rounded_up(offset + found.block, page);
    auto const first = static_cast<std::int64_t>(begin) - static_cast<std::int64_t>(skew_);
    // The last row of a head and the first of the next may lie side by side: parts that share a page are one piece.
    bool const shares =
        !pieces_.empty() && first < pieces_.back().first + static_cast<std::int64_t>(pieces_.back().bytes);
    if (!shares) pieces_.push_back({first, 0, image});
    memory_piece& piece = pieces_.back();
    piece.bytes = static_cast<std::uint64_t>(first - piece.first) + (end - begin);
    image = piece.at + piece.bytes;
  }
  return true;
}

void placed_tensor::write_image(std::span<std::byte> to) const {
  if (spanned_ == 0) return;
  std::memset(to.data(), is_input() ? input_surroundings : output_surroundings, to.size());
  if (as_drafted_) {
    std::memcpy(to.data() + skew_, input_->bytes.data(), spanned_);
    return;
  }
  auto const row = row_elements(), size = element();
  if (is_input()) {
    for_each_row(strided_, source_, [&](std::size_t place, std::size_t from) {
      std::memcpy(to.data() + position_of(place), input_->bytes.data() + from * size, row * size);
    });
    return;
  }
  auto const pattern = unwritten_pattern(type_);
  std::vector<std::byte> unwritten(row * size);
  for (std::size_t j = 0; j < row; ++j) std::memcpy(unwritten.data() + j * size, &pattern, size);
  for_each_row(strided_, source_, [&](std::size_t place, std::size_t) {
    std::memcpy(to.data() + position_of(place), unwritten.data(), unwritten.size());
  });
}

std::int64_t placed_tensor::byte_at(std::size_t position) const noexcept {
  memory_piece const& in = *std::prev(std::ranges::upper_bound(pieces_, position, {}, &memory_piece::at));
  return in.first + static_cast<std::int64_t>(position - in.at);
}

}  // namespace attest::audit
