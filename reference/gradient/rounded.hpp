// Gradients, correctly rounded. docs/rounding.md, "Gradients", says what stays undecided.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reference/gradient/gradients.hpp"

namespace attest::reference {

/// The nearest value of Target where the kind is finite: ties to even, overflow to infinity, an exact 0 is +0. Nothing
/// if 1152 bits do not separate the exact value from a boundary between two values, and it is not known exactly.
template <class Target>
struct rounded_gradient {
  value_kind kind = value_kind::finite;
  std::optional<Target> value{};
};

namespace compiled {

/// Rounds chosen elements, in the order asked. Target and T are element types of problem::any_instance.
/// Requires  indices inside their shapes; d_o present, and for the mode local o and lse
/// Ensures   in the modes own and recorded: an element whose rows are all rational is decided; with one other row it
///           is on no boundary, so that some width would decide
/// Cost      enclose_gradients at 128 bits, and for elements that are still open exact sums, 256 and 1152 bits
template <class Target, class T>
std::vector<rounded_gradient<Target>> round_gradients(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                                      gradient_mode mode, std::span<gradient_index const> wanted);

}  // namespace compiled
}  // namespace attest::reference
