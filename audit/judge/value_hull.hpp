// Clause H: the interval of the visible values that an output averages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "audit/judge/row_truth.hpp"

namespace attest::audit {

/// Clause H of docs/bound.md: an output lies between the smallest and the largest visible value, up to a margin.
struct value_hull {
  double lowest = 0, highest = 0, margin = 0;

  /// How far x lies outside the values; negative inside.
  double beyond(double x) const noexcept { return std::max(lowest - x, x - highest); }
};

/// Clause H for output c of the row (b, h, ·). Requires  a row with visible keys, evaluated
template <class T>
value_hull hull_of(problem::instance<T> const& p, row_truth<first_width, T> const& truth, std::int64_t b,
                   std::int64_t h, std::int64_t c);

}  // namespace attest::audit
