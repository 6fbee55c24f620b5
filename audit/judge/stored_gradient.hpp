// The bound of a gradient that is stored in a narrower type than its problem has.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "problem/instance.hpp"
#include "reference/gradient/gradients.hpp"

namespace attest::audit {

/// The element with the bound of a gradient that is stored in its tensor's type, if f64 is narrowed to it: the gradient
/// of an f32 bias or sink beside f64.
template <class T>
reference::gradient_element stored_as(problem::element_type type, reference::gradient_element truth) {
  if (type == problem::type_of<T> || !std::is_same_v<T, double> || truth.no_terms) return truth;
  problem::binary_format const& format = problem::row_of(type).format;
  double const u = problem::formats::power_of_two(-format.fraction_bits - 1) * (1 + 0x1p-30),  // also of this line
      size = std::max(std::abs(truth.lower), std::abs(truth.upper)) + truth.bound;
  if (size >= problem::formats::power_of_two(format.above_largest()) * (1 - u)) truth.bound = reference::infinity;
  else
    truth.bound = reference::rounded_up(reference::rounded_up(truth.bound + reference::rounded_up(u * size)) +
                                        problem::formats::power_of_two(format.smallest() - 1));
  return truth;
}

}  // namespace attest::audit
