// The cost of a call, in multiplications.
#pragma once

#include "problem/instance.hpp"

namespace attest::audit {

/// b·hq·n·m·(d + dv), hidden pairs counted. A double, since the sizes of a file may exceed any integer.
constexpr double multiplications(problem::sizes const& s) noexcept {
  return static_cast<double>(s.b) * static_cast<double>(s.hq) * static_cast<double>(s.n) * static_cast<double>(s.m) *
         static_cast<double>(s.d + s.dv);
}

}  // namespace attest::audit
