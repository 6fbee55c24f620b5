// The outputs that a kernel gave, or that a file has; any of them may be missing.
#pragma once

#include <optional>

#include "audit/tensors/owned_tensor.hpp"

namespace attest::audit {

struct owned_outputs {
  std::optional<owned_tensor> o{}, lse{}, weights{};

  bool empty() const noexcept { return !o && !lse && !weights; }
};

}  // namespace attest::audit
