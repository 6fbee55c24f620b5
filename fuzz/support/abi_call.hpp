// A call of the C interface with memory of its own, made and wrecked by bytes.
#pragma once

#include <attest/kernel.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <span>
#include <vector>

namespace attest::fuzz {

enum class place : std::size_t { q, k, v, mask, bias, out, lse, weights };
inline constexpr std::array places{place::q, place::k, place::v, place::mask, place::bias, place::out, place::lse, place::weights};
constexpr bool is_output(place p) { return p >= place::out; }

class call_under_test {
 public:
  attest_call call{};

  explicit call_under_test(std::span<std::uint8_t const> input) : in_(input) {
    make();
    for (int wrecks = 0; wrecks < 4 && !in_.empty(); ++wrecks) wreck();
    point();
  }
  /// The same call in other memory.
  call_under_test(call_under_test const& other) : call(other.call), slots_(other.slots_) { point(); }
  call_under_test& operator=(call_under_test const&) = delete;

  std::vector<std::byte> const& memory(place p) const { return slot_of(p).memory; }

  bool same_descriptors(call_under_test const& other) const {
    for (place const p : places) {
      slot const& a = slot_of(p);
      slot const& b = other.slot_of(p);
      if (a.shape != b.shape || a.strides != b.strides || a.tensor.ndim != b.tensor.ndim ||
          a.tensor.byte_offset != b.tensor.byte_offset || std::memcmp(&a.tensor.dtype, &b.tensor.dtype, sizeof(DLDataType)) != 0)
        return false;
    }
    return true;
  }

  /// Every element that a descriptor reaches lies in its memory, and no output overlaps anything: what a caller
  /// promises and a kernel cannot check. Descriptors that a kernel must refuse are inside, wherever they point.
  bool inside_memory() const;

  /// By the comments of attest/kernel.h and docs/semantics.md, written down once more.
  bool well_formed() const;

  /// Strides of 0 make any number of keys out of one: is a well-formed call answered in milliseconds?
  bool affordable() const;

  friend std::ostream& operator<<(std::ostream& out, call_under_test const& tested);

 private:
  /// Room of one tensor: the elements, canaries around them.
  struct slot {
    std::array<std::int64_t, 5> shape{1, 1, 1, 1, 1}, strides{1, 1, 1, 1, 1};
    DLTensor tensor{};
    std::vector<std::byte> memory;
    std::size_t at = 0;        ///< of data in memory
    bool present = false, has_data = true, has_shape = true, has_strides = true, alias = false;
  };

  slot& slot_of(place p) { return slots_[static_cast<std::size_t>(p)]; }
  slot const& slot_of(place p) const { return slots_[static_cast<std::size_t>(p)]; }
  std::uint8_t byte() {
    if (in_.empty()) return 0;
    std::uint8_t const first = in_.front();
    in_ = in_.subspan(1);
    return first;
  }
  std::int64_t below(int end) { return byte() % end; }
  /// Numbers that sizes and strides go wrong at.
  std::int64_t number();
  void make();
  void wreck();
  void point();

  std::span<std::uint8_t const> in_;
  std::array<slot, places.size()> slots_;
};

}  // namespace attest::fuzz
