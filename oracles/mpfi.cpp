#include "oracles/mpfi.hpp"

namespace attest::oracles {

mpfi_interval::mpfi_interval(long bits, double value) {
  mpfi_init2(x_, bits);
  mpfi_set_d(x_, value);
}
mpfi_interval::mpfi_interval(mpfi_interval const& other) {
  mpfi_init2(x_, mpfi_get_prec(other.x_));
  mpfi_set(x_, other.x_);
}
mpfi_interval::~mpfi_interval() { mpfi_clear(x_); }
real mpfi_interval::low() const {
  real bound(0, mpfi_get_prec(x_));
  mpfi_get_left(bound.raw(), x_);
  return bound;
}
real mpfi_interval::high() const {
  real bound(0, mpfi_get_prec(x_));
  mpfi_get_right(bound.raw(), x_);
  return bound;
}

mpfi_attention::mpfi_attention(head const& head, long bits)
    : head_(head),
      bits_(bits),
      below_(head.keys, mpfi_interval(bits)),
      weights_(head.keys, mpfi_interval(bits)),
      scale_(bits),
      sum_(bits),
      top_(0, bits) {
  if (head.scale) {
    mpfi_set_d(scale_.raw(), *head.scale);
  } else {
    mpfi_set_ui(scale_.raw(), head.d);
    mpfi_sqrt(scale_.raw(), scale_.raw());
    mpfi_inv(scale_.raw(), scale_.raw());
  }
}

void mpfi_attention::row(std::span<double const> q, std::span<double const> bias) {
  mpfi_interval product(bits_);
  for (std::size_t j = 0; j < head_.keys; ++j) {
    mpfi_ptr const s = below_[j].raw();
    mpfi_set_si(s, 0);
    for (std::size_t t = 0; t < head_.d; ++t) {
      mpfi_set_d(product.raw(), q[t]);
      mpfi_mul_d(product.raw(), product.raw(), head_.k[j * head_.d + t]);
      mpfi_add(s, s, product.raw());
    }
    mpfi_mul(s, s, scale_.raw());
    if (head_.softcap > 0) {
      mpfi_div_d(s, s, head_.softcap);
      mpfi_tanh(s, s);
      mpfi_mul_d(s, s, head_.softcap);
    }
    if (!bias.empty()) mpfi_add_d(s, s, bias[j]);
    if (head_.in_base_2) mpfi_const_log2(product.raw()), mpfi_mul(s, s, product.raw());
    if (j == 0 || mpfr_greater_p(&s->right, top_.raw())) mpfr_set(top_.raw(), &s->right, MPFR_RNDN);
  }
  mpfi_set_si(sum_.raw(), 0);
  for (std::size_t j = 0; j < head_.keys; ++j) {
    mpfi_sub_fr(below_[j].raw(), below_[j].raw(), top_.raw());
    mpfi_exp(weights_[j].raw(), below_[j].raw());
    mpfi_add(sum_.raw(), sum_.raw(), weights_[j].raw());
  }
}

mpfi_interval mpfi_attention::output(std::size_t c) const {
  mpfi_interval o(bits_), product(bits_);
  for (std::size_t j = 0; j < head_.keys; ++j) {
    mpfi_mul_d(product.raw(), weights_[j].raw(), head_.v[j * head_.dv + c]);
    mpfi_add(o.raw(), o.raw(), product.raw());
  }
  mpfi_div(o.raw(), o.raw(), sum_.raw());
  return o;
}
mpfi_interval mpfi_attention::weight(std::size_t j) const {
  mpfi_interval share(bits_);
  mpfi_div(share.raw(), weights_[j].raw(), sum_.raw());
  return share;
}
mpfi_interval mpfi_attention::log_sum_exp() const {
  mpfi_interval lse(bits_);
  mpfi_log(lse.raw(), sum_.raw());
  mpfi_add_fr(lse.raw(), lse.raw(), top_.raw());
  return lse;
}
/// ln Σ e^(s − top) − Σ π·(s − top)
mpfi_interval mpfi_attention::entropy() const {
  mpfi_interval mean(bits_), term(bits_), result(bits_);
  for (std::size_t j = 0; j < head_.keys; ++j) {
    mpfi_mul(term.raw(), weights_[j].raw(), below_[j].raw());
    mpfi_add(mean.raw(), mean.raw(), term.raw());
  }
  mpfi_div(mean.raw(), mean.raw(), sum_.raw());
  mpfi_log(result.raw(), sum_.raw());
  mpfi_sub(result.raw(), result.raw(), mean.raw());
  return result;
}

}  // namespace attest::oracles
