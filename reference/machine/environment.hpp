// The floating-point environment that the machine tier's error analysis assumes.
//
// Everything here has internal linkage, because it must be compiled with the flags of the file that includes it: these
// flags may cause what it detects.
#pragma once

#include <optional>
#include <string_view>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "reference/machine/ must not be compiled with -ffast-math: its error terms would mean nothing"
#endif

namespace attest::reference::machine {
namespace {

/// What is wrong with the floating-point environment of this thread, found by arithmetic: the rounding mode, flush to
/// zero, denormals as zero, and what compiler flags may do to sums and products (not every compiler defines a macro for
/// every such flag). Nothing if all is well.
[[maybe_unused]] std::optional<std::string_view> unsafe_environment() noexcept {
  double const volatile one = 1, tiny = 0x1p-60, smallest_normal = 0x1p-1022, half = 0.5, subnormal = 0x1p-1074;
  double const up = one + tiny, down = one - tiny, below = -one - tiny, above = -one + tiny;
  if (up != 1 || down != 1 || below != -1 || above != -1) return "rounding is not to nearest";
  double const doubled = subnormal * 0x1p60;
  if (doubled != 0x1p-1014) return "subnormal inputs are read as zero (DAZ)";
  double const halved = smallest_normal * half;
  double const volatile kept = halved;
  if (!(kept > 0)) return "subnormal results are flushed to zero (FTZ)";
  double const volatile large = 0x1p60;
  double const a = large, b = one;
  if ((a + b) - a != 0) return "the compiler reorders sums (compiled with -fassociative-math?)";
  double const volatile more = 1 + 0x1p-30, less = 1 - 0x1p-30;
  double const x = more, y = less, minus_one = -one;
  if (x * y + minus_one != 0) return "the compiler contracts products and sums (compiled without -ffp-contract=off?)";
  return std::nullopt;
}

}  // namespace
}  // namespace attest::reference::machine
