// What reference/bound/formulas-inl.hpp asks of its numbers, for one double; outward.hpp has the rest.
#pragma once

#include "reference/real/outward.hpp"

namespace attest::reference {

constexpr double select(bool mask, double a, double b) noexcept { return mask ? a : b; }
constexpr bool both(bool a, bool b) noexcept { return a && b; }
constexpr bool either(bool a, bool b) noexcept { return a || b; }
constexpr bool logical_not(bool a) noexcept { return !a; }
constexpr bool all(bool a) noexcept { return a; }
constexpr double mul_add(double a, double b, double c) noexcept { return a * b + c; }

}  // namespace attest::reference
