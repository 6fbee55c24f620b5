// The parts of the calls of both C functions: bytes that are read in turn, and tensors with memory of their own, as a
// descriptor states them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <attest/kernel.h>

namespace attest::fuzz {

/// The bytes of an input, read in turn; zeros behind its end.
class byte_source {
 public:
  byte_source() = default;
  explicit byte_source(std::span<std::uint8_t const> input) : in_(input) {}

  bool empty() const { return in_.empty(); }
  std::uint8_t byte() {
    if (in_.empty()) return 0;
    std::uint8_t const first = in_.front();
    in_ = in_.subspan(1);
    return first;
  }
  std::int64_t below(int end) { return byte() % end; }
  /// Numbers that sizes, strides and contents go wrong at.
  std::int64_t number();
  /// A draw that costs no byte.
  std::int64_t draw(std::int64_t end) {
    drawn_ = drawn_ * 1664525 + 1013904223;
    return static_cast<std::int64_t>(drawn_ >> 16) % end;
  }
  void seed_draws(std::uint32_t seed) { drawn_ = seed; }

 private:
  std::span<std::uint8_t const> in_;
  std::uint32_t drawn_ = 0;
};

/// Bytes around the elements of a tensor, which nothing may change.
inline constexpr std::size_t canary = 64;

inline constexpr std::array<DLDataType, 4> floating_types{
    {{kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLBfloat, 16, 1}, {kDLFloat, 16, 1}}};

constexpr std::size_t bytes_of(DLDataType type) { return type.bits / 8u; }
constexpr bool same(DLDataType a, DLDataType b) { return a.code == b.code && a.bits == b.bits; }
constexpr bool is_float(DLDataType type) {
  for (DLDataType const known : floating_types)
    if (same(type, known)) return true;
  return false;
}

/// Room of one tensor, the elements with canaries around them, and what a descriptor says of it.
struct described_tensor {
  std::array<std::int64_t, 5> shape{1, 1, 1, 1, 1}, strides{1, 1, 1, 1, 1};
  DLTensor tensor{};
  std::vector<std::byte> memory;
  std::size_t at = 0;  ///< of data in memory
  bool present = false, has_data = true, has_shape = true, has_strides = true;

  bool is_complete() const { return has_data && has_shape && has_strides; }

  /// One field of the descriptor becomes something else.
  /// Requires  0 ≤ what < kinds_of_wrecks
  static constexpr int kinds_of_wrecks = 14;
  void wreck(std::int64_t what, byte_source& by);

  /// The descriptor points into this object, and its data into the memory of `owner`.
  void point(described_tensor& owner);

  bool same_descriptor(described_tensor const& other) const;

  // By the comments of attest/kernel.h, written down once more.

  /// Is the descriptor right on its own: memory, axes, sizes, strides, alignment? Requires  a type that has a size
  bool is_sound(int rank, bool any_last_stride) const;

  /// Does every element lie in the memory of `owner`? So does one of a descriptor that must be refused, wherever it
  /// points.
  bool lies_inside(described_tensor const& owner, int rank) const;

  /// Do strides make two elements meet? As far as is seen at once: an axis does not pass what those with smaller
  /// strides span.
  bool meets_itself(int rank) const;

  /// For each byte of `memory`: is it part of an element? Requires  elements that lie inside, few enough to be counted
  std::vector<bool> element_bytes(int rank) const;
};

}  // namespace attest::fuzz
