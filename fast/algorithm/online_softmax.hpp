// The blocked online softmax, as an algorithm over any arithmetic.
//
// The fast kernel runs it over vectors of floats (fast/simd/operations.hpp); a proof runs the same source over exact
// rationals, where "blocked equals plain" is an equality. So nothing here knows a float: no <cmath>, no infinity, no
// intrinsics.
//
// One row of O = softmax(s)·V is kept as (m, l, O): m the reference point, l = Σ e^{s_j−m} and O = Σ e^{s_j−m}·v_j over
// the keys seen so far. m is their maximum, or lies up to τ below it (lazy_rescaling). Blocks of keys are absorbed one
// after the other, and partial rows can be merged.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "fast/algorithm/blocking.hpp"
#include "fast/algorithm/tiles.hpp"

namespace attest::fast {

/// What the algorithm needs of an arithmetic A. Its numbers are scores, weights and values alike.
///
/// A::zero()               0
/// A::minus_infinity()     the score of an invisible key, and the maximum of no keys
/// A::larger(a, b)         the maximum; the order of its arguments may matter to a NaN only
/// A::weight(s, m)         e^{s−m} for s ≤ m + τ; weight(m, m) = 1; 0 where s is minus_infinity(), whatever m is
/// A::quotient(x, l)       x/l
template <class A>
concept softmax_arithmetic = requires(typename A::number const& a, typename A::number const& b) {
  { A::zero() } -> std::same_as<typename A::number>;
  { A::minus_infinity() } -> std::same_as<typename A::number>;
  { A::larger(a, b) } -> std::same_as<typename A::number>;
  { A::weight(a, b) } -> std::same_as<typename A::number>;
  { A::quotient(a, b) } -> std::same_as<typename A::number>;
  { a + b } -> std::convertible_to<typename A::number>;
  { a * b } -> std::convertible_to<typename A::number>;
  { a == b } -> std::convertible_to<bool>;
};

/// m and l of some rows; their O is a matrix that the caller keeps.
template <class N>
struct row_states {
  N* m = nullptr;       ///< [rows]
  N* l = nullptr;       ///< [rows, lanes]: the weight of key j is in lane j mod lanes
  N* factor = nullptr;  ///< [rows] what the last raise() does to l and O
};

/// The kernel has this many lanes on every instruction set; a proof may have 1.
inline constexpr std::int64_t reduction_lanes = sum_lanes;

/// The fixed tree of a reduction: element j in lane j mod reduction_lanes, and the lanes folded pairwise. Its height is
/// at most count − 1, and ⌈count/16⌉ + 3 for count ≥ 16.
template <class N, class Combine>
constexpr N reduce(N const* x, std::int64_t count, N const& neutral, Combine combine) {
  std::array<N, reduction_lanes> lane;
  lane.fill(neutral);
  N* const lanes = lane.data();
  std::int64_t j = 0;
  for (; j + reduction_lanes <= count; j += reduction_lanes)
    for (std::int64_t a = 0; a < reduction_lanes; ++a) lanes[a] = combine(lanes[a], x[j + a]);
  for (std::int64_t a = 0; j + a < count; ++a) lanes[a] = combine(lanes[a], x[j + a]);
  for (std::int64_t half = reduction_lanes / 2; half > 0; half /= 2)
    for (std::int64_t a = 0; a < half; ++a) lanes[a] = combine(lanes[a], lanes[a + half]);
  return lanes[0];
}

/// One block of keys for a strip of rows.
///
/// Shapes    S [rows, keys]: scores that become weights
/// Requires  operations.raise and operations.weigh do what plain_rows does, up to rounding; multiply() makes
///           O_i ← O_i·factor_i + Σ_j p_ij·v_j, p the weights that S has become
/// Ensures   row i is a function of its own scores and values alone
template <class Operations, class N, class Multiply>
constexpr void absorb_block(Operations const& operations, N* S, std::int64_t rows, interval const& keys,
                            row_states<N> const& states, Multiply&& multiply) {
  operations.raise(S, rows, keys, states);
  operations.weigh(S, rows, keys, states);
  multiply();
}

// When the reference point m follows the maximum. Softmax does not depend on m, as long as p, factor and l share it; but
// e^{s−m} ≤ e^τ bounds the weights, and each move of m rounds l and O once more.

/// m is the maximum: τ = 0. What the kernel does.
struct eager_rescaling {
  template <softmax_arithmetic A, class N = typename A::number>
  constexpr N moved(N const& m, N const& largest) const {
    return A::larger(m, largest);
  }
};

/// m stays where it is until the maximum lies more than τ above it.
///
/// Ensures  m ≤ max ≤ m + τ for the keys seen so far; m is their maximum or an earlier one
template <class N>
struct lazy_rescaling {
  N tau{};
  template <softmax_arithmetic A>
  constexpr N moved(N const& m, N const& largest) const {
    N const highest = m + tau;
    return A::larger(highest, largest) == highest ? m : largest;
  }
};

/// The steps of absorb_block, number by number. S has rows `stride` apart.
template <softmax_arithmetic A, std::int64_t lanes = sum_lanes, class Rescaling = eager_rescaling>
struct plain_rows {
  using number = typename A::number;
  std::int64_t stride = 0;
  Rescaling rescaling{};

  /// m_i ← max(m_i, max_j s_ij), or m_i where that is near enough; factor_i = e^{old m_i − m_i}.
  constexpr void raise(number const* S, std::int64_t rows, interval const& keys,
                       row_states<number> const& states) const {
    for (std::int64_t i = 0; i < rows; ++i) {
      number largest = A::minus_infinity();
      for (std::int64_t j = keys.first; j < keys.last; ++j) largest = A::larger(largest, S[i * stride + j]);
      number const m = rescaling.template moved<A>(states.m[i], largest);
      states.factor[i] = A::weight(states.m[i], m);
      states.m[i] = m;
    }
  }

  /// s_ij ← e^{s_ij−m_i} and l_i ← l_i·factor_i + Σ_j s_ij, lane by lane.
  constexpr void weigh(number* S, std::int64_t rows, interval const& keys, row_states<number> const& states) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        number sum = A::zero();
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

/// Adds the keys of `other` to `row`, as if they had come after it: (m, l, O) of one row each. Not commutative in
/// rounding arithmetic: callers merge in the order of the keys.
///
/// Never lazily: the larger of two reference points is at most τ below the larger of two maxima; the smaller one could
/// be 2τ below it.
template <softmax_arithmetic A, std::int64_t lanes = sum_lanes, class N = typename A::number>
constexpr void merge(row_states<N> const& row, N* O, row_states<N> const& other, N const* other_O,
                     std::int64_t width) {
  N const m = A::larger(*row.m, *other.m);
  N const mine = A::weight(*row.m, m), theirs = A::weight(*other.m, m);
  *row.m = m;
  for (std::int64_t lane = 0; lane < lanes; ++lane) row.l[lane] = row.l[lane] * mine + other.l[lane] * theirs;
  for (std::int64_t c = 0; c < width; ++c) O[c] = O[c] * mine + other_O[c] * theirs;
}

/// The answer of a row, result_c = O_c/l, or 0 where no visible key had a score above −∞. `result` may be O.
template <softmax_arithmetic A, class N = typename A::number>
constexpr void finish(N const& l, N const* O, std::int64_t width, N* result) {
  bool const nothing = l == A::zero();
  for (std::int64_t c = 0; c < width; ++c) result[c] = nothing ? A::zero() : A::quotient(O[c], l);
}

}  // namespace attest::fast
