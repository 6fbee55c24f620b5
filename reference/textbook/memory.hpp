// Attention as content-addressable memory: write a pair, read by similarity.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/textbook/ball_range.hpp"

namespace attest::reference {

/// Key-value pairs in the order they were written. Requires d and dv fixed before the first write.
template <unsigned W>
struct memory {
  std::int64_t d = 0, dv = 0;
  std::vector<ball<W>> keys{};    ///< [pairs, d]
  std::vector<ball<W>> values{};  ///< [pairs, dv]

  constexpr std::int64_t pairs() const noexcept { return d > 0 ? static_cast<std::int64_t>(keys.size()) / d : 0; }
};

/// Adds the pair (k, v).
///
/// Shapes    k [d], v [dv]
/// Source    "Write (k, v): Add key-value pair", Scaled Dot-Product Attention, Memory as Attention
template <unsigned W, ball_range K, ball_range V>
constexpr void write(memory<W>& to, K const& k, V const& v) {
  for (auto const& x : k) to.keys.push_back(x);
  for (auto const& x : v) to.values.push_back(x);
}

namespace detail {

template <unsigned W, ball_range Q, class Similarity>
constexpr std::vector<ball<W>> read(memory<W> const& from, Q const& q, Similarity const& similarity, bool normalised) {
  ball<W> sum{};
  std::vector<ball<W>> result;
  for (std::int64_t c = 0; c < from.dv; ++c) result.push_back({});
  std::vector<ball<W>> key;
  for (std::int64_t j = 0; j < from.pairs(); ++j) {
    key.clear();
    for (std::int64_t t = 0; t < from.d; ++t) key.push_back(at(from.keys, j * from.d + t));
    ball<W> const weight = similarity(q, key);
    sum = sum + weight;
    for (std::int64_t c = 0; c < from.dv; ++c) {
      auto& to = result[static_cast<std::size_t>(c)];
      to = to + weight * at(from.values, j * from.dv + c);
    }
  }
  if (normalised)
    for (auto& value : result) value = value / sum;
  return result;
}

}  // namespace detail

/// Σ_j similarity(q, k_j)·v_j
///
/// Shapes    q [d], result [dv]; similarity(q, k) gives a ball<W>
/// Ensures   with orthonormal keys and similarity = dot, reading k_j gives exactly v_j
/// Source    "Read with query q: Σ_j similarity(q, k_j)·v_j", Scaled Dot-Product Attention, Memory as Attention
/// Cost      a similarity and dv multiplications a pair
template <unsigned W, ball_range Q, class Similarity>
constexpr std::vector<ball<W>> read(memory<W> const& from, Q const& q, Similarity const& similarity) {
  return detail::read(from, q, similarity, false);
}

/// Σ_j similarity(q, k_j)·v_j / Σ_j similarity(q, k_j): attention where similarity is e^(q·k/√d).
///
/// Requires  Σ_j similarity(q, k_j) ≠ 0 for certain; at least one pair
template <unsigned W, ball_range Q, class Similarity>
constexpr std::vector<ball<W>> read_normalised(memory<W> const& from, Q const& q, Similarity const& similarity) {
  return detail::read(from, q, similarity, true);
}

}  // namespace attest::reference
