// Printed decimals against enclosures: does the exact value round to what was printed?
#pragma once

#include <string_view>

#include "reference/ball.hpp"

namespace attest::reference {

/// A decimal such as "-0.4593": digits·10^(−places).
template <unsigned W>
struct decimal {
  ball<W> digits{};
  ball<W> ten_to_places{1};

  /// Requires an optional sign, digits, at most one point.
  constexpr explicit decimal(std::string_view printed) noexcept {
    bool negative = false, fraction = false;
    for (char const c : printed) {
      if (c == '-') negative = true;
      else if (c == '.') fraction = true;
      else {
        digits = digits * ball<W>(10) + ball<W>(c - '0');
        if (fraction) ten_to_places = ten_to_places * ball<W>(10);
      }
    }
    if (negative) digits = -digits;
  }
};

/// Does every number of x round to the printed decimal: |x − printed| < half a unit of its last place?
/// `no` proves the printed number wrong in its last place.
template <unsigned W>
constexpr answer rounds_to(ball<W> const& x, std::string_view printed) noexcept {
  decimal<W> const p(printed);
  return at_most(absolute(x * p.ten_to_places - p.digits), ball<W>(1).scaled_by_power_of_two(-1));
}

}  // namespace attest::reference
