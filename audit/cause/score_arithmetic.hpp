// What the arithmetic of a kernel makes of a row of two keys: the outputs that score_rows compares.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>

#include "audit/tensors/elements.hpp"

namespace attest::audit {

/// What a step does to a number: nothing, rounding to a format, or cutting to it.
struct step {
  problem::binary_format const* to = nullptr;
  bool cuts = false;

  double operator()(double x) const {
    if (!to || x == 0 || !std::isfinite(x)) return x;
    double const nearest = rounded_to(x, *to);
    if (!cuts || std::abs(nearest) <= std::abs(x)) return nearest;
    double const below = number_of(pattern_of(std::abs(x), *to) - 1, *to);
    return std::copysign(below, x);
  }
};

/// S, W, L, K and F of score_rows.hpp. Names without a sentence: what a right kernel of the type may do has no name.
struct arithmetic {
  std::string name = {};
  step scores = {}, weights = {}, summed = {}, sums = {}, outputs = {};
  bool base_2 = false, divides_first = false;
};

inline constexpr std::array columns_of_first{1.0, 0.0, 1.0}, columns_of_second{0.0, 1.0, 0x1p-10};
inline constexpr std::size_t read_columns = columns_of_first.size();

struct read_row {
  double first = 0, second = 0;  ///< the scores
  bool at_end = false;           ///< the two keys are the last ones
  std::array<double, read_columns> got{};
  double apart() const { return first - second; }
};

/// The output of column c, where exp is off by the relative error `off` at the second key.
inline double predicted(arithmetic const& by, read_row const& row, std::size_t c, double off) {
  double const unit = by.base_2 ? std::numbers::ln2 : 1;
  double const a = by.scores(row.first / unit) * unit, b = by.scores(row.second / unit) * unit, top = std::max(a, b);
  double const p = std::exp(a - top), q = std::exp(b - top) * (1 + off);
  double const l = by.sums(by.summed(p) + by.summed(q));
  double const O = by.divides_first
                       ? by.weights(p / l) * columns_of_first[c] + by.weights(q / l) * columns_of_second[c]
                       : by.sums(by.weights(p) * columns_of_first[c] + by.weights(q) * columns_of_second[c]) / l;
  return O;
}

}  // namespace attest::audit
