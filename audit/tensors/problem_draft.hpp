// A problem that is still being put together: what files, generators, slices and shrinking fill in.
#pragma once

#include <optional>

#include "audit/tensors/owned_tensor.hpp"

namespace attest::audit {

/// Tensors with their memory, and the parameters as members of this object (draft.scale). Nothing of it is checked: an
/// owned_problem is.
struct problem_draft : problem::parameters {
  owned_tensor q, k, v;
  std::optional<owned_tensor> mask{}, bias{};

  /// Valid while *this lives and is not changed.
  problem::erased_arguments arguments() const {
    problem::erased_arguments made;
    static_cast<problem::parameters&>(made) = *this;
    made.q = q.erased(), made.k = k.erased(), made.v = v.erased();
    if (mask) made.mask = mask->erased();
    if (bias) made.bias = bias->erased();
    return made;
  }
};

}  // namespace attest::audit
