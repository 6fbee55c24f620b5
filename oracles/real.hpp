// MPFR's numbers.
#pragma once

#include <cstdint>

#include <mpfr.h>

namespace attest::oracles {

/// A number of so many bits, NaN and ±∞ among them. Every operation rounds to nearest, to the bits of its first
/// operand; exponents reach ±2⁶¹.
class real {
 public:
  static constexpr long default_bits = 3072;

  /// Exact for 53 bits or more.
  real(double value = 0, long bits = default_bits);
  /// A whole number.
  static real whole(std::uint64_t value, long bits = default_bits);
  real(real const& other);
  real(real&& other) noexcept;
  real& operator=(real other) noexcept;
  ~real();

  /// For MPFR's own functions.
  mpfr_ptr raw() noexcept { return x_; }
  mpfr_srcptr raw() const noexcept { return x_; }

  int sign() const noexcept { return mpfr_sgn(x_); }
  /// The double nearest to this number, or next to it on the side of −∞ or +∞.
  double approximately() const noexcept { return mpfr_get_d(x_, MPFR_RNDN); }
  double rounded_down() const noexcept { return mpfr_get_d(x_, MPFR_RNDD); }
  double rounded_up() const noexcept { return mpfr_get_d(x_, MPFR_RNDU); }

 private:
  mpfr_t x_;
};

real operator+(real a, real const& b);
real operator-(real a, real const& b);
real operator*(real a, real const& b);
real operator/(real a, real const& b);
/// False where one is NaN.
bool operator<(real const& a, real const& b);
bool operator<=(real const& a, real const& b);
bool operator==(real const& a, real const& b);
real abs(real a);
real exp(real a);
real expm1(real a);
real log(real a);
real tanh(real a);
real sqrt(real a);
/// 1/√a
real inverse_sqrt(real a);
/// a·2^by
real scaled(real a, std::int64_t by);

}  // namespace attest::oracles
