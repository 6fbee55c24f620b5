// What reference/bound/formulas-inl.hpp asks of its numbers, for one double; outward.hpp has the rest.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/real/outward.hpp"

namespace attest::reference {

constexpr double select(bool mask, double a, double b) noexcept { return mask ? a : b; }
constexpr bool both(bool a, bool b) noexcept { return a && b; }
constexpr bool either(bool a, bool b) noexcept { return a || b; }
constexpr bool logical_not(bool a) noexcept { return !a; }
constexpr bool all(bool a) noexcept { return a; }
/// 2^e, 2^e ≤ x < 2^(e + 1), of a normal x > 0.
constexpr double leading_power(double x) noexcept {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000);
}
/// ⌊x⌋. Requires 0 ≤ x < 2^63, or the result says nothing
constexpr double whole_part(double x) noexcept {
  return x < 0x1p63 ? static_cast<double>(static_cast<std::int64_t>(x)) : x;
}
/// At most e^x, from exp_upper(x).
constexpr double exp_lower(double, double upper) noexcept { return upper * (1 - 0x1p-39); }
constexpr double mul_add(double a, double b, double c) noexcept { return a * b + c; }

}  // namespace attest::reference
