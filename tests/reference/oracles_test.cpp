// attest's reference beside two other oracles, Arb (balls) and MPFI (intervals): all enclose one exact value, so all
// must overlap, at every pair of widths.
#include <arb.h>
#include <mpfi.h>
#include <mpfi_io.h>

#include <cmath>
#include <vector>

#include "reference/attention/attention.hpp"
#include "tests/support/many.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/random_row.hpp"

using namespace attest;
using namespace attest::tests;
using reference::row_kind;

namespace {

/// An Arb ball.
class arb {
 public:
  arb() { arb_init(x); }
  explicit arb(double value) : arb() { arb_set_d(x, value); }
  arb(arb const& other) : arb() { arb_set(x, other.x); }
  arb& operator=(arb const& other) { return arb_set(x, other.x), *this; }
  ~arb() { arb_clear(x); }

  static slong bits(slong change = 0) {
    static slong width = 256;
    if (change > 0) width = change;
    return width;
  }
  friend arb operator+(arb a, arb const& b) { return arb_add(a.x, a.x, b.x, bits()), a; }
  friend arb operator-(arb a, arb const& b) { return arb_sub(a.x, a.x, b.x, bits()), a; }
  friend arb operator*(arb a, arb const& b) { return arb_mul(a.x, a.x, b.x, bits()), a; }
  friend arb operator/(arb a, arb const& b) { return arb_div(a.x, a.x, b.x, bits()), a; }
  friend arb exp(arb a) { return arb_exp(a.x, a.x, bits()), a; }
  friend arb log(arb a) { return arb_log(a.x, a.x, bits()), a; }
  friend arb tanh(arb a) { return arb_tanh(a.x, a.x, bits()), a; }
  friend arb sqrt(arb a) { return arb_sqrt(a.x, a.x, bits()), a; }
  void ends(real& low, real& high) const {
    arf_t a, b;
    arf_init(a), arf_init(b);
    arb_get_lbound_arf(a, x, 4096), arb_get_ubound_arf(b, x, 4096);
    arf_get_mpfr(low.raw(), a, MPFR_RNDD), arf_get_mpfr(high.raw(), b, MPFR_RNDU);
    arf_clear(a), arf_clear(b);
  }

 private:
  arb_t x;
};

/// An MPFI interval.
class mpfi {
 public:
  mpfi() { mpfi_init2(x, bits()), mpfi_set_si(x, 0); }
  explicit mpfi(double value) : mpfi() { mpfi_set_d(x, value); }
  mpfi(mpfi const& other) : mpfi() { mpfi_set(x, other.x); }
  mpfi& operator=(mpfi const& other) { return mpfi_set(x, other.x), *this; }
  ~mpfi() { mpfi_clear(x); }

  static mpfr_prec_t bits(mpfr_prec_t change = 0) {
    static mpfr_prec_t width = 300;
    if (change > 0) width = change;
    return width;
  }
  friend mpfi operator+(mpfi a, mpfi const& b) { return mpfi_add(a.x, a.x, b.x), a; }
  friend mpfi operator-(mpfi a, mpfi const& b) { return mpfi_sub(a.x, a.x, b.x), a; }
  friend mpfi operator*(mpfi a, mpfi const& b) { return mpfi_mul(a.x, a.x, b.x), a; }
  friend mpfi operator/(mpfi a, mpfi const& b) { return mpfi_div(a.x, a.x, b.x), a; }
  friend mpfi exp(mpfi a) { return mpfi_exp(a.x, a.x), a; }
  friend mpfi log(mpfi a) { return mpfi_log(a.x, a.x), a; }
  friend mpfi tanh(mpfi a) { return mpfi_tanh(a.x, a.x), a; }
  friend mpfi sqrt(mpfi a) { return mpfi_sqrt(a.x, a.x), a; }
  void ends(real& low, real& high) const { mpfi_get_left(low.raw(), x), mpfi_get_right(high.raw(), x); }

 private:
  mpfi_t x;
};

template <class T>
double as_double(T stored) {
  auto const e = reference::value_of(stored);
  return std::ldexp(static_cast<double>(e.significand), e.exponent);
}

/// The textbook formulas in numbers of type N.
template <class N>
struct textbook {
  std::vector<N> weights;
  N o, lse, entropy;

  template <class T>
  textbook(one_row<T> const& asked, std::vector<std::int64_t> const& keys) {
    auto const d = static_cast<std::size_t>(asked.k.where.shape[1]);
    N const scale = asked.scale ? N(*asked.scale) : N(1) / sqrt(N(static_cast<double>(d)));
    std::vector<N> s;
    double about = -HUGE_VAL;  // shifts exponents only; any number would do
    for (auto const key : keys) {
      auto const j = static_cast<std::size_t>(key);
      N dot(0);
      double near = 0;
      for (std::size_t t = 0; t < d; ++t) {
        double const q = as_double(asked.q.values[t]), k = as_double(asked.k.values[j * d + t]);
        dot = dot + N(q) * N(k);
        near += q * k;
      }
      s.push_back(scale * dot);
      near *= asked.scale ? *asked.scale : 1 / std::sqrt(static_cast<double>(d));
      if (asked.softcap > 0) {
        s.back() = N(asked.softcap) * tanh(s.back() / N(asked.softcap));
        near = asked.softcap * std::tanh(near / asked.softcap);
      }
      if (!asked.bias.empty()) s.back() = s.back() + N(as_double(asked.bias[j])), near += as_double(asked.bias[j]);
      about = std::max(about, near);
    }
    N Z(0), sum(0), mean(0);
    for (std::size_t n = 0; n < keys.size(); ++n) {
      weights.push_back(exp(s[n] - N(about)));
      Z = Z + weights[n];
      sum = sum + weights[n] * N(as_double(asked.v.values[static_cast<std::size_t>(keys[n])]));
      mean = mean + weights[n] * (s[n] - N(about));
    }
    for (auto& w : weights) w = w / Z;
    o = sum / Z;
    lse = N(about) + log(Z);
    entropy = log(Z) - mean / Z;
  }
};

template <class N, unsigned W>
bool meets(N const& other, reference::ball<W> const& ours) {
  real low, high;
  other.ends(low, high);
  return low <= middle(ours) + radius(ours) && middle(ours) - radius(ours) <= high;
}

template <unsigned W, class N, class T>
void compare(one_row<T> const& asked) {
  reference::enclosed_row<W, T> row;
  auto const p = asked.instance();
  reference::enclose_row(p, 0, 0, 0, row);
  RC_PRE(row.kind == row_kind::finite);
  std::vector<std::int64_t> keys;
  for (auto const& key : row.keys) keys.push_back(key.j);
  textbook<N> const other(asked, keys);
  RC_ASSERT(meets(other.o, reference::output(p, row, 0).value));
  RC_ASSERT(meets(other.lse, log_sum_exp(row)));
  RC_ASSERT(meets(other.entropy, entropy(row)));
  for (std::size_t j = 0; j < keys.size(); ++j) RC_ASSERT(meets(other.weights[j], weight(row, j)));
}

template <class T>
void against_both(char const* type, int times) {
  // Theirs far narrower than ours shows that ours contain; ours far narrower than theirs, that theirs do.
  many(times, std::string("Arb at 256 bits, ours at 64, ") + type,
       [] { arb::bits(256), compare<64, arb>(drawn_row<T>(true, true)); });
  many(times, std::string("Arb at 64 bits, ours at 192, ") + type,
       [] { arb::bits(64), compare<192, arb>(drawn_row<T>(true, true)); });
  many(times, std::string("MPFI at 300 bits, ours at 128, ") + type,
       [] { mpfi::bits(300), compare<128, mpfi>(drawn_row<T>(true, true)); });
}

}  // namespace

TEST_CASE("Arb and MPFI agree on f32 rows", "[property][differential]") { against_both<float>("f32", 15); }
TEST_CASE("Arb and MPFI agree on f64 rows", "[property][differential]") { against_both<double>("f64", 15); }
TEST_CASE("Arb and MPFI agree on bf16 rows", "[property][differential]") { against_both<problem::bf16>("bf16", 8); }
TEST_CASE("Arb and MPFI agree on f16 rows", "[property][differential]") { against_both<problem::f16>("f16", 8); }

TEST_CASE("E11.1 of the documents: all three oracles print the same digits", "[unit]") {
  one_row<float> asked(3, 2, 1);
  asked.q.values = {1, 0}, asked.k.values = {1, 0, 0, 1, 0.5f, 0.5f}, asked.v.values = {1, 0, 0.5f};
  reference::enclosed_row<192, float> row;
  reference::enclose_row(asked.instance(), 0, 0, 0, row);
  arb::bits(256), mpfi::bits(300);
  textbook<arb> const by_arb(asked, {0, 1, 2});
  textbook<mpfi> const by_mpfi(asked, {0, 1, 2});
  auto const ours = reference::output(asked.instance(), row, 0).value;
  CHECK(meets(by_arb.o, ours));
  CHECK(meets(by_mpfi.o, ours));
  CHECK(ours.radius <= reference::magnitude::power_of_two(-180));
  CHECK(middle(ours).approximately() == Approx(0.615460573432).epsilon(1e-12));
}
