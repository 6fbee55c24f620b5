#include "oracles/real.hpp"

#include <utility>

namespace attest::oracles {
namespace {

/// MPFR's exponents begin at ±2³⁰; each thread has its own.
void allocate(mpfr_ptr x, long bits) {
  static thread_local bool const wide =
      mpfr_set_emin(mpfr_get_emin_min()) == 0 && mpfr_set_emax(mpfr_get_emax_max()) == 0;
  static_cast<void>(wide);
  mpfr_init2(x, bits);
}

}  // namespace

real::real(double value, long bits) {
  allocate(x_, bits);
  mpfr_set_d(x_, value, MPFR_RNDN);
}
real real::whole(std::uint64_t value, long bits) {
  real number(0, bits);
  static_assert(sizeof(unsigned long) == sizeof value);
  mpfr_set_ui(number.x_, value, MPFR_RNDN);
  return number;
}
real::real(real const& other) {
  allocate(x_, mpfr_get_prec(other.x_));
  mpfr_set(x_, other.x_, MPFR_RNDN);
}
/// What was moved from has no digits left, and may only be assigned to or destroyed.
real::real(real&& other) noexcept {
  x_[0] = other.x_[0];
  other.x_->_mpfr_d = nullptr;
}
real& real::operator=(real other) noexcept {
  std::swap(x_[0], other.x_[0]);
  return *this;
}
real::~real() {
  if (x_->_mpfr_d) mpfr_clear(x_);
}

real operator+(real a, real const& b) { return mpfr_add(a.raw(), a.raw(), b.raw(), MPFR_RNDN), a; }
real operator-(real a, real const& b) { return mpfr_sub(a.raw(), a.raw(), b.raw(), MPFR_RNDN), a; }
real operator*(real a, real const& b) { return mpfr_mul(a.raw(), a.raw(), b.raw(), MPFR_RNDN), a; }
real operator/(real a, real const& b) { return mpfr_div(a.raw(), a.raw(), b.raw(), MPFR_RNDN), a; }
bool operator<(real const& a, real const& b) { return mpfr_less_p(a.raw(), b.raw()) != 0; }
bool operator<=(real const& a, real const& b) { return mpfr_lessequal_p(a.raw(), b.raw()) != 0; }
bool operator==(real const& a, real const& b) { return mpfr_equal_p(a.raw(), b.raw()) != 0; }
real abs(real a) { return mpfr_abs(a.raw(), a.raw(), MPFR_RNDN), a; }
real exp(real a) { return mpfr_exp(a.raw(), a.raw(), MPFR_RNDN), a; }
real expm1(real a) { return mpfr_expm1(a.raw(), a.raw(), MPFR_RNDN), a; }
real log(real a) { return mpfr_log(a.raw(), a.raw(), MPFR_RNDN), a; }
real tanh(real a) { return mpfr_tanh(a.raw(), a.raw(), MPFR_RNDN), a; }
real sqrt(real a) { return mpfr_sqrt(a.raw(), a.raw(), MPFR_RNDN), a; }
real inverse_sqrt(real a) { return mpfr_rec_sqrt(a.raw(), a.raw(), MPFR_RNDN), a; }
real scaled(real a, std::int64_t by) { return mpfr_mul_2si(a.raw(), a.raw(), by, MPFR_RNDN), a; }

}  // namespace attest::oracles
