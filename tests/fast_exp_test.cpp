// fast/exp.hpp against the C library: every f32 argument in the slow test, a stride through them in the quick one.
#include "fast/exp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace attest;

namespace {

static_assert(fast::exp(0.0f) == 1.0f && fast::exp(0.0) == 1.0, "exp(0) is 1 exactly, and exp is constexpr");
static_assert(fast::exp(-0.0f) == 1.0f && fast::exp(-0.0) == 1.0);
static_assert(fast::exp(-std::numeric_limits<float>::infinity()) == 0 &&
              fast::exp(-std::numeric_limits<double>::infinity()) == 0);

/// The largest |exp(x)/e^x − 1| over every `stride`-th f32 in [−cutoff, 0]. A double e^x errs by 2^−52 at most.
double largest_error_f32(std::uint32_t stride) {
  std::uint32_t const first = std::bit_cast<std::uint32_t>(-0.0f);
  std::uint32_t const last = std::bit_cast<std::uint32_t>(-fast::exp_format<float>::cutoff);
  double largest = 0;
  for (std::uint32_t bits = first; bits <= last; bits += stride) {
    auto const x = std::bit_cast<float>(bits);
    double const truth = std::exp(static_cast<double>(x));
    largest = std::max(largest, std::abs(static_cast<double>(fast::exp(x)) - truth) / truth);
  }
  return largest;
}

void require_f32_error(std::uint32_t stride) {
  double const largest = largest_error_f32(stride), u = std::ldexp(1.0, -24);
  INFO("largest relative error " << largest / u << " u, declared " << fast::exp_error<float> / u << " u");
  CHECK(largest + std::ldexp(1.0, -52) < fast::exp_error<float>);
  CHECK(largest / u < 1.5);  // what exp.hpp says was measured
}

}  // namespace

TEST_CASE("f32 exp errs by less than it declares, on a stride of its domain", "[unit]") { require_f32_error(997); }

TEST_CASE("f32 exp errs by less than it declares, on every argument", "[slow]") { require_f32_error(1); }

TEST_CASE("f64 exp errs by less than it declares", "[unit]") {
  if (std::numeric_limits<long double>::digits < 64) return;  // nothing to compare with
  std::mt19937_64 random(1);
  long double largest = 0;
  double const cutoff = fast::exp_cutoff<double>;
  auto const look = [&](double x) {
    if (x < -cutoff) return;
    long double const truth = std::exp(static_cast<long double>(x));
    largest = std::max(largest, std::abs(static_cast<long double>(fast::exp(x)) - truth) / truth);
  };
  for (int k = 0; k < 300'000; ++k) {
    double const unit = static_cast<double>(random() >> 11) * 0x1p-53;
    look(-cutoff * unit);
    look(-unit);                                                     // n = 0 and −1
    look(-std::ldexp(1 + unit, static_cast<int>(random() % 64) - 54));  // every binade from 2^−54 to 2^9
    look(-(std::floor(unit * 1021) + 0.5) * 0.693147180559945309 * (1 + 0x1p-48 * unit));  // |r| close to ln 2/2
  }
  double const u = std::ldexp(1.0, -53), measured = static_cast<double>(largest) / u;
  INFO("largest relative error " << measured << " u, declared " << fast::exp_error<double> / u << " u");
  CHECK(measured < fast::exp_error<double> / u);
  CHECK(measured < 1.5);
}

TEMPLATE_TEST_CASE("beyond the cutoff a weight is 0, and no result is subnormal", "[unit]", float, double) {
  using format = fast::exp_format<TestType>;
  CHECK(fast::exp(-format::cutoff) >= std::numeric_limits<TestType>::min());
  for (TestType x = std::nextafter(-format::cutoff, TestType(-1e4)); x > -std::numeric_limits<TestType>::max() / 4;
       x *= 3)
    CHECK(fast::exp(x) == 0);
  CHECK(fast::exp(std::numeric_limits<TestType>::lowest()) == 0);
  CHECK(fast::exp(-std::numeric_limits<TestType>::denorm_min()) == 1);
}

TEMPLATE_TEST_CASE("NaN in, NaN out", "[unit]", float, double) {
  CHECK(std::isnan(fast::exp(std::numeric_limits<TestType>::quiet_NaN())));
  CHECK(std::isnan(fast::exp(-std::numeric_limits<TestType>::quiet_NaN())));
}

TEMPLATE_TEST_CASE("n·ln2_high is exact for every exponent n, and high + low is ln 2", "[unit]", float, double) {
  using format = fast::exp_format<TestType>;
  for (int n = 0; n >= -format::bias; --n) {
    TestType const rounded = static_cast<TestType>(n) * format::ln_2_high;
    CHECK(std::fma(static_cast<TestType>(n), format::ln_2_high, -rounded) == 0);
  }
  CHECK(static_cast<long double>(format::ln_2_high) + static_cast<long double>(format::ln_2_low) ==
        Approx(std::log(2.0L)).epsilon(1e-12));
}

TEMPLATE_TEST_CASE("a loop over exp answers what single calls answer, bit for bit", "[unit]", float, double) {
  std::vector<TestType> x(1003), together(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = -static_cast<TestType>(k) * TestType(0.0931);
  for (std::size_t k = 0; k < x.size(); ++k) together[k] = fast::exp(x[k]);
  for (std::size_t k = 0; k < x.size(); ++k) {
    TestType volatile alone = x[k];
    CHECK(fast::exp(TestType(alone)) == together[k]);
  }
}
