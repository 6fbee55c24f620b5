// A matrix in memory.
#pragma once

#include <cstdint>

namespace attest::fast {

/// Element (i, j) is data[i·stride + j].
template <class N>
struct matrix {
  N* data = nullptr;
  std::int64_t stride = 0;

  constexpr N* row(std::int64_t i) const noexcept { return data + i * stride; }
};

}  // namespace attest::fast
