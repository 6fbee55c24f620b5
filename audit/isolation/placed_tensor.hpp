// One tensor in the memory of a call: which bytes the kernel may access, and what they hold before the call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audit/isolation/isolated_kernel.hpp"
#include "audit/tensors/memory_form.hpp"

namespace attest::audit {

/// The size of a page of memory, in bytes.
std::uint64_t page_bytes() noexcept;

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

/// Calls visit(offset in a, offset in b) for the first element of every row along the last axis, in order; never for
/// an empty tensor. Requires two layouts of one shape
template <class Visit>
void for_each_row(problem::layout const& a, problem::layout const& b, Visit visit) {
  auto const rank = static_cast<std::size_t>(a.rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (a.shape[axis] == 0) return;
  std::array<std::int64_t, 4> at{};
  for (;;) {
    std::int64_t in_a = 0, in_b = 0;
    for (std::size_t axis = 0; axis + 1 < rank; ++axis)
      in_a += at[axis] * a.stride[axis], in_b += at[axis] * b.stride[axis];
    visit(static_cast<std::size_t>(in_a), static_cast<std::size_t>(in_b));
    std::size_t axis = rank - 1;  // the next row, as an odometer counts
    while (axis > 0 && ++at[axis - 1] == a.shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// Whole pages that the kernel may access. The memory between the pieces of a tensor is inaccessible.
struct memory_piece {
  std::int64_t first = 0;   ///< byte, counted from the first element of the tensor
  std::uint64_t bytes = 0;  ///< a multiple of the page size
  std::uint64_t at = 0;     ///< in the image of the tensor, where the pieces lie one after the other
};

class placed_tensor {
 public:
  /// An input in memory of its own; `strided` is its layout in the descriptor.
  static placed_tensor of_input(owned_tensor const& input, problem::layout const& usual,
                                problem::layout const& strided);
  static placed_tensor of_output(problem::element_type type, problem::layout const& strided);

  /// Chooses the pages of a tensor that lies in at most `most_pieces` pieces; false for any other.
  bool place(placement where, std::size_t most_pieces);

  bool is_input() const noexcept { return input_ != nullptr; }
  problem::element_type type() const noexcept { return type_; }
  std::size_t element() const noexcept { return problem::size_of(type_); }
  problem::layout const& strided() const noexcept { return strided_; }
  std::size_t row_elements() const noexcept {
    return static_cast<std::size_t>(strided_.shape[static_cast<std::size_t>(strided_.rank - 1)]);
  }

  std::uint64_t spanned_bytes() const noexcept { return spanned_; }  ///< from the first element to the last
  std::uint64_t skew() const noexcept { return skew_; }              ///< of the first element in its page
  std::uint64_t byte_offset() const noexcept { return byte_offset_; }
  std::span<memory_piece const> pieces() const noexcept { return pieces_; }
  std::uint64_t image_bytes() const noexcept { return pieces_.empty() ? 0 : pieces_.back().at + pieces_.back().bytes; }

  /// Writes the contents of the pieces before the call. Requires image_bytes() bytes
  void write_image(std::span<std::byte> to) const;

  /// The position in the image of an element with this offset. Requires an element of the tensor
  std::size_t position_of(std::size_t element_offset) const noexcept {
    auto const byte = static_cast<std::int64_t>(element_offset * element());
    memory_piece const& in = piece_of(byte);
    return static_cast<std::size_t>(static_cast<std::uint64_t>(byte - in.first) + in.at);
  }

  /// The byte of the tensor, counted from its first element, at a position in the image.
  std::int64_t byte_at(std::size_t position) const noexcept;

 private:
  memory_piece const& piece_of(std::int64_t byte) const noexcept {
    if (pieces_.size() == 1) return pieces_.front();
    return *std::prev(std::ranges::upper_bound(pieces_, byte, {}, &memory_piece::first));
  }

  problem::element_type type_ = problem::element_type::f32;
  problem::layout strided_{}, source_{};  ///< of the descriptor, and of the rows in input_
  owned_tensor const* input_ = nullptr;
  bool as_drafted_ = false;  ///< the bytes of input_ are copied with those between its rows
  std::uint64_t spanned_ = 0, skew_ = 0, byte_offset_ = 0;
  std::vector<memory_piece> pieces_;
};

}  // namespace attest::audit
