// Exact values as the explanations print them.
#pragma once

#include <string>

#include <fmt/format.h>

#include "reference/real/decimal.hpp"
#include "reference/real/outward.hpp"

namespace attest::audit {

inline constexpr int shown_digits = 9;

/// The value with shown_digits certified significant digits, or the interval if 128 bits do not certify them.
inline std::string shown(reference::ball<128> const& x) {
  if (auto const text = reference::to_decimal(x, shown_digits)) return *text;
  return fmt::format("[{:.4g}, {:.4g}]", reference::lower(x), reference::upper(x));
}

}  // namespace attest::audit
