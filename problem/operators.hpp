// The operators whose kernels are judged, one row each: the only list of them, of the tensors that they take and of the
// outputs that they give. Files, calls, judges and reports read it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace attest::problem {

/// The outputs of all operators.
enum class output_kind : std::uint8_t { o, lse, weights, dq, dk, dv, dbias, dsink };
inline constexpr std::array<output_kind, 8> output_kinds{output_kind::o,     output_kind::lse,  output_kind::weights,
                                                         output_kind::dq,    output_kind::dk,   output_kind::dv,
                                                         output_kind::dbias, output_kind::dsink};
/// Their names in files and reports, by output_kind.
inline constexpr std::array<char const*, output_kinds.size()> output_names{"o",  "lse", "weights", "dq",
                                                                           "dk", "dv",  "dbias",   "dsink"};

/// Is it the gradient of an input?
constexpr bool is_gradient(output_kind which) noexcept { return which >= output_kind::dq; }

constexpr char const* name_of(output_kind which) noexcept { return output_names[static_cast<std::size_t>(which)]; }

/// The output of this name.
constexpr std::optional<output_kind> output_named(std::string_view name) noexcept {
  auto const at = std::ranges::find(output_names, name);
  if (at == output_names.end()) return std::nullopt;
  return output_kinds[static_cast<std::size_t>(at - output_names.begin())];
}

/// How the tensors that an operator takes reach a kernel and stand in a file.
enum class operator_form : std::uint8_t {
  call,  ///< as in attest_call: with its optional tensors and its parameters. An operator without V reads no V
  parts  ///< S partial results: NAMEs holds all of them, or NAME_0, NAME_1, … hold one each
};

/// One operator.
struct operator_row {
  std::string_view name;  ///< its check has this name, too
  std::string_view one;   ///< one of its problems, in sentences
  char const* symbol;     ///< its function in the library of a kernel (attest/kernel.h)
  operator_form form;
  std::span<std::string_view const> takes;  ///< the names, in files, of the tensors that it cannot do without
  std::span<output_kind const> gives;       ///< a call gives the first always, and the others if they are asked for
  /// The outputs of attention over the same tensors that a call is handed. Whoever has them can have them judged, too.
  std::span<output_kind const> handed{};

  constexpr bool does_take(std::string_view tensor) const noexcept {
    return std::ranges::find(takes, tensor) != takes.end();
  }
  constexpr bool does_give(output_kind which) const noexcept { return std::ranges::find(gives, which) != gives.end(); }
  constexpr bool is_handed(output_kind which) const noexcept {
    return std::ranges::find(handed, which) != handed.end();
  }
};

namespace detail {
inline constexpr std::array<std::string_view, 3> of_attention{"q", "k", "v"};
inline constexpr std::array<std::string_view, 2> of_merge{"o_parts", "lse_parts"};
inline constexpr std::array<std::string_view, 4> of_backward{"q", "k", "v", "do"};
}  // namespace detail

/// All operators.
inline constexpr std::array<operator_row, 3> operators{{
    {"attention", "attention", "attest_attention", operator_form::call, detail::of_attention,
     std::span(output_kinds).first<3>()},
    {"merge", "a merge", "attest_merge", operator_form::parts, detail::of_merge, std::span(output_kinds).first<2>()},
    {"backward", "a backward pass", "attest_attention_backward", operator_form::call, detail::of_backward,
     std::span(output_kinds).last<5>(), std::span(output_kinds).first<2>()},
}};
inline constexpr operator_row const& attention = operators[0];
inline constexpr operator_row const& merge = operators[1];
inline constexpr operator_row const& backward = operators[2];

}  // namespace attest::problem
