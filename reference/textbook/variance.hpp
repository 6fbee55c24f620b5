// Mean and variance: of stored elements exactly, of balls enclosed.
#pragma once

#include <cstdint>
#include <ranges>

#include "problem/element_type.hpp"
#include "reference/attention/score.hpp"
#include "reference/textbook/ball_range.hpp"
#include "reference/textbook/ratio.hpp"

namespace attest::reference {

/// A contiguous range of stored elements.
template <class R>
concept element_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                        problem::floating_element<std::remove_cv_t<std::ranges::range_value_t<R>>>;

template <element_range R>
using element_of = std::remove_cv_t<std::ranges::range_value_t<R>>;

/// Holds n·Σx² and (Σx)² in units of 2^dot_exponent<T>, and a small fraction to compare with.
template <class T>
using moment = ratio<dot_bits<T> + 192>;

/// Σ x_i/n, exactly.
/// Requires  n ≥ 1, every x_i finite
template <element_range R>
constexpr moment<element_of<R>> mean(R const& x) noexcept {
  using T = element_of<R>;
  moment<T> sum{.numerator = 0, .denominator = std::ranges::size(x), .exponent = dot_exponent<T>};
  for (T const stored : x) {
    element const e = value_of(stored);
    sum.numerator += shifted(integer<dot_bits<T> + 192>(e.significand), e.exponent - dot_exponent<T>);
  }
  return sum;
}

namespace detail {

/// n·Σx² − (Σx)² = n·Σ(x − mean)² in units of 2^dot_exponent<T>.
template <element_range R>
constexpr integer<dot_bits<element_of<R>> + 192> spread(R const& x) noexcept {
  using T = element_of<R>;
  using wide = integer<dot_bits<T> + 192>;
  wide sum = 0, squares = 0;
  for (T const stored : x) {
    element const e = value_of(stored);
    wide const at_unit = shifted(wide(e.significand), e.exponent - smallest_exponent<T>);
    sum += at_unit;
    squares += at_unit * at_unit;
  }
  return squares * std::ranges::size(x) - sum * sum;
}

}  // namespace detail

/// Σ (x_i − mean)²/n, exactly.
/// Requires  n ≥ 1, every x_i finite
/// Source    np.var as in "return np.var(dot_products)", Day 74, Experiment Setup
template <element_range R>
constexpr moment<element_of<R>> population_variance(R const& x) noexcept {
  integer<192> const n = std::ranges::size(x);
  return {.numerator = detail::spread(x), .denominator = n * n, .exponent = dot_exponent<element_of<R>>};
}

/// Σ (x_i − mean)²/(n − 1), exactly.
/// Requires  n ≥ 2, every x_i finite
template <element_range R>
constexpr moment<element_of<R>> sample_variance(R const& x) noexcept {
  integer<192> const n = std::ranges::size(x);
  return {.numerator = detail::spread(x), .denominator = n * (n - 1), .exponent = dot_exponent<element_of<R>>};
}

/// Σ x_i/n ∈ result. Requires n ≥ 1.
template <ball_range R>
constexpr ball_of<R> mean(R const& x) noexcept {
  ball_of<R> sum{};
  for (auto const& value : x) sum = sum + value;
  return sum / ball_of<R>(length_of(x));
}

namespace detail {

template <ball_range R>
constexpr ball_of<R> squared_deviations(R const& x) noexcept {
  ball_of<R> const centre = mean(x);
  ball_of<R> sum{};
  for (auto const& value : x) sum = sum + (value - centre) * (value - centre);
  return sum;
}

}  // namespace detail

/// Σ (x_i − mean)²/n ∈ result. Requires n ≥ 1.
template <ball_range R>
constexpr ball_of<R> population_variance(R const& x) noexcept {
  return detail::squared_deviations(x) / ball_of<R>(length_of(x));
}

/// Σ (x_i − mean)²/(n − 1) ∈ result. Requires n ≥ 2.
template <ball_range R>
constexpr ball_of<R> sample_variance(R const& x) noexcept {
  return detail::squared_deviations(x) / ball_of<R>(length_of(x) - 1);
}

}  // namespace attest::reference
