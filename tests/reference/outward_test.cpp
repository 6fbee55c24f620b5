// reference/real/outward.hpp: every double that is rounded outward lies outside, and not far.
#include "reference/real/outward.hpp"

#include <cmath>

#include "reference/real/exp.hpp"
#include "reference/real/log.hpp"
#include "tests/support/many.hpp"

namespace attest::tests::outward_test {
using reference::above;
using reference::ball;
using reference::exp_upper;
using reference::infinity;
using reference::log_upper;
using reference::magnitude;

namespace {

double drawn_double() {
  for (;;) {
    double const x = std::bit_cast<double>(*rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
    if (std::isfinite(x)) return x;
  }
}

ball<128> exactly(double x) { return ball<128>::from(reference::value_of(x)); }
bool at_most(ball<128> const& a, ball<128> const& b) { return reference::at_most(a, b) != reference::decision::no; }

}  // namespace

TEST_CASE("above, rounded_up and rounded_down are neighbours on the right side", "[property]") {
  many(10, "neighbours", [] {
    double const x = drawn_double();
    RC_ASSERT(above(std::abs(x)) == std::nextafter(std::abs(x), infinity));
    RC_ASSERT(reference::rounded_up(x) == std::nextafter(x, infinity));
    RC_ASSERT(reference::rounded_down(x) == std::nextafter(x, -infinity));
  });
}

TEST_CASE("the ends of the doubles stay on the safe side", "[unit]") {
  double const largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();
  CHECK(above(largest) == infinity);
  CHECK(above(infinity) == infinity);
  CHECK(above(0) == smallest);
  CHECK(above(-0.0) == smallest);
  CHECK(reference::rounded_up(0) == smallest);
  CHECK(reference::rounded_up(-smallest) <= 0);
  CHECK(reference::rounded_up(-infinity) == -largest);
  CHECK(reference::rounded_down(infinity) == largest);
  CHECK(reference::rounded_up(std::nan("")) == infinity);
  CHECK(reference::power_of_two(1024) == infinity);
  CHECK(reference::power_of_two(-1074) == smallest);
  CHECK(reference::power_of_two(-1075) == 0);
  CHECK(exp_upper(710) == infinity);
  CHECK(exp_upper(-infinity) > 0);
  CHECK(log_upper(infinity) == infinity);
  CHECK(log_upper(0) == -infinity);  // once an endless loop
  CHECK(log_upper(smallest) >= -744.5);
}

TEST_CASE("scaled integers and magnitudes enclose, within one place", "[property]") {
  many(10, "scaled", [] {
    auto const value = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
    auto const e = *rc::gen::inRange<std::int64_t>(-1200, 1100);
    double const low = reference::scaled(value, e, false), high = reference::scaled(value, e, true);
    auto const exact = ball<128>::rounded(ball<128>::wide(value), e);
    RC_ASSERT(at_most(exactly(low), exact));
    if (std::isfinite(high)) {
      RC_ASSERT(at_most(exact, exactly(high)));
      RC_ASSERT(high <= std::nextafter(std::nextafter(low, infinity), infinity));
    }
    magnitude const m(value, e);
    RC_ASSERT(reference::lower(m) <= reference::upper(m));
    if (std::isfinite(reference::upper(m))) RC_ASSERT(at_most(exact, exactly(reference::upper(m))));
  });
}

TEST_CASE("the ends of a ball enclose it within 2^-51", "[property]") {
  many(10, "upper and lower", [] {
    auto a = ball<128>(*rc::gen::arbitrary<std::int64_t>()) * ball<128>(*rc::gen::arbitrary<std::int64_t>());
    a = a.scaled_by_power_of_two(*rc::gen::inRange<std::int64_t>(-1300, 800));
    if (*rc::gen::element(0, 1) == 1)
      a.radius = magnitude(*rc::gen::arbitrary<std::uint32_t>(), *rc::gen::inRange<std::int64_t>(-1300, 100));
    ball<128> middle = a, reach;
    middle.radius = {};
    reach.mid = a.radius.mantissa(), reach.exponent = a.radius.exponent();
    double const low = lower(a), high = upper(a);
    RC_ASSERT(at_most(exactly(low), middle - reach));
    RC_ASSERT(at_most(middle + reach, exactly(high)));
    double const size = reference::upper_size(a);
    RC_ASSERT(std::abs(low) <= size * (1 + 0x1p-50) + 0x1p-1070);
    RC_ASSERT(std::abs(high) <= size * (1 + 0x1p-50) + 0x1p-1070);
    if (a.is_exact()) RC_ASSERT(high - low <= std::abs(high) * 0x1p-50 + 0x1p-1070);
  });
}

TEST_CASE("exp_upper is above e^x and within 2^-40 of it", "[property]") {
  many(20, "exp_upper", [] {
    double const x = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(-745'000'000, 709'000'000)) * 1e-6 +
                     *rc::gen::inRange(-1000, 1000) * 1e-14;
    auto const exact = exp(exactly(x));
    double const got = exp_upper(x);
    RC_ASSERT(at_most(exact, exactly(got)));
    RC_ASSERT(got <= upper(exact) * (1 + 0x1p-40) + 0x1p-1073);
    // The machine's own long double agrees.
    RC_ASSERT(std::exp(static_cast<long double>(x)) * (1 - 0x1p-60L) <= static_cast<long double>(got));
  });
  CHECK(exp_upper(0) >= 1);
  CHECK(exp_upper(0) <= 1 + 0x1p-40);
}

TEST_CASE("log_upper is above ln x and within 2^-40 of it", "[property]") {
  many(20, "log_upper", [] {
    double const x =
        *rc::gen::element(0, 1) == 0 ? std::abs(drawn_double()) : 1 + *rc::gen::inRange(-1000, 1000) * 1e-9;
    RC_PRE(x > 0);
    auto const exact = log(exactly(x));
    double const got = log_upper(x);
    RC_ASSERT(at_most(exact, exactly(got)));
    RC_ASSERT(got <= upper(exact) + (1 + std::abs(got)) * 0x1p-40);
  });
}

TEST_CASE("root is within 2^-50 of the square root", "[property]") {
  many(10, "root", [] {
    double const x = std::abs(drawn_double());
    RC_ASSERT(std::abs(reference::root(x) - std::sqrt(x)) <= std::sqrt(x) * 0x1p-50);
  });
  for (double x = 0x1p-1074; x < 0x1p-960; x *= 2)
    CHECK(std::abs(reference::root(x) - std::sqrt(x)) <= std::sqrt(x) * 0x1p-50);
}

}  // namespace attest::tests::outward_test
