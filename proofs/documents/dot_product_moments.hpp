// Mean and variance of the dot product of two vectors of independent entries: every pair of vectors is counted,
// exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "proofs/worked_example.hpp"
#include "reference/real/integer.hpp"
#include "reference/real/sqrt.hpp"

namespace attest::proofs {

/// Σ 1, Σ q·k and Σ (q·k)² over pairs of vectors (q, k).
struct moments {
  using large = reference::integer<576>;

  large count = 0, sum = 0, squares = 0;

  constexpr void add(std::int64_t dot, large const& pairs) noexcept {
    count += pairs, sum += pairs * dot, squares += pairs * (dot * dot);
  }
  /// E(q·k) = 0, and Var(q·k) is over/under.
  constexpr bool have_variance(std::int64_t over, std::int64_t under = 1) const noexcept {
    return count.sign() > 0 && sum.sign() == 0 && squares * under == count * over;
  }
};

/// Over all pairs of vectors of d entries, each any of `values` (a distribution with mean 0), one pair after the other.
template <std::size_t V>
constexpr moments all_pairs(std::array<std::int64_t, V> const& values, int d) noexcept {
  moments found;
  std::int64_t choices = 1;
  for (int t = 0; t < 2 * d; ++t) choices *= static_cast<std::int64_t>(V);
  for (std::int64_t choice = 0; choice < choices; ++choice) {
    std::int64_t rest = choice, dot = 0;
    for (int t = 0; t < d; ++t) {
      std::int64_t const q = values[static_cast<std::size_t>(rest % static_cast<std::int64_t>(V))];
      rest /= static_cast<std::int64_t>(V);
      std::int64_t const k = values[static_cast<std::size_t>(rest % static_cast<std::int64_t>(V))];
      rest /= static_cast<std::int64_t>(V);
      dot += q * k;
    }
    found.add(dot, 1);
  }
  return found;
}

inline constexpr std::array<std::int64_t, 2> signs{-1, 1};

/// Over all pairs of vectors of d entries −1 and 1 (mean 0, variance 1), divided by 2^d.
///
/// Requires  d ≤ 512, so that C(d, i)·d and Σ C(d, i)·d² are below 2^576
/// Why       for each q there are C(d, i) vectors k that differ from it in i entries, and then q·k = d − 2i
constexpr moments pairs_of_signs(std::int64_t d) noexcept {
  moments found;
  moments::large ways = 1;  // C(d, i)
  for (std::int64_t i = 0; i <= d; ++i) {
    found.add(d - 2 * i, ways);
    ways = ways * (d - i) / (i + 1);
  }
  return found;
}

/// √Var(q·k) over those pairs, from Σ (q·k)²/Σ 1. Requires E(q·k) = 0, and says −1 where it is not.
constexpr number deviation_of_signs(std::int64_t d) noexcept {
  moments const of = pairs_of_signs(d);
  return of.sum.sign() != 0 ? number(-1) : square_root(number::from(of.squares, 0) / number::from(of.count, 0));
}

/// Var(q·k/√d) over those pairs, from Σ (q·k/√d)²/Σ 1. The same.
constexpr number variance_of_scaled_signs(std::int64_t d) noexcept {
  moments const of = pairs_of_signs(d);
  number const scale = reference::inverse_sqrt<width>(d);
  return of.sum.sign() != 0 ? number(-1) : number::from(of.squares, 0) * scale * scale / number::from(of.count, 0);
}

}  // namespace attest::proofs
