// docs/bound.md, section 3, Sums: rows in which each key is a part of its own, as the parts of a merge are.
#pragma once

#include <cstddef>
#include <limits>

#include "problem/kernel_model.hpp"

namespace attest::reference {

/// The model for a row of so many visible keys: with S = n and μ ≤ n where `parts_are_keys`.
constexpr problem::kernel_model for_keys(problem::kernel_model model, std::size_t keys) noexcept {
  if (!model.parts_are_keys) return model;
  constexpr std::size_t most = std::numeric_limits<int>::max();
  model.splits = static_cast<int>(keys < most ? keys : most);
  if (model.splits < model.merge_levels) model.merge_levels = model.splits;
  return model;
}

}  // namespace attest::reference
