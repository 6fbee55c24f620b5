// The blocked online softmax, as an algorithm over any arithmetic.
//
// The fast kernel runs it over vectors of floats (fast/simd/operations.hpp), and a proof runs the same source over
// exact rationals, where "blocked equals plain" is an equality. So this file uses nothing that is particular to floats:
// no <cmath>, no infinity, no intrinsics.
//
// One row of O = softmax(s)·V is kept as (m, l, O): m the maximum of the scores seen so far, l = Σ e^{s_j−m} and
// O = Σ e^{s_j−m}·v_j over their keys. Blocks of keys are absorbed one after the other, and partial rows can be merged.
#pragma once

#include <concepts>
#include <cstdint>

#include "fast/algorithm/band.hpp"
#include "fast/algorithm/blocking.hpp"

namespace attest::fast {

/// The requirements on an arithmetic A. Scores, weights and values are all of type A::number.
///
/// A::minus_infinity()     the score of an invisible key, and the maximum of no keys
/// A::larger(a, b)         the maximum; the order of the arguments may matter only if one is NaN
/// A::weight(s, m)         e^{s−m} for s ≤ m; weight(m, m) = 1; 0 if s is minus_infinity(), whatever m is
template <class A>
concept softmax_arithmetic = requires(typename A::number const& a, typename A::number const& b) {
  { A::minus_infinity() } -> std::same_as<typename A::number>;
  { A::larger(a, b) } -> std::same_as<typename A::number>;
  { A::weight(a, b) } -> std::same_as<typename A::number>;
  { a + b } -> std::convertible_to<typename A::number>;
  { a* b } -> std::convertible_to<typename A::number>;
};

/// m and l of some rows. Their O is a matrix that the caller holds.
template <class N>
struct row_states {
  N* m = nullptr;       ///< [rows]
  N* l = nullptr;       ///< [rows, lanes]: the weight of key j is in lane j mod lanes
  N* factor = nullptr;  ///< [rows] by which the last update_max() rescales l and O
};

/// Absorbs one key block into the rows of a strip.
///
/// Shapes    S [rows, keys]: the scores, which become the weights P
/// Requires  up to rounding, update_max() does m_i ← max(m_i, max_j s_ij) and factor_i ← e^{old m_i − m_i};
///           exponentiate() does s_ij ← e^{s_ij − m_i} and l_i ← l_i·factor_i + Σ_j s_ij, lane by lane; multiply() does
///           O_i ← O_i·factor_i + Σ_j p_ij·v_j, where p_ij is what s_ij has become
/// Ensures   row i is a function of its own scores and values alone
template <class Operations, class N, class Multiply>
constexpr void absorb_block(Operations const& operations, N* S, std::int64_t rows, interval const& keys,
                            row_states<N> const& states, Multiply&& multiply) {
  operations.update_max(S, rows, keys, states);
  operations.exponentiate(S, rows, keys, states);
  multiply();
}

/// Merges two partial rows (m, l, O): adds the keys of `other` to the keys of `row`. In rounding arithmetic the order
/// matters, so callers merge in the order of the keys.
template <softmax_arithmetic A, std::int64_t lanes = sum_lanes, class N = typename A::number>
constexpr void merge(row_states<N> const& row, N* O, row_states<N> const& other, N const* other_O, std::int64_t width) {
  N const m = A::larger(*row.m, *other.m);
  N const mine = A::weight(*row.m, m), theirs = A::weight(*other.m, m);
  *row.m = m;
  for (std::int64_t lane = 0; lane < lanes; ++lane) row.l[lane] = row.l[lane] * mine + other.l[lane] * theirs;
  for (std::int64_t c = 0; c < width; ++c) O[c] = O[c] * mine + other_O[c] * theirs;
}

}  // namespace attest::fast
