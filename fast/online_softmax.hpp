// The blocked online softmax, as an algorithm over any arithmetic.
//
// The fast kernel runs it over floats (fast/arithmetic.hpp); a proof runs the same source over exact rationals, where
// "blocked equals plain" is an equality. So nothing here knows a float: no <cmath>, no infinity, no intrinsics.
//
// One row of O = softmax(s)·V is kept as (m, l, O): m the maximum of the scores seen so far, l = Σ e^{s_j−m} and
// O = Σ e^{s_j−m}·v_j. Blocks of keys are absorbed one after the other, and partial rows can be merged.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

namespace attest::fast {

/// What the algorithm needs of an arithmetic A. Its numbers are scores, weights and values alike.
///
/// A::zero()               0
/// A::minus_infinity()     the score of an invisible key, and the maximum of no keys
/// A::larger(a, b)         the maximum; the order of its arguments may matter to a NaN only
/// A::weight(s, m)         e^{s−m} for s ≤ m; weight(m, m) = 1; 0 where s is minus_infinity(), whatever m is
/// A::quotient(x, l)       x/l
/// A::plus_log(m, l)       m + ln l; needed by log_sum_exp alone
template <class A>
concept softmax_arithmetic = requires(typename A::number const& a, typename A::number const& b) {
  { A::zero() } -> std::same_as<typename A::number>;
  { A::minus_infinity() } -> std::same_as<typename A::number>;
  { A::larger(a, b) } -> std::same_as<typename A::number>;
  { A::weight(a, b) } -> std::same_as<typename A::number>;
  { A::quotient(a, b) } -> std::same_as<typename A::number>;
  { a + b } -> std::convertible_to<typename A::number>;
  { a * b } -> std::convertible_to<typename A::number>;
  { a < b } -> std::convertible_to<bool>;
  { a == b } -> std::convertible_to<bool>;
};

/// (m, l) of one row; its O is an array of `width` numbers that the caller keeps.
template <softmax_arithmetic A>
struct partial_row {
  typename A::number m = A::minus_infinity();
  typename A::number l = A::zero();
};

/// A reduction runs in this many lanes, element j in lane j mod reduction_lanes, and folds the lanes pairwise.
inline constexpr std::int64_t reduction_lanes = 16;

/// The fixed tree of a reduction: its height is at most count − 1, and ⌈count/16⌉ + 3 for count ≥ 16.
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

/// Lets m of a row rise to `m`, and l and O follow: l ← l·e^{m_old−m}, O ← O·e^{m_old−m}.
/// Ensures  where the maximum does not grow, nothing is rounded
template <softmax_arithmetic A>
constexpr void raise(partial_row<A>& row, typename A::number* O, std::int64_t width, typename A::number const& m) {
  if (!(row.m < m)) return;
  auto const factor = A::weight(row.m, m);
  row.m = m;
  row.l = row.l * factor;
  for (std::int64_t c = 0; c < width; ++c) O[c] = O[c] * factor;
}

/// s_j ← e^{s_j−m}, in place.
template <softmax_arithmetic A>
constexpr void weigh(typename A::number* s, std::int64_t count, typename A::number const& m) {
  for (std::int64_t j = 0; j < count; ++j) s[j] = A::weight(s[j], m);
}

/// First half of absorbing a block of keys: raises the row to the block's maximum, turns the block's scores into
/// weights, and adds their sum to l.
template <softmax_arithmetic A>
constexpr void absorb_scores(partial_row<A>& row, typename A::number* O, std::int64_t width, typename A::number* scores,
                             std::int64_t keys) {
  using number = typename A::number;
  auto const larger = [](number const& a, number const& b) { return A::larger(a, b); };
  auto const sum = [](number const& a, number const& b) { return a + b; };
  number const m = reduce(scores, keys, A::minus_infinity(), larger);
  raise<A>(row, O, width, m);
  weigh<A>(scores, keys, row.m);
  row.l = row.l + reduce(scores, keys, A::zero(), sum);
}

/// Second half: adds the block's own Σ_j p_j·v_j to O. The sums of a block stay local to it, so a value meets
/// keys + blocks − 2 additions instead of m − 1.
template <class N>
constexpr void absorb_values(N* O, N const* block_O, std::int64_t width) {
  for (std::int64_t c = 0; c < width; ++c) O[c] = O[c] + block_O[c];
}

/// One block of keys for a tile of rows.
///
/// Shapes    rows [queries], O and block_O [queries, width], scores [queries, keys] with rows `stride` apart
/// Requires  multiply() writes block_O_i = Σ_j p_ij·v_j, where p are the weights that scores has become
/// Ensures   row i is a function of its own scores and values alone
template <softmax_arithmetic A, class Multiply>
constexpr void absorb_block(partial_row<A>* rows, typename A::number* O, std::int64_t width, typename A::number* scores,
                            std::int64_t stride, typename A::number* block_O, std::int64_t queries, std::int64_t keys,
                            Multiply&& multiply) {
  for (std::int64_t i = 0; i < queries; ++i)
    absorb_scores<A>(rows[i], O + i * width, width, scores + i * stride, keys);
  multiply();
  for (std::int64_t i = 0; i < queries; ++i) absorb_values(O + i * width, block_O + i * width, width);
}

/// Adds the keys of `other` to `row`, as if they had come after it. Not commutative in rounding arithmetic: callers
/// merge in the order of the keys. `other` is used up.
template <softmax_arithmetic A>
constexpr void merge(partial_row<A>& row, typename A::number* O, partial_row<A>& other, typename A::number* other_O,
                     std::int64_t width) {
  auto const m = A::larger(row.m, other.m);
  raise<A>(row, O, width, m);
  raise<A>(other, other_O, width, m);
  row.l = row.l + other.l;
  absorb_values(O, other_O, width);
}

/// The answer of a row, result_c = O_c/l, or 0 where no visible key had a score above −∞. `result` may be O.
template <softmax_arithmetic A>
constexpr void finish(partial_row<A> const& row, typename A::number const* O, std::int64_t width,
                      typename A::number* result) {
  bool const nothing = row.l == A::zero();
  for (std::int64_t c = 0; c < width; ++c) result[c] = nothing ? A::zero() : A::quotient(O[c], row.l);
}

/// LSE = m + ln l.
template <softmax_arithmetic A>
constexpr auto log_sum_exp(partial_row<A> const& row) {
  return A::plus_log(row.m, row.l);
}

}  // namespace attest::fast
