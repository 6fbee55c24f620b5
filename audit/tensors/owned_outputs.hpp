// The outputs of a kernel or of a file; any of them may be absent.
#pragma once

#include <optional>

#include "audit/tensors/owned_tensor.hpp"

namespace attest::audit {

struct owned_outputs {
  std::optional<owned_tensor> o{}, lse{}, weights{};

  bool empty() const noexcept { return !o && !lse && !weights; }
};

/// The optional outputs that a call asks for.
struct asked_outputs {
  bool lse = true, weights = true;
};

}  // namespace attest::audit
