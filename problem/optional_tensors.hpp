// The tensors that a call may hold in addition to q, k and v: the only list of the optional inputs. Validation, files,
// messages, copies and reports visit it.
#pragma once

#include <optional>
#include <string_view>

#include "problem/element_type.hpp"

namespace attest::problem {

/// One optional input, by its name in the C interface and in files.
struct optional_tensor {
  std::string_view name;
  int rank = 4;                ///< in the C interface; a sink may also have rank 1
  element_type type;           ///< f32 stands for q's own type or f32
  bool whole_numbers = false;  ///< lengths, offsets or a table
  int version = 2;             ///< of the C interface that has its field first

  constexpr bool is_floating() const noexcept { return type == element_type::f32; }
};

/// Calls visitor(optional_tensor, x.member, more.member…) for each of them, where every argument has these members:
/// erased_arguments, audit::problem_draft, attest_call.
template <class Visitor, class... Holders>
constexpr void visit_optional_tensors(Visitor&& visitor, Holders&&... of) {
  visitor(optional_tensor{"mask", 4, element_type::u8, false, 1}, of.mask...);
  visitor(optional_tensor{"bias", 4, element_type::f32, false, 1}, of.bias...);
  visitor(optional_tensor{"sink", 2, element_type::f32}, of.sink...);
  visitor(optional_tensor{"q_lengths", 1, element_type::i32, true}, of.q_lengths...);
  visitor(optional_tensor{"k_lengths", 1, element_type::i32, true}, of.k_lengths...);
  visitor(optional_tensor{"q_offsets", 1, element_type::i32, true}, of.q_offsets...);
  visitor(optional_tensor{"k_offsets", 1, element_type::i32, true}, of.k_offsets...);
  visitor(optional_tensor{"block_table", 2, element_type::i32, true}, of.block_table...);
  visitor(optional_tensor{"block_mask", 4, element_type::u8}, of.block_mask...);
  visitor(optional_tensor{"keep", 4, element_type::u8}, of.keep...);
  visitor(optional_tensor{"do", 4, element_type::f32, false, 3}, of.d_out...);
}

namespace detail {
struct optional_tensor_names {
  int mask = 0, bias = 0, sink = 0, q_lengths = 0, k_lengths = 0, q_offsets = 0, k_offsets = 0, block_table = 0,
      block_mask = 0, keep = 0, d_out = 0;
};
}  // namespace detail

/// The row of this name.
constexpr std::optional<optional_tensor> find_optional_tensor(std::string_view name) noexcept {
  std::optional<optional_tensor> found;
  visit_optional_tensors(
      [&](optional_tensor const& row, int) {
        if (row.name == name) found = row;
      },
      detail::optional_tensor_names{});
  return found;
}

}  // namespace attest::problem
