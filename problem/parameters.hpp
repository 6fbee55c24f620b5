// The numbers of a problem, in addition to its tensors. This file is the only list of them: flags, files, messages and
// reports visit it, and attest_call has a field for each (problem/call_parameters.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "problem/result.hpp"

namespace attest::problem {

/// Key j is inside the band of query i iff −left ≤ j − (i + diagonal) ≤ right. −1 = unbounded on that side; the sum
/// i + diagonal saturates. A causal band has right = 0: diagonal 0 aligns it top-left, diagonal m − n bottom-right.
/// There is no default alignment: the diagonal alone decides.
struct band {
  std::int64_t diagonal = 0, left = -1, right = -1;
  friend constexpr bool operator==(band const&, band const&) noexcept = default;
};

struct parameters {
  std::optional<double> scale{};  ///< none = the real number 1/√d, not a rounding of it
  double softcap = 0;             ///< 0 = off
  problem::band band{};
  std::int64_t align = 0;                 ///< 0: the diagonal as given; 1: + (keys − queries) of each entry
  double dropout = 0;                     ///< p in [0, 1): weights that `keep` keeps are divided by 1 − p
  std::int64_t block_q = 0, block_k = 0;  ///< queries and keys of a block of block_mask; 0 = there is none
  friend constexpr bool operator==(parameters const&, parameters const&) noexcept = default;
};

/// The description of one parameter. Its type T is std::optional<double> (a finite number or none), double (a finite
/// number) or std::int64_t.
template <class T>
struct parameter {
  char const* name;       ///< the name of the flag, the metadata key and the JSON key
  T neutral;              ///< the value without effect
  char const* none = "";  ///< what an absent value means
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  ///< the least value that a whole number may have
  std::array<char const*, 2> words{};  ///< names of 0 and 1, which text may use instead of the numbers; or null
  bool later = false;  ///< files of the first version have no word for it: if it is absent, it is neutral
};

namespace detail {

template <class Parameters, class Visitor>
constexpr void visit_each(Parameters& p, Visitor& visitor) {
  visitor(parameter<std::optional<double>>{.name = "scale", .neutral = std::nullopt, .none = "1/sqrt(d)"}, p.scale);
  visitor(parameter<double>{.name = "softcap", .neutral = 0}, p.softcap);
  visitor(parameter<std::int64_t>{.name = "diagonal", .neutral = 0}, p.band.diagonal);
  visitor(parameter<std::int64_t>{.name = "left", .neutral = -1, .least = -1}, p.band.left);
  visitor(parameter<std::int64_t>{.name = "right", .neutral = -1, .least = -1}, p.band.right);
  visitor(
      parameter<std::int64_t>{
          .name = "align", .neutral = 0, .least = 0, .words = {"top-left", "bottom-right"}, .later = true},
      p.align);
  visitor(parameter<double>{.name = "dropout", .neutral = 0, .later = true}, p.dropout);
  visitor(parameter<std::int64_t>{.name = "block_q", .neutral = 0, .least = 0, .later = true}, p.block_q);
  visitor(parameter<std::int64_t>{.name = "block_k", .neutral = 0, .least = 0, .later = true}, p.block_k);
}

}  // namespace detail

/// Calls visitor(parameter<T> const&, T&) for every parameter, in the order of files and reports.
template <class Visitor>
constexpr void visit_parameters(parameters& p, Visitor&& visitor) {
  detail::visit_each(p, visitor);
}
template <class Visitor>
constexpr void visit_parameters(parameters const& p, Visitor&& visitor) {
  detail::visit_each(p, visitor);
}

/// Calls visitor(member, simplest value) for every member of `parameters`, in the order in which shrinking tries to
/// simplify a failing problem. A member that already has its default value needs no simpler one.
template <class Visitor>
constexpr void visit_simplest(Visitor&& visitor) {
  visitor(&parameters::band, problem::band{});
  visitor(&parameters::scale, std::optional(1.0));
  visitor(&parameters::softcap, 0.0);
  visitor(&parameters::align, std::int64_t{0});
  visitor(&parameters::dropout, 0.0);
}

/// The first error of these parameters in a problem of head dimension d. Returns nothing if they are valid.
constexpr std::optional<error> parameters_fault(parameters const& p, std::int64_t d) {
  auto const finite = [](double x) { return x - x == 0; };
  if (p.scale && !finite(*p.scale)) return error{error_code::bad_value, "scale", "must be a finite number"};
  if (!p.scale && d == 0)
    return error{error_code::missing, "scale", "the default 1/sqrt(d) needs d > 0; give it explicitly where d = 0"};
  if (!finite(p.softcap) || p.softcap < 0)
    return error{error_code::bad_value, "softcap", "must be finite and positive, or 0 for none"};
  auto const& [diagonal, left, right] = p.band;
  if (left < -1 || right < -1)
    return error{error_code::bad_value, left < -1 ? "left" : "right",
                 "is " + std::to_string(left < -1 ? left : right) + ", expected -1 (unbounded) or more"};
  if (p.align != 0 && p.align != 1)
    return error{error_code::bad_value, "align", "is " + std::to_string(p.align) + ": it must be 0 or 1"};
  if (!(p.dropout >= 0 && p.dropout < 1)) return error{error_code::bad_value, "dropout", "must lie in [0, 1)"};
  if (p.block_q < 0 || p.block_k < 0)
    return error{
        error_code::bad_value, p.block_q < 0 ? "block_q" : "block_k",
        "is " + std::to_string(p.block_q < 0 ? p.block_q : p.block_k) + ", expected 0 (no block_mask) or more"};
  return std::nullopt;
}

}  // namespace attest::problem
