// ln 2 to any number of bits, computed instead of stored, and logarithms to the base 2.
#pragma once

#include "problem/log_base.hpp"
#include "reference/real/ball.hpp"
#include "reference/real/integer.hpp"

namespace attest::reference {

/// ⌊2^F·ln 2⌋ or one below: ln 2 = 2·artanh(1/3) = 2·Σ 1/((2i+1)·3^(2i+1)).
/// Ensures  0 ≤ 2^F·ln 2 − result < 2
/// Why      24 guard bits: each of the fewer than 2^16 terms loses less than 2 units of 2^(−F−24), the tail less than 1
template <unsigned F>
constexpr integer<F + 128> make_ln2() noexcept {
  static_assert(F < 100'000);
  integer<F + 128> power = 1;
  power <<= F + 25;  // 2·2^(F+24)
  power /= 3;
  integer<F + 128> sum = 0;
  for (unsigned odd = 1; power.sign() != 0; odd += 2) {
    sum += power / odd;
    power /= 9;
  }
  return sum >> 24;
}

template <unsigned F>
inline constexpr integer<F + 128> ln2_fixed = make_ln2<F>();

/// ln 2, enclosed. (With as many bits as log asks for: one constant serves both.)
/// Ensures  radius ≤ 2^(1 − W)
template <unsigned W>
constexpr ball<W> ln2() noexcept {
  constexpr unsigned F = W + 96;
  ball<W> result = ball<W>::from(ln2_fixed<F>, -static_cast<std::int64_t>(F));
  result.radius = result.radius + magnitude(2, -static_cast<std::int64_t>(F));
  return result;
}

/// A logarithm to `base`, from the natural one.
template <unsigned W>
constexpr ball<W> in_base(problem::log_base base, ball<W> const& natural) noexcept {
  return base == problem::log_base::two ? natural / ln2<W>() : natural;
}

}  // namespace attest::reference
