// How far out the dot product of two random vectors lies: an exact finite sum, where a document has a histogram.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "proofs/worked_example.hpp"

namespace attest::proofs {

/// P(|v1·v2| > x) = 2·Σ_{i<n} C(n−1+i, i)·2^(−n−i)·Σ_{j<n−i} e^(−x)·x^j/j!  for v1, v2 of 2n independent N(0, 1)
/// entries.
///
/// Requires  n ≥ 1, x ≥ 0
/// Why       v1·v2 = |a|²/2 − |b|²/2 with a, b = (v1 ± v2)/√2, again 2n independent N(0, 1) each: the difference of two
///           independent Gamma(n) times G − H. Let G be the n-th arrival of a Poisson process of rate 1. G > H + x iff
///           fewer than n arrivals come in H + x: i of them in H (negative binomial: C(n−1+i, i)·2^(−n−i)) and j in x
///           (Poisson).
template <std::size_t n>
constexpr number outside(std::int64_t x) noexcept {
  std::array<number, n> fewer{};  // P(at most j arrivals in x)
  number arrivals = exp(-number(x)), sum{};
  for (std::size_t j = 0; j < n; ++j) {
    sum = sum + arrivals;
    fewer[j] = sum;
    arrivals = arrivals * number(x) / number(static_cast<std::int64_t>(j) + 1);
  }
  number chance = number(1).scaled_by_power_of_two(-static_cast<std::int64_t>(n)), total{};
  for (std::size_t i = 0; i < n; ++i) {
    total = total + chance * fewer[n - 1 - i];
    chance = (chance * number(static_cast<std::int64_t>(n + i)) / number(static_cast<std::int64_t>(i) + 1))
                 .scaled_by_power_of_two(-1);
  }
  return total.scaled_by_power_of_two(1);
}

}  // namespace attest::proofs
