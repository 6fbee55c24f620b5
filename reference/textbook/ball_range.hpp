// Ranges of balls: arrays, vectors, spans. Functions of them return the type that they take, so that an array stays an
// array in a constant expression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>

#include "reference/real/ball.hpp"

namespace attest::reference {

namespace detail {

template <class T>
inline constexpr unsigned width_of_ball = 0;
template <unsigned W>
inline constexpr unsigned width_of_ball<ball<W>> = W;

}  // namespace detail

/// A contiguous range of ball<W> of one width W.
template <class R>
concept ball_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                     detail::width_of_ball<std::ranges::range_value_t<R>> != 0;

/// The W of its balls.
template <ball_range R>
inline constexpr unsigned width_of = detail::width_of_ball<std::ranges::range_value_t<R>>;

template <ball_range R>
using ball_of = std::ranges::range_value_t<R>;

template <ball_range R>
constexpr std::int64_t length_of(R const& x) noexcept {
  return static_cast<std::int64_t>(std::ranges::size(x));
}

/// x_i with a 64-bit index.
template <ball_range R>
constexpr ball_of<R> const& at(R const& x, std::int64_t i) noexcept {
  return std::ranges::data(x)[static_cast<std::size_t>(i)];
}

}  // namespace attest::reference
