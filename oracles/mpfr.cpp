#include "oracles/mpfr.hpp"

namespace attest::oracles {
namespace {

std::vector<real> reals(std::span<double const> from, long bits) {
  std::vector<real> made;
  made.reserve(from.size());
  for (double const x : from) made.emplace_back(x, bits);
  return made;
}

}  // namespace

mpfr_attention::mpfr_attention(head const& asked, long bits)
    : asked_(asked),
      bits_(bits),
      k_(reals(asked.k, bits)),
      v_(reals(asked.v, bits)),
      weights_(asked.keys, real(0, bits)),
      scale_(asked.scale ? real(*asked.scale, bits) : inverse_sqrt(real(static_cast<double>(asked.d), bits))),
      cap_(asked.softcap, bits),
      top_(0, bits),
      sum_(0, bits) {}

void mpfr_attention::row(std::span<double const> q, std::span<double const> bias) {
  std::vector<real> const query = reals(q, bits_);
  for (std::size_t j = 0; j < asked_.keys; ++j) {
    mpfr_ptr const s = weights_[j].raw();
    mpfr_set_zero(s, 1);
    for (std::size_t t = 0; t < asked_.d; ++t) mpfr_fma(s, query[t].raw(), k_[j * asked_.d + t].raw(), s, MPFR_RNDN);
    mpfr_mul(s, s, scale_.raw(), MPFR_RNDN);
    if (asked_.softcap > 0) {
      mpfr_div(s, s, cap_.raw(), MPFR_RNDN);
      mpfr_tanh(s, s, MPFR_RNDN);
      mpfr_mul(s, s, cap_.raw(), MPFR_RNDN);
    }
    if (!bias.empty()) mpfr_add_d(s, s, bias[j], MPFR_RNDN);
    if (j == 0 || mpfr_greater_p(s, top_.raw())) mpfr_set(top_.raw(), s, MPFR_RNDN);
  }
  mpfr_set_zero(sum_.raw(), 1);
  for (real& each : weights_) {
    mpfr_sub(each.raw(), each.raw(), top_.raw(), MPFR_RNDN);
    mpfr_exp(each.raw(), each.raw(), MPFR_RNDN);
    mpfr_add(sum_.raw(), sum_.raw(), each.raw(), MPFR_RNDN);
  }
}

real mpfr_attention::output(std::size_t c) const {
  real made(0, bits_);
  for (std::size_t j = 0; j < asked_.keys; ++j)
    mpfr_fma(made.raw(), weights_[j].raw(), v_[j * asked_.dv + c].raw(), made.raw(), MPFR_RNDN);
  mpfr_div(made.raw(), made.raw(), sum_.raw(), MPFR_RNDN);
  return made;
}
real mpfr_attention::weight(std::size_t j) const { return weights_[j] / sum_; }
real mpfr_attention::log_sum_exp() const { return top_ + log(sum_); }

}  // namespace attest::oracles
