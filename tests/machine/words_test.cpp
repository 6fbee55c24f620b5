// e^x, ln x and 1/√d of the machine tier's double words, on every SIMD target, against MPFR at 300 bits.
#include <cmath>
#include <random>

#include "oracles/real.hpp"
#include "reference/machine/testing.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::words_test {
namespace {

using oracles::real;
using reference::machine::testing::enclosed_word;

constexpr long bits = 300;

/// hi + lo, to nearest
real sum_of(double hi, double lo) { return real(hi, bits) + real(lo, bits); }

/// |got − expected|/radius; NaN counts as far outside.
double in_radii(enclosed_word const& got, real expected) {
  expected = std::move(expected) - real(got.hi, bits) - real(got.lo, bits);
  double const off = abs(std::move(expected)).rounded_up() / got.radius;
  return off <= 1e300 ? off : HUGE_VAL;
}

struct drawn {
  std::mt19937_64 random;
  double unit() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  /// Any second half of a double word.
  double low_of(double hi) {
    double const half = std::ldexp(std::abs(hi), -54), part = 2 * unit() - 1;
    return random() % 4 == 0   ? 0
           : random() % 8 == 0 ? std::ldexp(half * part, -static_cast<int>(random() % 60))
                               : half * part;
  }
};

/// Arguments of exp from a seed on: any size, and where the reduction is hardest: close to n·ln 2 and (n + 1/2)·ln 2.
double exp_argument(drawn& from, std::uint64_t count) {
  double const part = from.unit(), sign = from.random() % 2 ? 1 : -1;
  switch (count % 4) {
    case 0: return -part * 600;
    case 1: return sign * std::ldexp(part, -static_cast<int>(from.random() % 80));
    case 2: {
      double const n = std::floor(part * 1730) * 0.5 * sign, at = n * 0.69314718055994530942;
      double const x = at * (1 + static_cast<double>(static_cast<int>(from.random() % 9) - 4) * 0x1p-53);
      return x;
    }
    default: return sign * part * 50;
  }
}

template <class F>
void on_every_target(F const& f) {
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    CAPTURE(target);
    f();
  }
  reference::machine::use_simd_target("");
}

/// The bound holds, and is of the right size.
void check_bound(double worst) {
  INFO("worst " << worst << " of the bound");
  CHECK(worst <= 1);
  CHECK(worst > 0.02);
}

void exp_on_every_target(std::uint64_t arguments) {
  on_every_target([&] {
    for (bool const lanes : {false, true}) {
      CAPTURE(lanes);
      auto const one = reference::machine::testing::exp_word(0, 0, lanes);
      CHECK(one.hi == 1);
      CHECK(one.lo == 0);
      drawn from{std::mt19937_64(11)};
      double worst = 0, worst_low = 0;
      for (std::uint64_t n = 0; n < arguments; ++n) {
        double const hi = exp_argument(from, n), lo = from.low_of(hi);
        auto const got = reference::machine::testing::exp_word(hi, lo, lanes);
        worst = std::max(worst, in_radii(got, exp(sum_of(hi, lo))));
        worst_low = std::max(worst_low, std::abs(got.lo) / got.hi);
      }
      check_bound(worst);
      CHECK(worst_low <= 0x1p-53);
    }
  });
}

}  // namespace

TEST_CASE("e^x as a double word is within its bound on every target", "[unit]") { exp_on_every_target(40'000); }
TEST_CASE("e^x as a double word is within its bound at millions of arguments", "[nightly]") {
  exp_on_every_target(1'000'000);
}

TEST_CASE("ln x as a double word is within its radius on every target", "[unit]") {
  on_every_target([] {
    drawn from{std::mt19937_64(12)};
    double worst = 0;
    for (int n = 0; n < 40'000; ++n) {
      double const grown = std::ldexp(1 + from.unit(), n % 3 ? n % 60 : 0);
      double const hi = n % 5 == 0   ? 1 + std::ldexp(from.unit(), -(n % 53))
                        : n % 7 == 0 ? 0.5 + from.unit() / 2
                                     : grown;
      double const lo = from.low_of(hi);
      auto const got = reference::machine::testing::log_word(hi, lo);
      worst = std::max(worst, in_radii(got, log(sum_of(hi, lo))));
    }
    check_bound(worst);
  });
}

TEST_CASE("1/√d as a double word is within its radius for every d up to 2^20", "[unit]") {
  on_every_target([] {
    double worst = 0;
    for (unsigned d = 1; d <= 1u << 20; d += d < 5000 ? 1 : 61) {
      auto const got = reference::machine::testing::inverse_root(d);
      worst = std::max(worst, in_radii(got, inverse_sqrt(real(d, bits))));
    }
    check_bound(worst);
  });
}

}  // namespace attest::tests::words_test
