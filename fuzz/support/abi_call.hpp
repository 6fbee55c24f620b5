// A call of the C interface, of version 1 or 2, with memory of its own, made and wrecked by bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include <attest/kernel.h>

#include "fuzz/support/described_tensor.hpp"

namespace attest::fuzz {

enum class place : std::size_t {
  q,
  k,
  v,
  mask,
  bias,
  out,
  lse,
  weights,
  sink,
  q_lengths,
  k_lengths,
  q_offsets,
  k_offsets,
  block_table,
  block_mask,
  keep  // of version 2
};
inline constexpr std::array places{place::q,         place::k,           place::v,          place::mask,
                                   place::bias,      place::out,         place::lse,        place::weights,
                                   place::sink,      place::q_lengths,   place::k_lengths,  place::q_offsets,
                                   place::k_offsets, place::block_table, place::block_mask, place::keep};
constexpr bool is_output(place p) { return p >= place::out && p <= place::weights; }
constexpr bool is_whole_numbers(place p) { return p >= place::q_lengths && p <= place::block_table; }

class call_under_test : byte_source {
 public:
  attest_call call{};

  explicit call_under_test(std::span<std::uint8_t const> input) : byte_source(input) {
    make();
    for (int wrecks = 0; wrecks < 4 && !empty(); ++wrecks) wreck();
    point();
  }
  /// The same call in other memory.
  call_under_test(call_under_test const& other)
      : byte_source(), call(other.call), slots_(other.slots_), scaled_(other.scaled_) {
    point();
  }
  call_under_test& operator=(call_under_test const&) = delete;

  std::vector<std::byte> const& memory(place p) const { return slot_of(p).memory; }
  bool same_descriptors(call_under_test const& other) const;

  /// Asks the exported function. A call of version 1 with nothing behind `weights` lies in memory that ends there.
  attest_status ask();

  /// Does every element that a descriptor reaches lie in its memory, and does no output overlap anything? A caller
  /// promises this, and a kernel cannot check it. Descriptors that a kernel must refuse are inside, wherever they
  /// point.
  bool inside_memory() const;

  /// By the comments of attest/kernel.h and docs/semantics.md, written down once more. Requires inside_memory().
  bool well_formed() const;

  /// Dropout, which the built-in kernel does not do. Requires well_formed().
  bool has_dropout() const { return given(place::keep); }

  /// Strides of 0 make any number of keys out of one: is a well-formed call answered in milliseconds?
  bool affordable() const;

  /// For each byte of each place's memory: does it belong to a row that the problem has? Inputs: the kernel may read
  /// it. Outputs: it must write it. Requires well_formed() and affordable().
  using bytes_of_places = std::array<std::vector<bool>, places.size()>;
  bytes_of_places used_bytes() const;

  /// For each byte of an output's memory: is it part of an element, used or not? Requires what used_bytes() does.
  std::vector<bool> element_bytes(place output) const;

  /// Changes all that may not matter: inputs outside `used`, outputs, and fields that the version does not have.
  void spoil(bytes_of_places const& used);

  friend std::ostream& operator<<(std::ostream& out, call_under_test const& tested);

 private:
  struct slot : described_tensor {
    bool alias = false;  ///< its data is q's
  };
  struct form;  ///< what the first bytes choose

  slot& slot_of(place p) { return slots_[static_cast<std::size_t>(p)]; }
  slot const& slot_of(place p) const { return slots_[static_cast<std::size_t>(p)]; }
  /// Whose memory its elements lie in.
  place owner_of(place p) const { return slot_of(p).alias ? place::q : p; }
  bool is_version_2() const { return call.abi_version == ATTEST_KERNEL_ABI_2; }
  /// Does the call say something there, in the fields that its version has?
  bool given(place p) const { return slot_of(p).present && (p <= place::weights || is_version_2()); }

  // Making (abi_call.cpp).
  void make();
  form read_form();
  void lay(form const& chosen, place p, DLDataType type, std::vector<std::int64_t> const& shape, bool present);
  void fill(place p, std::vector<std::int32_t> const& numbers);
  void lay_entries(form& chosen);
  void wreck();
  template <class Change>
  void wreck_contents(slot& s, Change change);
  void wreck_number();
  void point();

  // Rules (abi_rules.cpp).
  int rank_of(place p) const;
  std::int64_t whole(place p, std::int64_t at) const;
  bool numbers_are_sound() const;
  bool type_is_sound(place p) const;
  bool is_sound(place p) const;
  bool rises(place offsets, std::int64_t total) const;
  bool entries_are_sound() const;
  bool shapes_are_sound() const;
  std::int64_t entries() const;
  std::int64_t query_room(std::int64_t e) const;
  std::int64_t key_room(std::int64_t e) const;
  std::int64_t queries(std::int64_t e) const;
  std::int64_t keys(std::int64_t e) const;
  std::int64_t most_queries() const;  ///< n: the largest room of an entry
  std::int64_t most_keys() const;     ///< m

  std::array<slot, places.size()> slots_;
  std::array<bool, 3> scaled_{};  ///< which of q_scale, k_scale and v_scale there are
};

}  // namespace attest::fuzz
