// MPFR beside the balls: independent numbers of many bits, and "is this number inside that ball?".
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <utility>

#include "reference/real/ball.hpp"

namespace attest::tests {

/// An MPFR number of `real::bits` bits, rounded to nearest. Exponents reach ±2⁶¹.
class real {
 public:
  static constexpr mpfr_prec_t bits = 3072;

  real() { allocate(), mpfr_set_zero(x_, 1); }
  real(double value) { allocate(), mpfr_set_d(x_, value, MPFR_RNDN); }
  real(real const& other) { allocate(), mpfr_set(x_, other.x_, MPFR_RNDN); }
  real& operator=(real const& other) { return mpfr_set(x_, other.x_, MPFR_RNDN), *this; }
  ~real() { mpfr_clear(x_); }

  /// The integer x·2^exponent. Exact for |x| < 2^bits.
  template <std::size_t Bits>
  real(reference::integer<Bits> const& x, std::int64_t exponent) : real() {
    auto const& limbs = x.backend();
    for (std::size_t n = limbs.size(); n-- > 0;) {
      mpfr_mul_2ui(x_, x_, 64, MPFR_RNDN);
      mpfr_add_ui(x_, x_, static_cast<unsigned long>(limbs.limbs()[n]), MPFR_RNDN);
    }
    if (x.sign() < 0) mpfr_neg(x_, x_, MPFR_RNDN);
    mpfr_mul_2si(x_, x_, exponent, MPFR_RNDN);
  }
  explicit real(reference::magnitude m) : real() {
    mpfr_set_ui_2exp(x_, static_cast<unsigned long>(m.mantissa()), m.exponent(), MPFR_RNDN);
  }
  explicit real(reference::element const& e) : real() { mpfr_set_si_2exp(x_, e.significand, e.exponent, MPFR_RNDN); }

  mpfr_ptr raw() { return x_; }
  mpfr_srcptr raw() const { return x_; }
  int sign() const { return mpfr_sgn(x_); }
  double approximately() const { return mpfr_get_d(x_, MPFR_RNDN); }

  friend real operator+(real a, real const& b) { return mpfr_add(a.x_, a.x_, b.x_, MPFR_RNDN), a; }
  friend real operator-(real a, real const& b) { return mpfr_sub(a.x_, a.x_, b.x_, MPFR_RNDN), a; }
  friend real operator*(real a, real const& b) { return mpfr_mul(a.x_, a.x_, b.x_, MPFR_RNDN), a; }
  friend real operator/(real a, real const& b) { return mpfr_div(a.x_, a.x_, b.x_, MPFR_RNDN), a; }
  friend bool operator<(real const& a, real const& b) { return mpfr_less_p(a.x_, b.x_) != 0; }
  friend bool operator<=(real const& a, real const& b) { return mpfr_lessequal_p(a.x_, b.x_) != 0; }
  friend bool operator==(real const& a, real const& b) { return mpfr_equal_p(a.x_, b.x_) != 0; }
  friend real abs(real a) { return mpfr_abs(a.x_, a.x_, MPFR_RNDN), a; }
  friend real exp(real a) { return mpfr_exp(a.x_, a.x_, MPFR_RNDN), a; }
  friend real log(real a) { return mpfr_log(a.x_, a.x_, MPFR_RNDN), a; }
  friend real sqrt(real a) { return mpfr_sqrt(a.x_, a.x_, MPFR_RNDN), a; }
  /// a·2^by
  friend real scaled(real a, std::int64_t by) { return mpfr_mul_2si(a.x_, a.x_, by, MPFR_RNDN), a; }

 private:
  void allocate() {
    static bool const wide = mpfr_set_emin(mpfr_get_emin_min()) == 0 && mpfr_set_emax(mpfr_get_emax_max()) == 0;
    static_cast<void>(wide);
    mpfr_init2(x_, bits);
  }
  mpfr_t x_;
};

template <unsigned W>
real middle(reference::ball<W> const& a) { return real(a.mid, a.exponent); }
template <unsigned W>
real radius(reference::ball<W> const& a) { return real(a.radius); }

/// Is x, known to 2^−3000 relative, inside a?
template <unsigned W>
bool contains(reference::ball<W> const& a, real const& x) {
  return abs(x - middle(a)) <= radius(a) + scaled(abs(x), -3000);
}

/// One unit in the last place of a's midpoint at W bits.
template <unsigned W>
real last_place(reference::ball<W> const& a) {
  return scaled(real(1), a.exponent + reference::bit_length(a.mid) - static_cast<int>(W));
}

}  // namespace attest::tests
