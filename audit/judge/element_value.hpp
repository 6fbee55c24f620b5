// The value of an element as a double, and the unit in the last place of its type.
#pragma once

#include <algorithm>
#include <cmath>

#include "audit/judge/sharpness.hpp"
#include "reference/compiled/row.hpp"

namespace attest::audit {

/// The exact value of an element as a double; infinities and NaN are kept.
template <class T>
double as_double(T element) noexcept {
  reference::element const x = reference::value_of(element);
  switch (x.kind) {
    case reference::number_class::not_a_number: return std::nan("");
    case reference::number_class::plus_infinity: return reference::infinity;
    case reference::number_class::minus_infinity: return -reference::infinity;
    case reference::number_class::finite: break;
  }
  return static_cast<double>(x.significand) * reference::power_of_two(x.exponent);
}

/// The unit in the last place of T at |x|.
template <class T>
double ulp_at(double x) noexcept {
  int const field = exponent_field(x);
  int const exponent =
      field == 2047 ? reference::smallest_exponent<T> : field - 1023 - reference::float_format<T>::fraction;
  return reference::power_of_two(std::max<int>(exponent, reference::smallest_exponent<T>));
}

}  // namespace attest::audit
