// The kernel's declaration of its roundings.
#include "fast/algorithm/model.hpp"

#include <cmath>

#include "fast/scale.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::model_test {
namespace {

constexpr problem::sizes of(std::int64_t d, std::int64_t m = 2) { return {1, 1, 1, 2, m, d, 1}; }

static_assert(fast::model<float>(of(8)).k_qk_base == 1 && fast::model<float>(of(8)).k_qk_per_d == 1);
static_assert(fast::model<float>(of(8)).fold_q && fast::model<float>(of(8)).flushes);
static_assert(fast::model<float>(of(8), false).k_add == 0 && fast::model<float>(of(8), true).k_add == 1);
static_assert(fast::model<float>(of(8)).block == fast::blocking_of<float>.keys);
static_assert(fast::model<float>(of(8, 0)).splits == 1 && fast::model<float>(of(8, 4096)).splits == 1 &&
                  fast::model<float>(of(8, 4097)).splits == 2,
              "one partial row for each split that has keys");

constexpr long double log2_e = 1.4426950408889634073599246810018921L;

/// |high + low − σ·log₂ e·2^−exponent|, relative.
template <class T>
long double scale_error(fast::score_scale<T> const& scale, long double sigma) {
  // The power of two is applied by itself, exactly.
  long double const truth = std::ldexp(sigma * log2_e, -scale.exponent);
  return std::abs(static_cast<long double>(scale.high) + static_cast<long double>(scale.low) - truth) / std::abs(truth);
}

}  // namespace

TEST_CASE("the default scale is 1/√d to far below one rounding", "[unit]") {
  for (std::int64_t d = 1; d < 5000; ++d) {
    long double const sigma = 1 / std::sqrt(static_cast<long double>(d));
    auto const single = fast::score_scale<float>::of({}, d);
    auto const twice = fast::score_scale<double>::of({}, d);
    CHECK(scale_error(single, sigma) < 0x1p-47L);
    CHECK(scale_error(twice, sigma) < 0x1p-61L);  // what long double can tell
  }
}

TEST_CASE("an explicit scale is that number, however large or small", "[unit]") {
  for (double const sigma : {0.3, -0.75, 1.0, -1.0, 1e-12, 1e-13, 3e-38, 1e-50, 1e-300, 4e-320, 1e30, 3e38, 1e300}) {
    auto const single = fast::score_scale<float>::of(sigma, 64);
    auto const twice = fast::score_scale<double>::of(sigma, 64);
    CHECK(scale_error(single, static_cast<long double>(sigma)) < 0x1p-47L);
    CHECK(scale_error(twice, static_cast<long double>(sigma)) < 0x1p-61L);
    CHECK(std::abs(single.high) <= 2);
    CHECK(std::abs(single.high) >= 1);
  }
  CHECK(fast::score_scale<float>::of(0.0, 64).high == 0);
  CHECK(fast::score_scale<float>::of(0.0, 64).low == 0);
}

}  // namespace attest::tests::model_test
