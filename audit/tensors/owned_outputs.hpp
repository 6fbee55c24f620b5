// The outputs of a kernel or of a file; any of them may be absent.
#pragma once

#include <optional>

#include "audit/tensors/owned_tensor.hpp"

namespace attest::audit {

struct owned_outputs {
  std::optional<owned_tensor> o{}, lse{}, weights{};

  bool empty() const noexcept { return !o && !lse && !weights; }
};

/// Are the same outputs there, with the same bytes?
inline bool same_bits(owned_outputs const& a, owned_outputs const& b) {
  auto const same = [](std::optional<owned_tensor> const& x, std::optional<owned_tensor> const& y) {
    return x.has_value() == y.has_value() && (!x || x->bytes == y->bytes);
  };
  return same(a.o, b.o) && same(a.lse, b.lse) && same(a.weights, b.weights);
}

/// The optional outputs that a call asks for.
struct asked_outputs {
  bool lse = true, weights = true;
};

}  // namespace attest::audit
