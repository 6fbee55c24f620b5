#include "fuzz/support/arb_row.hpp"

#ifdef ATTEST_HAS_ARB
// The library's headers are C and convert freely.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <arb.h>
#pragma GCC diagnostic pop

namespace attest::fuzz {
namespace {

/// A vector of balls; 0 at first.
class balls {
 public:
  explicit balls(std::size_t size) : size_(static_cast<slong>(size)), x_(_arb_vec_init(size_)) {}
  explicit balls(std::vector<double> const& from) : balls(from.size()) {
    for (std::size_t n = 0; n < from.size(); ++n) arb_set_d((*this)[n], from[n]);
  }
  balls(balls const&) = delete;
  balls& operator=(balls const&) = delete;
  ~balls() { _arb_vec_clear(x_, size_); }
  arb_ptr operator[](std::size_t n) const { return x_ + n; }

 private:
  slong size_;
  arb_ptr x_;
};

interval ends(arb_srcptr x) {
  interval made{};
  arf_t end;
  arf_init(end);
  arb_get_lbound_arf(end, x, 256);
  made.low = arf_get_d(end, ARF_RND_FLOOR);
  arb_get_ubound_arf(end, x, 256);
  made.high = arf_get_d(end, ARF_RND_CEIL);
  arf_clear(end);
  return made;
}

}  // namespace

bool has_arb() noexcept { return true; }

arb_answer arb_row(plain_row const& asked, long bits) {
  std::size_t const keys = asked.bias.size();
  auto const d = static_cast<std::size_t>(asked.d), dv = static_cast<std::size_t>(asked.dv);
  balls const q(asked.q), k(asked.k), v(asked.v), bias(asked.bias), s(keys), of(5);
  arb_ptr const scale = of[0], top = of[1], sum = of[2], cap = of[3], x = of[4];
  if (asked.scale) arb_set_d(scale, *asked.scale);
  else arb_set_si(scale, asked.d), arb_rsqrt(scale, scale, bits);
  arb_set_d(cap, asked.softcap);
  for (std::size_t j = 0; j < keys; ++j) {
    arb_dot(s[j], nullptr, 0, q[0], 1, k[j * d], 1, static_cast<slong>(d), 4096);  // exact, or nearly
    arb_mul(s[j], s[j], scale, 4096);
    if (asked.softcap > 0) arb_div(s[j], s[j], cap, bits), arb_tanh(s[j], s[j], bits), arb_mul(s[j], s[j], cap, bits);
    arb_add(s[j], s[j], bias[j], 4096);
    // Any number would do for the maximum: it only keeps exponents small.
    if (j == 0 || arf_cmp(arb_midref(s[j]), arb_midref(top)) > 0) arb_set(top, s[j]);
  }
  mag_zero(arb_radref(top));
  for (std::size_t j = 0; j < keys; ++j) {
    arb_sub(s[j], s[j], top, 4096);
    arb_exp(s[j], s[j], bits);
    arb_add(sum, sum, s[j], bits);
  }
  arb_answer made{};
  for (std::size_t c = 0; c < dv; ++c) {
    arb_dot(x, nullptr, 0, s[0], 1, v[c], static_cast<slong>(dv), static_cast<slong>(keys), bits);
    arb_div(x, x, sum, bits);
    made.o.push_back(ends(x));
  }
  for (std::size_t j = 0; j < keys; ++j) arb_div(x, s[j], sum, bits), made.weights.push_back(ends(x));
  arb_log(x, sum, bits);
  arb_add(x, x, top, bits);
  made.lse = ends(x);
  return made;
}

}  // namespace attest::fuzz

#else

namespace attest::fuzz {

bool has_arb() noexcept { return false; }
arb_answer arb_row(plain_row const&, long) { return {}; }

}  // namespace attest::fuzz

#endif
