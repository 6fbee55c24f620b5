// A call of attest_merge with memory of its own, made and wrecked by bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include <attest/kernel.h>

#include "audit/tensors/merge_form.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "fuzz/support/described_tensor.hpp"

namespace attest::fuzz {

class merge_under_test : byte_source {
 public:
  attest_merge_call call{};
  std::uint8_t instruction_set = 0;  ///< which of the kernel's answers; any number

  explicit merge_under_test(std::span<std::uint8_t const> input);
  /// The same call in other memory.
  merge_under_test(merge_under_test const& other);
  merge_under_test& operator=(merge_under_test const&) = delete;

  /// Asks the exported function. The structure and the lists of parts lie in memory that ends behind them.
  attest_status ask();

  // The rules for its answer (merge_rules.cpp).

  /// Every element that a descriptor reaches lies in its memory, the lists have as many parts as they should, and no
  /// output overlaps anything: what a caller promises and a kernel cannot check. Descriptors that a kernel must refuse
  /// are inside, wherever they point.
  bool inside_memory() const;

  /// OK for a sound call, FAILED for a malformed one or none, UNSUPPORTED for an unknown version; by the comments of
  /// attest/kernel.h, written down once more. Requires inside_memory().
  attest_status expected() const;

  /// Strides of 0 make any number of rows out of one, and one descriptor any number of parts: is a sound call answered
  /// and judged in milliseconds?
  bool affordable() const;

  // What became of it. Requires a sound call that is affordable.

  bool has_rows() const { return slots_[out].shape[0] != 0 && slots_[out].shape[1] != 0 && slots_[out].shape[2] != 0; }

  /// Inputs, descriptors, lists and the structure; of any call.
  bool same_inputs(merge_under_test const& before) const;
  bool same_outputs(merge_under_test const& before) const;
  /// Are the same the bytes of both outputs that are part of no element, and the bytes that are part of one?
  bool same_gaps(merge_under_test const& before) const;
  bool same_elements(merge_under_test const& other) const;
  /// If only one part of a row is read: is the row that part, bit for bit, or rounded to nearest if the answer has
  /// another type?
  bool copies_single_parts() const;
  void fill_outputs(std::byte with);

  problem::element_type type() const;         ///< of O of the parts
  problem::element_type answer_type() const;  ///< of O of the answer
  problem::element_type lse_type() const { return problem::row_of(type()).lse; }
  /// The parts one behind the other, and the answer in the type that its problem has (audit::merge_draft). This type
  /// holds every number of the answer exactly: f64 for parts of f64, else f32.
  audit::merge_parts parts() const;
  audit::owned_outputs answer() const;

  friend std::ostream& operator<<(std::ostream& out, merge_under_test const& tested);

 private:
  struct slot : described_tensor {
    std::size_t owner = 0;  ///< whose memory its elements lie in
  };
  /// Slots: out, its LSE, and O and LSE of each part that has tensors of its own; the others share those.
  static constexpr std::size_t out = 0, out_lse = 1, first_part = 2, none = ~std::size_t{0};
  static bool is_lse(std::size_t at) { return at % 2 == 1; }
  static int rank_of(std::size_t at) { return is_lse(at) ? 3 : 4; }

  /// The limit on rows × parts × columns, an LSE being one column: a call is answered twice, and judged hundreds of
  /// times a second.
  static constexpr std::int64_t most_products = 1 << 12;

  // Making (merge_call.cpp).
  void make();
  void lay(std::size_t at, DLDataType type, std::array<std::int64_t, 4> const& shape);
  static std::byte* place_of(slot& s, std::array<std::int64_t, 3> const& row);
  double between(double size);
  void fill_lse(slot& s);
  void fill_o(slot& s, slot& lse, std::int64_t number);
  void wreck();
  void wreck_call(std::int64_t what);
  void point();

  // Rules (merge_rules.cpp).
  bool is_sound(std::size_t at, int rank, DLDataType type) const;
  /// Are the bytes of slot `at` that are part of an element, or the other bytes, the same as in `other`?
  bool same_memory(std::size_t at, merge_under_test const& other, bool of_elements) const;
  /// Element (b, h, i, c) of slot `at`.
  std::byte const* element(std::size_t at, std::array<std::int64_t, 4> const& index) const;
  /// The number there, exactly.
  double number_at(std::size_t at, std::array<std::int64_t, 4> const& index) const;
  /// f({b, h, i, 0}) for each row.
  template <class F>
  void each_row(F&& f) const {
    auto const& shape = slots_[out].shape;
    if (!has_rows()) return;  // the other sizes may be any
    std::array<std::int64_t, 4> at{};
    for (at[0] = 0; at[0] < shape[0]; ++at[0])
      for (at[1] = 0; at[1] < shape[1]; ++at[1])
        for (at[2] = 0; at[2] < shape[2]; ++at[2]) f(at);
  }

  std::vector<slot> slots_;
  std::vector<std::size_t> o_, lse_;  ///< the slots of each part; none: NULL
  bool there_ = true, has_o_ = true, has_lse_ = true, call_stayed_ = true;

  std::vector<DLTensor const*> o_list_, lse_list_;
};

}  // namespace attest::fuzz
