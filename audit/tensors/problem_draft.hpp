// A problem under construction: files, generators, slices and shrinking fill it in.
#pragma once

#include <optional>

#include "audit/tensors/owned_tensor.hpp"

namespace attest::audit {

/// Tensors with their memory, and the parameters as members of this object (draft.scale). A draft is not validated;
/// owned_problem::make validates it.
struct problem_draft : problem::parameters {
  owned_tensor q, k, v;
  std::optional<owned_tensor> mask{}, bias{};

  /// Points into *this: valid while it lives and does not change.
  problem::erased_arguments arguments() const {
    problem::erased_arguments arguments;
    static_cast<problem::parameters&>(arguments) = *this;
    arguments.q = q.erased(), arguments.k = k.erased(), arguments.v = v.erased();
    if (mask) arguments.mask = mask->erased();
    if (bias) arguments.bias = bias->erased();
    return arguments;
  }
};

}  // namespace attest::audit
