// Backward passes that are asked for some gradients alone.
#pragma once

#include <array>
#include <cstdint>

#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// A set of gradients: bit n is the gradient dq + n.
using gradient_set = std::uint8_t;

constexpr gradient_set set_of(problem::output_kind gradient) noexcept {
  return static_cast<gradient_set>(
      1u << (static_cast<unsigned>(gradient) - static_cast<unsigned>(problem::output_kind::dq)));
}

namespace detail {

inline constexpr std::size_t gradient_sets = 32;
struct listed_gradients {
  std::array<problem::output_kind, 5> kinds{};
  std::size_t count = 0;
};
inline constexpr std::array<listed_gradients, gradient_sets> gradients_of_sets = [] {
  std::array<listed_gradients, gradient_sets> all{};
  for (std::size_t set = 0; set < gradient_sets; ++set)
    for (problem::output_kind const kind : problem::backward.gives)
      if (set & set_of(kind)) all[set].kinds[all[set].count++] = kind;
  return all;
}();
inline constexpr std::array<problem::operator_row, gradient_sets> passes_for_sets = [] {
  std::array<problem::operator_row, gradient_sets> all{};
  for (std::size_t set = 0; set < gradient_sets; ++set) {
    all[set] = problem::backward;
    all[set].gives = std::span(gradients_of_sets[set].kinds).first(gradients_of_sets[set].count);
  }
  return all;
}();

}  // namespace detail

/// The backward pass that is asked for these gradients. Requires  one of them at least
inline problem::operator_row const& pass_for(gradient_set gradients) noexcept {
  return detail::passes_for_sets[gradients];
}

/// The gradients for which a backward pass is asked.
constexpr gradient_set gradients_of(problem::operator_row const& pass) noexcept {
  gradient_set all = 0;
  for (problem::output_kind const kind : pass.gives) all = static_cast<gradient_set>(all | set_of(kind));
  return all;
}

}  // namespace attest::audit
