// reference/{magnitude,ball,weighted_sum,decimal}.hpp: containment against MPFR, and the radii that they promise.
#include "reference/real/ball.hpp"

#include <array>
#include <vector>

#include "reference/real/decimal.hpp"
#include "reference/real/weighted_sum.hpp"
#include "tests/support/many.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/random_ball.hpp"

namespace attest::tests::ball_test {
using reference::ball;
using reference::decision;
using reference::magnitude;

namespace {

magnitude drawn_magnitude() {
  return {*rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64), *rc::gen::inRange<std::int64_t>(-300, 300)};
}

/// exact ≤ m ≤ exact·(1 + 2^−30)
bool tight(magnitude m, real const& exact) { return exact <= as_real(m) && as_real(m) <= exact + scaled(exact, -30); }

template <unsigned W>
void operations() {
  many(10, "+ − × ÷ contain, and lose one place at most, at " + std::to_string(W) + " bits", [] {
    ball<W> const a = drawn_ball<W>(), b = drawn_ball<W>();
    real const x = drawn_point(a), y = drawn_point(b);
    RC_ASSERT(contains(a + b, x + y));
    RC_ASSERT(contains(a - b, x - y));
    RC_ASSERT(contains(a * b, x * y));
    RC_ASSERT(contains(-a, real(0) - x));
    RC_ASSERT(contains(absolute(a), x) || contains(absolute(a), real(0) - x));
    real const sum = radius(a) + radius(b);
    RC_ASSERT(radius(a + b) <= sum + scaled(sum, -29) + scaled(last_place(a + b), 1));
    real const product = abs(middle(a)) * radius(b) + abs(middle(b)) * radius(a) + radius(a) * radius(b);
    RC_ASSERT(radius(a * b) <= product + scaled(product, -27) + scaled(last_place(a * b), 1));
    if (certain_sign(b) != 0) {
      RC_ASSERT(contains(a / b, x / y));
      real const quotient = abs(middle(a) / middle(b));
      real const spread = (radius(a) + quotient * radius(b)) / (abs(middle(b)) - radius(b));
      // The lower end of |b| is known to 2^−31 of |b|, so near 0 the quotient says less.
      if (scaled(radius(b), 1) <= abs(middle(b)))
        RC_ASSERT(radius(a / b) <= scaled(spread, 0) + scaled(spread, -26) + scaled(last_place(a / b), 2));
    }
  });
  many(10, "results of exact balls that fit are exact, at " + std::to_string(W) + " bits", [] {
    auto const small = [] { return ball<W>(*rc::gen::inRange<std::int64_t>(-1000, 1000)); };
    ball<W> const a = small(), b = small();
    RC_ASSERT((a + b).is_exact() && (a * b).is_exact() && (a - b).is_exact());
    if (b.mid.sign() != 0) RC_ASSERT((a * b / b).is_exact() && overlap(a * b / b, a));
  });
}

template <unsigned W>
void conversions() {
  using wide = typename ball<W>::wide;
  many(10, "rounded, from and widened contain, within two places, at " + std::to_string(W) + " bits", [] {
    auto const value = drawn_integer<2 * W + 64>(static_cast<int>(2 * W + 60));
    std::int64_t const e = *rc::gen::inRange<std::int64_t>(-500, 500);
    magnitude const r = drawn_magnitude();
    real const exact = as_real(value, e);
    ball<W> const a = ball<W>::rounded(wide(value), e, r);
    RC_ASSERT(abs(exact - middle(a)) + as_real(r) <= radius(a) + scaled(last_place(a), 0));
    RC_ASSERT(contains(ball<W>::rounded(wide(value), e), exact));
    RC_ASSERT(contains(ball<W>::from(value, e), exact));
    RC_ASSERT(radius(ball<W>::from(value, e)) <= scaled(last_place(ball<W>::from(value, e)), 1));
    RC_ASSERT(reference::bit_length(a.mid) <= static_cast<int>(W));
    auto const longer = drawn_integer<3000>(2990);
    RC_ASSERT(contains(ball<W>::from(longer, e), as_real(longer, e)));
    RC_ASSERT(radius(ball<W>::from(longer, e)) <= scaled(last_place(ball<W>::from(longer, e)), 2));
    ball<W> const b = drawn_ball<W>();
    real const x = drawn_point(b);
    RC_ASSERT(contains(reference::widened<2 * W>(b), x));
    RC_ASSERT(contains(reference::widened<64>(b), x));
  });
  many(10, "signs and sizes are true of every number inside, at " + std::to_string(W) + " bits", [] {
    ball<W> const a = drawn_ball<W>(), b = drawn_ball<W>();
    real const x = drawn_point(a), y = drawn_point(b);
    if (int const sign = certain_sign(a); sign != 0) RC_ASSERT(x.sign() == sign);
    RC_ASSERT(abs(x) <= as_real(a.upper_size()));
    RC_ASSERT(as_real(a.lower_size()) <= abs(x));
    decision const order = at_most(a, b);
    if (order == decision::yes) RC_ASSERT(x <= y);
    if (order == decision::no) RC_ASSERT(y < x);
    if (!overlap(a, b)) RC_ASSERT(!(x == y));
  });
}

}  // namespace

TEST_CASE("magnitudes are upper bounds, and at most 2^-30 too large", "[property]") {
  many(10, "magnitude", [] {
    magnitude const a = drawn_magnitude(), b = drawn_magnitude();
    RC_ASSERT(tight(a + b, as_real(a) + as_real(b)));
    RC_ASSERT(tight(a * b, as_real(a) * as_real(b)));
    if (!b.is_zero()) RC_ASSERT(tight(divide_by_lower(a, b), as_real(a) / as_real(b)));
    RC_ASSERT((a <= b) == (as_real(a) <= as_real(b)));
    RC_ASSERT(as_real(a.scaled(-7)) == scaled(as_real(a), -7));
    if (!a.is_zero()) {
      RC_ASSERT(as_real(a) <= scaled(real(1), a.ceil_log2()));
      RC_ASSERT(scaled(real(1), a.ceil_log2() - 1) < as_real(a));
    }
    auto const value = *rc::gen::arbitrary<std::uint64_t>();
    RC_ASSERT(tight(magnitude(value, 0), real::whole(value)));
  });
}

TEST_CASE("ball arithmetic contains the exact result", "[property]") {
  operations<64>();
  operations<128>();
  operations<320>();
}

TEST_CASE("conversions, signs and comparisons are true of every number of a ball", "[property]") {
  conversions<64>();
  conversions<192>();
}

TEST_CASE("a ball that excludes 0 narrowly can be divided by", "[unit]") {
  // [0.99…, 2.99…]: midpoint and radius have the same leading exponent.
  ball<64> b = ball<64>(2) - ball<64>(1).scaled_by_power_of_two(-20);
  b.radius = magnitude(1, 0);
  REQUIRE(certain_sign(b) == 1);
  ball<64> const a = ball<64>(1) / b;
  CHECK(contains(a, real(1) / (middle(b) - radius(b))));
  CHECK(contains(a, real(1) / (middle(b) + radius(b))));
}

TEST_CASE("three-valued comparisons say undecided exactly where balls touch", "[unit]") {
  ball<64> wide(3);
  wide.radius = magnitude(1, 0);
  CHECK(at_most(ball<64>(1), wide) == decision::yes);
  CHECK(at_most(ball<64>(3), wide) == decision::undecided);
  CHECK(at_most(ball<64>(5), wide) == decision::no);
  CHECK(at_most(ball<64>(2), ball<64>(2)) == decision::yes);
  CHECK(certain_sign(wide) == 1);
  wide.radius = magnitude(3, 0);
  CHECK(certain_sign(wide) == 0);
  CHECK(certain_sign(ball<64>(0)) == 0);
  CHECK(certain_sign(ball<64>(-1)) == -1);
}

TEST_CASE("numbers far apart add without being aligned", "[unit]") {
  ball<64> const huge = ball<64>(3).scaled_by_power_of_two(std::int64_t{1} << 40);
  ball<64> const tiny = ball<64>(-5).scaled_by_power_of_two(-(std::int64_t{1} << 40));
  ball<64> const sum = huge + tiny;
  CHECK(overlap(sum - huge, tiny));
  CHECK(sum.radius <= magnitude::power_of_two(64 - (std::int64_t{1} << 40)));
}

TEST_CASE("short numbers far apart lose no more than one place", "[unit]") {
  // Midpoints of one bit, 97 places apart: at 64 bits the sum once had a radius of 2^-33.
  ball<64> const tiny = ball<64>(1).scaled_by_power_of_two(-97);
  CHECK((ball<64>(1) + tiny).radius <= magnitude::power_of_two(-63));
  CHECK((ball<64>(1) - (ball<64>(1) / ball<64>(3)).scaled_by_power_of_two(-33)).radius <= magnitude::power_of_two(-62));
  CHECK(contains(ball<64>(1) + tiny, real(1) + middle(tiny)));
}

TEST_CASE("weighted sums contain the exact sum, within their promised radius", "[property]") {
  many(10, "weighted_sum", [] {
    constexpr unsigned W = 96;
    auto const n = *rc::gen::inRange<std::int64_t>(0, 9);
    std::vector<ball<W>> weights;
    std::vector<reference::element> values;
    real exact, spread, largest;
    for (std::int64_t j = 0; j < n; ++j) {
      ball<W> const w = drawn_ball<W>();
      float const v = std::bit_cast<float>(*rc::gen::arbitrary<std::uint32_t>());
      if (!reference::value_of(v).is_finite()) continue;
      weights.push_back(w);
      values.push_back(reference::value_of(v));
      real const x(static_cast<double>(v));
      exact = exact + drawn_point(w) * x;
      spread = spread + radius(w) * abs(x);
      if (largest < abs(middle(w) * x)) largest = abs(middle(w) * x);
    }
    auto const count = static_cast<std::int64_t>(weights.size());
    ball<W> const sum = reference::weighted_sum<W>(
        count, [&](std::int64_t j) -> ball<W> const& { return weights[static_cast<std::size_t>(j)]; },
        [&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; });
    RC_ASSERT(contains(sum, exact));
    RC_ASSERT(radius(sum) <= (spread + scaled(real(static_cast<double>(count)) * largest, -static_cast<int>(W) - 14)) *
                                     (real(1) + scaled(real(1), -24)) +
                                 scaled(last_place(sum), 1));
  });
}

TEST_CASE("a printed decimal is right, wrong or undecided", "[unit]") {
  ball<64> const third = ball<64>(1) / ball<64>(3);
  CHECK(rounds_to(third, "0.333") == decision::yes);
  CHECK(rounds_to(third, "0.334") == decision::no);
  CHECK(rounds_to(third, "0.332") == decision::no);
  CHECK(rounds_to(third, "0") == decision::yes);
  CHECK(rounds_to(-third, "-0.3333333") == decision::yes);
  CHECK(rounds_to(-third, "0.3333333") == decision::no);
  CHECK(rounds_to(ball<64>(12), "12") == decision::yes);
  CHECK(rounds_to(third, "0.33333333333333333333333333333333") == decision::undecided);
  ball<64> near_half = ball<64>(1).scaled_by_power_of_two(-1);
  near_half.radius = magnitude::power_of_two(-40);
  CHECK(rounds_to(near_half, "0") == decision::undecided);
  CHECK(rounds_to(near_half, "1") == decision::undecided);
}

}  // namespace attest::tests::ball_test
