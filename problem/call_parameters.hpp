// The parameters of a problem as fields of the C interface's call, and back.
#pragma once

#include <cmath>
#include <limits>

#include <attest/kernel.h>

#include "problem/parameters.hpp"

namespace attest::problem {

/// The parameters of a call. A NaN for the scale means the default, 1/√d.
inline parameters parameters_of(attest_call const& call) noexcept {
  parameters p;
  if (!std::isnan(call.scale)) p.scale = call.scale;
  p.softcap = call.softcap;
  p.band = {call.diagonal, call.left, call.right};
  return p;
}

/// Writes the parameters into a call.
/// Ensures   parameters_of(call) == p, where no number of p is NaN
inline void set_parameters(attest_call& call, parameters const& p) noexcept {
  call.scale = p.scale ? *p.scale : std::numeric_limits<double>::quiet_NaN();
  call.softcap = p.softcap;
  call.diagonal = p.band.diagonal;
  call.left = p.band.left;
  call.right = p.band.right;
}

}  // namespace attest::problem
