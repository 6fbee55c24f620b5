// The kernel's logarithm compared with one of 50 digits.
#include "fast/algorithm/logarithm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "tests/support/catch.hpp"

namespace attest::fast::logarithm_test {
namespace {

using exact = boost::multiprecision::cpp_bin_float_50;

double relative_error(double x) {
  exact const truth = log(exact(x));
  return static_cast<double>(abs((exact(natural_log(x)) - truth) / truth));
}

TEST_CASE("the logarithm is off by at most what it states", "[unit]") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  double worst = 0;
  auto const ask = [&](double x) {
    if (x > 0 && x != 1 && std::isfinite(x)) worst = std::max(worst, relative_error(x));
  };
  for (int n = 0; n < 20000; ++n) {
    ask(std::bit_cast<double>(random() >> 1));  // any size
    ask(1 + 63 * unit(random));                 // sums of weights
    ask(0.5 + unit(random));                    // where ln x is small
    ask(1 + std::ldexp(unit(random) - 0.5, -static_cast<int>(random() % 50)));
  }
  for (int e = -1074; e < 1024; ++e)  // exact powers, the edges between binades, and those between the intervals of m
    for (double const m : {1.0, 0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bcep-1, 0x1.fffffffffffffp-1})
      ask(std::ldexp(m, e));
  INFO("largest error: " << worst * 0x1p53 << " u");
  CHECK(worst <= log_error);
  CHECK(worst > 0x1p-54);  // the measurement can see an error
}

TEST_CASE("the logarithm of special values", "[unit]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(natural_log(1) == 0);
  CHECK(natural_log(0) == -infinity);
  CHECK(natural_log(-0.0) == -infinity);
  CHECK(natural_log(infinity) == infinity);
  CHECK(std::isnan(natural_log(-1)));
  CHECK(std::isnan(natural_log(-infinity)));
  CHECK(std::isnan(natural_log(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace attest::fast::logarithm_test
