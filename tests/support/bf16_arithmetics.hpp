// The arithmetics on pairs of bf16 that this processor has.
#pragma once

#include <vector>

#include "fast/attention.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

/// Those that are here; says which are not.
inline std::vector<fast::bf16_arithmetic> bf16_arithmetics() {
  using fast::bf16_arithmetic;
  std::vector<bf16_arithmetic> found;
  for (auto const by : {bf16_arithmetic::dot_products, bf16_arithmetic::tile_products})
    if (fast::is_here(by)) found.push_back(by);
    else WARN("not tested: this processor lacks the arithmetic " << static_cast<int>(by));
  return found;
}

}  // namespace attest::tests
