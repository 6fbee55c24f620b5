// Models of what surrounds absorb_block and merge of fast/algorithm/online_softmax.hpp, number by number: the row steps
// that the kernel's vector loops (fast/simd/exponential-inl.hpp) implement, the fold of l, the final division; and a
// variant that no kernel in fast/ runs, lazy rescaling. tests/fast/online_softmax_test.cpp holds the vector loops to
// the eager steps and the fold.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "fast/algorithm/online_softmax.hpp"

namespace attest::proofs {

/// Elements in `lanes` lanes, element j in lane j mod lanes, and the lanes folded pairwise: as the kernel sums l. Its
/// height is at most count − 1, and ⌈count/16⌉ + 3 for count ≥ 16.
template <class N, class Combine>
constexpr N reduce(N const* x, std::int64_t count, N const& neutral, Combine combine) {
  constexpr std::int64_t lanes = fast::sum_lanes;
  std::array<N, lanes> folded;
  folded.fill(neutral);
  N* const lane = folded.data();
  std::int64_t j = 0;
  for (; j + lanes <= count; j += lanes)
    for (std::int64_t a = 0; a < lanes; ++a) lane[a] = combine(lane[a], x[j + a]);
  for (std::int64_t a = 0; j + a < count; ++a) lane[a] = combine(lane[a], x[j + a]);
  for (std::int64_t half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t a = 0; a < half; ++a) lane[a] = combine(lane[a], lane[a + half]);
  return lane[0];
}

// When the reference point m follows the maximum. Softmax does not depend on m, as long as p, factor and l share it;
// but e^{s−m} ≤ e^τ bounds the weights, and each move of m rounds l and O once more.

/// m is the maximum: τ = 0. The kernel does this.
struct eager_rescaling {
  template <fast::softmax_arithmetic A, class N = typename A::number>
  constexpr N moved(N const& m, N const& largest) const {
    return A::larger(m, largest);
  }
};

/// m stays where it is until the maximum lies more than τ above it. A model: nothing in fast/ rescales lazily.
///
/// Requires  A::weight(s, m) = e^{s−m} for s ≤ m + τ. Partial rows are merged with the larger of their references,
/// never
///           lazily: it is at most τ below the larger of the maxima; the smaller one could be 2τ below it
/// Ensures   m ≤ max ≤ m + τ for the keys seen so far; m is their maximum or an earlier one
template <class N>
struct lazy_rescaling {
  N tau{};
  template <fast::softmax_arithmetic A>
  constexpr N moved(N const& m, N const& largest) const {
    N const highest = m + tau;
    return A::larger(highest, largest) == highest ? m : largest;
  }
};

/// The steps that absorb_block asks of its operations. S has rows `stride` apart; A's number{} is 0.
template <fast::softmax_arithmetic A, std::int64_t lanes = fast::sum_lanes, class Rescaling = eager_rescaling>
struct plain_rows {
  using number = typename A::number;
  std::int64_t stride = 0;
  Rescaling rescaling{};

  /// m_i ← max(m_i, max_j s_ij), or m_i where that is near enough; factor_i = e^{old m_i − m_i}.
  constexpr void update_max(number const* S, std::int64_t rows, fast::interval const& keys,
                            fast::row_states<number> const& states) const {
    for (std::int64_t i = 0; i < rows; ++i) {
      number largest = A::minus_infinity();
      for (std::int64_t j = keys.first; j < keys.last; ++j) largest = A::larger(largest, S[i * stride + j]);
      number const m = rescaling.template moved<A>(states.m[i], largest);
      states.factor[i] = A::weight(states.m[i], m);
      states.m[i] = m;
    }
  }

  /// s_ij ← e^{s_ij−m_i} and l_i ← l_i·factor_i + Σ_j s_ij, lane by lane.
  constexpr void exponentiate(number* S, std::int64_t rows, fast::interval const& keys,
                              fast::row_states<number> const& states) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        number sum{};
        for (std::int64_t j = keys.first + lane; j < keys.last; j += lanes) {
          number& s = S[i * stride + j];
          s = A::weight(s, states.m[i]);
          sum = sum + s;
        }
        number& l = states.l[i * lanes + lane];
        l = l * states.factor[i] + sum;
      }
  }
};

/// The answer of a row, result_c = O_c/l = A::quotient(O_c, l), or 0 where no visible key had a score above −∞.
/// `result` may be O.
template <fast::softmax_arithmetic A, class N = typename A::number>
constexpr void finish(N const& l, N const* O, std::int64_t width, N* result) {
  bool const nothing = l == N{};
  for (std::int64_t c = 0; c < width; ++c) result[c] = nothing ? N{} : A::quotient(O[c], l);
}

}  // namespace attest::proofs
