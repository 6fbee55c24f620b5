#include "oracles/mpfr.hpp"

namespace attest::oracles {
namespace {

std::vector<real> reals(std::span<double const> from, long bits) {
  std::vector<real> numbers;
  numbers.reserve(from.size());
  for (double const x : from) numbers.emplace_back(x, bits);
  return numbers;
}

}  // namespace

mpfr_attention::mpfr_attention(head const& head, long bits)
    : head_(head),
      bits_(bits),
      k_(reals(head.k, bits)),
      v_(reals(head.v, bits)),
      weights_(head.keys, real(0, bits)),
      scale_(head.scale ? real(*head.scale, bits) : inverse_sqrt(real(static_cast<double>(head.d), bits))),
      cap_(head.softcap, bits),
      top_(0, bits),
      sum_(0, bits) {}

void mpfr_attention::row(std::span<double const> q, std::span<double const> bias) {
  std::vector<real> const query = reals(q, bits_);
  for (std::size_t j = 0; j < head_.keys; ++j) {
    mpfr_ptr const s = weights_[j].raw();
    mpfr_set_zero(s, 1);
    for (std::size_t t = 0; t < head_.d; ++t) mpfr_fma(s, query[t].raw(), k_[j * head_.d + t].raw(), s, MPFR_RNDN);
    mpfr_mul(s, s, scale_.raw(), MPFR_RNDN);
    if (head_.softcap > 0) {
      mpfr_div(s, s, cap_.raw(), MPFR_RNDN);
      mpfr_tanh(s, s, MPFR_RNDN);
      mpfr_mul(s, s, cap_.raw(), MPFR_RNDN);
    }
    if (!bias.empty()) mpfr_add_d(s, s, bias[j], MPFR_RNDN);
    if (head_.in_base_2) mpfr_mul(s, s, log(real(2, bits_)).raw(), MPFR_RNDN);
    if (j == 0 || mpfr_greater_p(s, top_.raw())) mpfr_set(top_.raw(), s, MPFR_RNDN);
  }
  mpfr_set_zero(sum_.raw(), 1);
  for (real& weight : weights_) {
    mpfr_sub(weight.raw(), weight.raw(), top_.raw(), MPFR_RNDN);
    mpfr_exp(weight.raw(), weight.raw(), MPFR_RNDN);
    mpfr_add(sum_.raw(), sum_.raw(), weight.raw(), MPFR_RNDN);
  }
}

real mpfr_attention::output(std::size_t c) const {
  real o(0, bits_);
  for (std::size_t j = 0; j < head_.keys; ++j)
    mpfr_fma(o.raw(), weights_[j].raw(), v_[j * head_.dv + c].raw(), o.raw(), MPFR_RNDN);
  mpfr_div(o.raw(), o.raw(), sum_.raw(), MPFR_RNDN);
  return o;
}
real mpfr_attention::weight(std::size_t j) const { return weights_[j] / sum_; }
real mpfr_attention::log_sum_exp() const { return top_ + log(sum_); }

}  // namespace attest::oracles
