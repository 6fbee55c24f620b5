// Upper bounds of non-negative reals: the radii of balls. Every operation rounds up.
#pragma once

#include <bit>
#include <cstdint>

namespace attest::reference {

/// mantissa·2^exponent with mantissa = 0 or 2³¹ ≤ mantissa < 2³². Relative excess of one operation ≤ 2⁻³⁰.
/// Requires exponents within ±2⁶¹ (the ball arithmetic saturates long before).
class magnitude {
 public:
  constexpr magnitude() noexcept = default;

  /// An upper bound of value·2^exponent.
  constexpr magnitude(std::uint64_t value, std::int64_t exponent) noexcept {
    if (value == 0) return;
    int const excess = static_cast<int>(std::bit_width(value)) - 32;
    if (excess > 0) {
      std::uint64_t const dropped = value & ((std::uint64_t{1} << excess) - 1);
      value = (value >> excess) + (dropped != 0 ? 1 : 0);
      if (value >> 32) value >>= 1, ++exponent;
    } else {
      value <<= -excess;
    }
    mantissa_ = value;
    exponent_ = exponent + excess;
  }

  static constexpr magnitude power_of_two(std::int64_t exponent) noexcept { return {1, exponent}; }

  constexpr bool is_zero() const noexcept { return mantissa_ == 0; }
  constexpr std::uint64_t mantissa() const noexcept { return mantissa_; }
  constexpr std::int64_t exponent() const noexcept { return exponent_; }
  /// The smallest e with value ≤ 2^e. Requires !is_zero().
  constexpr std::int64_t ceil_log2() const noexcept {
    return exponent_ + (mantissa_ == (std::uint64_t{1} << 31) ? 31 : 32);
  }

  friend constexpr magnitude operator+(magnitude a, magnitude b) noexcept {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    if (a.exponent_ < b.exponent_) {
      auto const t = a;
      a = b;
      b = t;
    }
    std::int64_t const gap = a.exponent_ - b.exponent_;
    std::uint64_t const low = gap > 32 ? 1 : (b.mantissa_ >> gap) + 1;
    return {a.mantissa_ + low, a.exponent_};
  }
  friend constexpr magnitude operator*(magnitude a, magnitude b) noexcept {
    return {a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_};
  }
  /// An upper bound of a/b. Requires b > 0, and b exact or a lower bound. (A rounded magnitude is an upper bound of the
  /// number from which it was made, so the caller must know.)
  friend constexpr magnitude divide_by_lower(magnitude a, magnitude b) noexcept {
    if (a.is_zero()) return a;
    return {(a.mantissa_ << 31) / b.mantissa_ + 1, a.exponent_ - b.exponent_ - 31};
  }
  constexpr magnitude scaled(std::int64_t exponent) const noexcept {
    magnitude result = *this;
    if (!result.is_zero()) result.exponent_ += exponent;
    return result;
  }
  /// Exact comparison.
  friend constexpr bool operator<=(magnitude a, magnitude b) noexcept {
    if (a.is_zero() || b.is_zero()) return a.is_zero();
    return a.exponent_ != b.exponent_ ? a.exponent_ < b.exponent_ : a.mantissa_ <= b.mantissa_;
  }

 private:
  std::uint64_t mantissa_ = 0;
  std::int64_t exponent_ = 0;
};

}  // namespace attest::reference
