// docs/bound.md, section 3, Sums: rows in which each key is a part of its own, as the parts of a merge are, and what is
// rounded between merges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "problem/kernel_model.hpp"

namespace attest::reference {

/// The model for a row of `keys` visible keys among m: with S = n, and μ ≤ N, where `parts_are_keys`. (A merge with a
/// part that saw nothing is one.)
constexpr problem::kernel_model for_keys(problem::kernel_model model, std::size_t keys, std::int64_t m) noexcept {
  if (!model.parts_are_keys) return model;
  constexpr std::size_t most = std::numeric_limits<int>::max();
  model.splits = static_cast<int>(keys < most ? keys : most);
  if (m < model.merge_levels) model.merge_levels = static_cast<int>(m);
  return model;
}

/// μ': how often O is rounded to the format of u_state on a key's way, after each merge by LSE but the last and, where
/// parts are no keys, before the first. Beside a part that saw nothing a state stays what it is. Of a model for a row
/// (for_keys).
constexpr double states_between_merges(problem::kernel_model const& model) noexcept {
  bool const rounds = model.u_state > 0 || model.omega_state > 0;
  if (!rounds || model.merge == problem::split_merge::raw) return 0;
  if (!model.parts_are_keys) return model.merge_levels;
  return model.merge_levels - 1 < model.splits ? model.merge_levels - 1 : model.splits;
}

}  // namespace attest::reference
