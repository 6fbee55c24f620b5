// Decimals in print and enclosures: does the exact value round to the printed decimal?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reference/real/ball.hpp"

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
constexpr decision rounds_to(ball<W> const& x, std::string_view printed) noexcept {
  decimal<W> const p(printed);
  return at_most(absolute(x * p.ten_to_places - p.digits), ball<W>(1).scaled_by_power_of_two(-1));
}

/// x with `digits` significant digits, d.ddd…e±x, if every number of the ball rounds to the same digits; nothing
/// otherwise, and nothing if the ball contains a tie. "0" for exactly 0.
/// Requires  1 ≤ digits ≤ 0.3·W − 8
template <unsigned W>
constexpr std::optional<std::string> to_decimal(ball<W> const& x, int digits) {
  if (x.mid.sign() == 0) return x.is_exact() ? std::optional<std::string>("0") : std::nullopt;
  // The decimal exponent from the binary one: 10^e ≤ |x| < 10^(e+1), or e one too small, which is corrected below.
  std::int64_t const top = x.exponent + bit_length(x.mid);
  std::int64_t e = (top - 1) * 30103 / 100000 - ((top - 1) < 0 ? 1 : 0);
  if (e > 20'000 || e < -20'000) return std::nullopt;
  auto const power = [](std::int64_t n) {
    ball<W> result(1), factor(10);
    for (auto left = static_cast<std::uint64_t>(n < 0 ? -n : n); left != 0; left >>= 1) {
      if (left & 1) result = result * factor;
      factor = factor * factor;
    }
    return result;
  };
  for (int attempt = 0; attempt < 3; ++attempt, ++e) {
    std::int64_t const places = digits - 1 - e;
    ball<W> const scaled_x = places >= 0 ? x * power(places) : x / power(places);
    // ⌊|scaled| + 1/2⌋ of the midpoint, and certainty that the whole ball rounds there.
    ball<W> const size = absolute(scaled_x) + ball<W>(1).scaled_by_power_of_two(-1);
    auto const whole = shifted(size.mid, size.exponent);
    ball<W> const candidate = ball<W>::from(whole, 0);
    std::string text = whole.str();
    if (static_cast<int>(text.size()) > digits) continue;
    ball<W> const off = absolute(scaled_x) - candidate;
    ball<W> const half = ball<W>(1).scaled_by_power_of_two(-1);
    if (at_most(absolute(off), half) != decision::yes || certain_sign(half - absolute(off)) <= 0) return std::nullopt;
    if (digits > 1) text.insert(1, ".");
    return (x.mid.sign() < 0 ? "-" : "") + text + (e != 0 ? "e" + std::to_string(e) : "");
  }
  return std::nullopt;
}

}  // namespace attest::reference
