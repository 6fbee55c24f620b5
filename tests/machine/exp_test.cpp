// The exponential of the machine tier against exact balls.
#include "reference/real/exp.hpp"

#include <cmath>
#include <random>

#include "reference/machine/testing.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::exp_test {
namespace {

using reference::ball;

/// |exp(x) − e^x| in units of 2⁻⁵³·e^x, rounded up.
double error_in_u(double x, bool lanes) {
  double const got = reference::machine::testing::exp(x, lanes);
  ball<128> const exact = reference::exp(ball<128>::from(reference::value_of(x)));
  ball<128> const off = reference::absolute(ball<128>::from(reference::value_of(got)) - exact) / exact;
  return reference::upper(off) * 0x1p53;
}

}  // namespace

TEST_CASE("exp is within 2u on every target, on lanes and alone", "[unit]") {
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    for (bool const lanes : {false, true}) {
      CAPTURE(target, lanes);
      CHECK(reference::machine::testing::exp(0, lanes) == 1);
      std::mt19937_64 random(7);
      double worst = 0;
      auto const look = [&](double x) { worst = std::max(worst, error_in_u(x, lanes)); };
      for (int n = 0; n < 4000; ++n) {
        double const unit = static_cast<double>(random() >> 11) * 0x1p-53;
        look(-unit), look(-unit * 50), look(-unit * 708), look(unit * 708);
        look(-std::ldexp(unit, -static_cast<int>(random() % 60)));
      }
      // Where the reduced argument is largest, either side of it, and the ends.
      for (int n = -1020; n <= 1020; ++n)
        for (int step = -3; step <= 3; ++step) {
          double x = (n + 0.5) * 0.6931471805599453;
          for (int i = 0; i < std::abs(step); ++i) x = std::nextafter(x, step < 0 ? -1e3 : 1e3);
          if (x >= -708 && x <= 708) look(x);
        }
      look(-708), look(-700), look(708);
      INFO("worst " << worst << "u");
      CHECK(worst <= 2);
      CHECK(worst >= 0.5);
    }
  }
  reference::machine::use_simd_target("");
}

}  // namespace attest::tests::exp_test
