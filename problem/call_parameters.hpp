// The parameters of a problem as fields of the C interface's call, and back.
#pragma once

#include <cmath>
#include <limits>

#include <attest/kernel.h>

#include "problem/parameters.hpp"

namespace attest::problem {

/// A NaN for the scale means none.
inline parameters parameters_of(attest_call const& call) noexcept {
  parameters made;
  if (!std::isnan(call.scale)) made.scale = call.scale;
  made.softcap = call.softcap;
  made.band = {call.diagonal, call.left, call.right};
  return made;
}

/// Ensures   parameters_of(call) == from, for numbers that are not NaN
inline void set_parameters(attest_call& call, parameters const& from) noexcept {
  call.scale = from.scale ? *from.scale : std::numeric_limits<double>::quiet_NaN();
  call.softcap = from.softcap;
  call.diagonal = from.band.diagonal;
  call.left = from.band.left;
  call.right = from.band.right;
}

}  // namespace attest::problem
