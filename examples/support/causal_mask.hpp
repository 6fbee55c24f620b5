// The mask of autoregressive attention.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attest::examples {

/// Lower-triangular ones: position i attends to positions j ≤ i. 1 = attend, 0 = block.
///
/// Shapes    result [n, n], row-major
/// Requires  n ≥ 0
/// Source    "def create_causal_mask(seq_len)", Day 11: Scaled Dot-Product Attention, 11.8
constexpr std::vector<std::uint8_t> create_causal_mask(std::int64_t n) {
  auto const size = static_cast<std::size_t>(n);
  std::vector<std::uint8_t> mask(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j <= i; ++j) mask[i * size + j] = 1;
  return mask;
}

}  // namespace attest::examples
