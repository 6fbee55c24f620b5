// Σ_j w_j·v_j with ball weights and exact values: the whole sum is aligned once instead of rounded after each term.
#pragma once

#include <cstdint>

#include "reference/real/ball.hpp"
#include "reference/real/element.hpp"

namespace attest::reference {

/// Σ_{j<n} weight(j)·value(j) ∈ result.
/// Requires  weight(j) a ball<W>, value(j) a finite element; both may be evaluated twice; n < 2^32
/// Ensures   radius ≤ Σ r_j·|v_j| + n·2^(−W−14)·max_j |w_j·v_j| + 1 ulp
template <unsigned W, class Weight, class Value>
constexpr ball<W> weighted_sum(std::int64_t n, Weight&& weight, Value&& value) noexcept {
  using wide = typename ball<W>::wide;
  bool any = false;
  std::int64_t top = 0;
  magnitude radius{};
  for (std::int64_t j = 0; j < n; ++j) {
    ball<W> const& w = weight(j);
    element const v = value(j);
    if (v.significand == 0) continue;
    auto const size = static_cast<std::uint64_t>(v.significand < 0 ? -v.significand : v.significand);
    if (!w.is_exact()) radius = radius + w.radius * magnitude(size, v.exponent);
    if (w.mid.sign() == 0) continue;
    std::int64_t const reach = w.exponent + bit_length(w.mid) + v.exponent + static_cast<int>(std::bit_width(size));
    if (!any || reach > top) top = reach;
    any = true;
  }
  if (!any) return ball<W>::rounded(0, 0, radius);
  std::int64_t const unit = top - static_cast<std::int64_t>(W) - 16;
  wide sum = 0;
  std::uint64_t truncated = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    ball<W> const& w = weight(j);
    element const v = value(j);
    if (v.significand == 0 || w.mid.sign() == 0) continue;
    wide term = w.mid * v.significand;
    std::int64_t const shift = w.exponent + v.exponent - unit;
    if (shift >= 0) {
      sum += term <<= static_cast<unsigned>(shift);
    } else {
      if (trailing_zeros(term) < -shift) ++truncated;
      sum += shifted(std::move(term), shift);
    }
  }
  return ball<W>::rounded(std::move(sum), unit, radius + magnitude(truncated, unit));
}

}  // namespace attest::reference
