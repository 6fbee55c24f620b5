// One term c·e^s of a sum whose sign correct rounding asks for, exactly.
#pragma once

#include "reference/attention/score.hpp"

namespace attest::reference {

/// A coefficient c, exactly: an integer in units of 2^unit, wide enough for sums of n < 2^63 differences of values of
/// any element type, and for n·t with t a boundary of f64.
struct exact_coefficient {
  static constexpr unsigned bits = 1200 + 1024 + 64 + 144;
  static constexpr int unit = -1200;

  integer<bits> value = 0;

  static constexpr integer<bits> at_unit(element const& x) noexcept {
    return x.significand == 0 ? integer<bits>(0) : shifted(integer<bits>(x.significand), x.exponent - unit);
  }
};

template <class T>
struct exponential_term {
  exact_score<T> exponent{};
  exact_coefficient coefficient{};
};

}  // namespace attest::reference
