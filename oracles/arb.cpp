#include "oracles/arb.hpp"

namespace attest::oracles {

real arb_ball::low() const {
  real bound;
  mpfr_t high;
  mpfr_init2(high, MPFR_PREC_MIN);
  arb_get_interval_mpfr(bound.raw(), high, x_);
  mpfr_clear(high);
  return bound;
}
real arb_ball::high() const {
  real bound;
  mpfr_t low;
  mpfr_init2(low, MPFR_PREC_MIN);
  arb_get_interval_mpfr(low, bound.raw(), x_);
  mpfr_clear(low);
  return bound;
}

arb_balls::arb_balls(std::size_t size) : size_(static_cast<slong>(size)), x_(_arb_vec_init(size_)) {}
arb_balls::arb_balls(std::span<double const> from) : arb_balls(from.size()) {
  for (std::size_t n = 0; n < from.size(); ++n) arb_set_d(x_ + n, from[n]);
}
arb_balls::~arb_balls() { _arb_vec_clear(x_, size_); }

arb_attention::arb_attention(head const& head, long bits, long score_bits)
    : keys_(static_cast<slong>(head.keys)),
      d_(static_cast<slong>(head.d)),
      dv_(static_cast<slong>(head.dv)),
      bits_(bits),
      score_bits_(score_bits),
      capped_(head.softcap > 0),
      in_base_2_(head.in_base_2),
      k_(head.k),
      v_(head.v),
      q_(head.d),
      below_(head.keys),
      weights_(head.keys) {
  arb_set_d(cap_.raw(), head.softcap);
  if (head.scale) {
    arb_set_d(scale_.raw(), *head.scale);
  } else {
    arb_set_si(scale_.raw(), d_);
    arb_rsqrt(scale_.raw(), scale_.raw(), bits);
  }
}

void arb_attention::row(std::span<double const> q, std::span<double const> bias) {
  arb_ball b;
  for (std::size_t t = 0; t < q.size(); ++t) arb_set_d(q_[t], q[t]);
  for (slong j = 0; j < keys_; ++j) {
    auto const at = static_cast<std::size_t>(j);
    arb_ptr const s = below_[at];
    arb_dot(s, nullptr, 0, q_[0], 1, k_[0] + j * d_, 1, d_, score_bits_);
    arb_mul(s, s, scale_.raw(), score_bits_);
    if (capped_) {
      arb_div(s, s, cap_.raw(), bits_);
      arb_tanh(s, s, bits_);
      arb_mul(s, s, cap_.raw(), bits_);
    }
    if (!bias.empty()) {
      arb_set_d(b.raw(), bias[at]);
      arb_add(s, s, b.raw(), score_bits_);
    }
    if (in_base_2_) {
      arb_const_log2(b.raw(), score_bits_);
      arb_mul(s, s, b.raw(), score_bits_);
    }
    if (j == 0 || arf_cmp(arb_midref(s), arb_midref(top_.raw())) > 0) arb_get_mid_arb(top_.raw(), s);
  }
  arb_zero(sum_.raw());
  for (std::size_t j = 0; j < static_cast<std::size_t>(keys_); ++j) {
    arb_sub(below_[j], below_[j], top_.raw(), score_bits_);
    arb_exp(weights_[j], below_[j], bits_);
    arb_add(sum_.raw(), sum_.raw(), weights_[j], bits_);
  }
}

arb_ball arb_attention::output(std::size_t c) const {
  arb_ball o;
  arb_dot(o.raw(), nullptr, 0, weights_[0], 1, v_[c], dv_, keys_, bits_);
  arb_div(o.raw(), o.raw(), sum_.raw(), bits_);
  return o;
}
arb_ball arb_attention::weight(std::size_t j) const {
  arb_ball share;
  arb_div(share.raw(), weights_[j], sum_.raw(), bits_);
  return share;
}
arb_ball arb_attention::log_sum_exp() const {
  arb_ball lse;
  arb_log(lse.raw(), sum_.raw(), bits_);
  arb_add(lse.raw(), lse.raw(), top_.raw(), bits_);
  return lse;
}
/// ln Σ e^(s − top) − Σ π·(s − top)
arb_ball arb_attention::entropy() const {
  arb_ball result, mean;
  arb_dot(mean.raw(), nullptr, 0, weights_[0], 1, below_[0], 1, keys_, bits_);
  arb_div(mean.raw(), mean.raw(), sum_.raw(), bits_);
  arb_log(result.raw(), sum_.raw(), bits_);
  arb_sub(result.raw(), result.raw(), mean.raw(), bits_);
  return result;
}

}  // namespace attest::oracles
