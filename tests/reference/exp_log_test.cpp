// reference/{exp,log,sqrt}.hpp: containment against MPFR over the whole domain, the radii that they promise, and widths
// that agree.
#include "reference/real/exp.hpp"
#include "reference/real/log.hpp"
#include "reference/real/sqrt.hpp"
#include "tests/support/many.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/random_ball.hpp"

namespace attest::tests::exp_log_test {
using reference::ball;
using reference::magnitude;

namespace {

/// r ≤ promised, up to the 2^−28 that magnitudes round up.
bool within(real const& r, real const& promised) { return r <= promised + scaled(promised, -28); }

/// A ball whose middle is at most 0, of any size down to −2^70, and whose upper end is below 2^60 as exp requires: what
/// is drawn above that becomes exact.
template <unsigned W>
ball<W> drawn_exponent() {
  ball<W> a = drawn_ball<W>();
  int const length = a.mid.sign() == 0 ? 0 : reference::bit_length(a.mid);
  std::int64_t const top = *rc::gen::inRange<std::int64_t>(-200, 70);
  a = a.scaled_by_power_of_two(top - a.exponent - length);
  if (a.mid.sign() > 0) a = -a;
  if (scaled(real(1), 60) <= middle(a) + radius(a)) a.radius = magnitude();
  return a;
}

template <unsigned W>
void exponentials() {
  many(10, "e^x contains, as close as promised, at " + std::to_string(W) + " bits", [] {
    ball<W> const a = drawn_exponent<W>();
    real const x = drawn_point(a);
    ball<W> const e = exp(a);
    if (a.mid.sign() != 0 && a.exponent + reference::bit_length(a.mid) > 60) {
      // MPFR's e^x underflows to 0 down here: so does its containment.
      RC_ASSERT(contains(e, real(0)));
      RC_ASSERT(x.sign() > 0 || certain_sign(e) >= 0);
      return;
    }
    RC_ASSERT(contains(e, exp(x)));
    if (abs(middle(a)) < scaled(real(1), 30) && radius(a) <= real(1)) {
      real const value = exp(middle(a)), r = radius(a);
      RC_ASSERT(within(radius(e), value * (scaled(r + r * r, 1) + scaled(real(1), 2 - static_cast<int>(W)))));
    }
    RC_ASSERT(overlap(reference::widened<2 * W>(e), exp(reference::widened<2 * W>(a))));
  });
}

template <unsigned W>
void logarithms() {
  many(10, "ln x contains, as close as promised, at " + std::to_string(W) + " bits", [] {
    ball<W> a = drawn_ball<W>(2000);
    if (a.mid.sign() < 0) a = -a;
    if (*rc::gen::inRange(0, 3) == 0)  // near 1
      a = ball<W>(1) +
          ball<W>(*rc::gen::inRange(-9, 10)).scaled_by_power_of_two(-*rc::gen::inRange<std::int64_t>(4, 200));
    RC_PRE(certain_sign(a) > 0);
    real const x = drawn_point(a);
    ball<W> const l = log(a);
    RC_ASSERT(contains(l, log(x)));
    std::int64_t const k = a.exponent + reference::bit_length(a.mid);
    real const units = real(6.0 * ((W + 96) / 5 + 1) + 14 + 2 * std::abs(static_cast<double>(k)));
    real const promised =
        radius(a) / as_real(a.lower_size()) + scaled(units, -static_cast<int>(W) - 96) + last_place(l);
    RC_ASSERT(within(radius(l), promised));
    RC_ASSERT(overlap(reference::widened<2 * W>(l), log(reference::widened<2 * W>(a))));
  });
}

}  // namespace

TEST_CASE("exp contains e^x and keeps its promised radius", "[property]") {
  exponentials<64>();
  exponentials<128>();
  exponentials<192>();
}

TEST_CASE("log contains ln x and keeps its promised radius", "[property]") {
  logarithms<64>();
  logarithms<128>();
  logarithms<256>();
}

TEST_CASE("1/sqrt(n) is within two places, and exact where it fits", "[property]") {
  many(10, "inverse_sqrt", [] {
    auto const n = *rc::gen::oneOf(
        rc::gen::inRange<std::int64_t>(1, 2000), rc::gen::positive<std::int64_t>(),
        rc::gen::map(rc::gen::inRange<std::int64_t>(1, 3'000'000'000), [](std::int64_t r) { return r * r; }));
    real const exact =
        real(1) / sqrt(real(static_cast<double>(n >> 32)) * real(0x1p32) + real(static_cast<double>(n & 0xffff'ffff)));
    ball<64> const narrow = reference::inverse_sqrt<64>(n);
    ball<160> const wide = reference::inverse_sqrt<160>(n);
    RC_ASSERT(contains(narrow, exact) && contains(wide, exact));
    RC_ASSERT(within(radius(narrow), scaled(last_place(narrow), 1)));
    RC_ASSERT(within(radius(wide), scaled(last_place(wide), 1)));
  });
  for (int k = 0; k < 31; ++k) CHECK(reference::inverse_sqrt<64>(std::int64_t{1} << (2 * k)).is_exact());
}

TEST_CASE("the ends of exp: 0, tiny, beyond 2^60, and balls that reach across it", "[unit]") {
  using W128 = ball<128>;
  CHECK(exp(W128(0)).is_exact());
  CHECK(overlap(exp(W128(0)), W128(1)));
  W128 const tiny = W128(-3).scaled_by_power_of_two(-4000);
  CHECK(contains(exp(tiny), exp(middle(tiny))));
  CHECK(exp(tiny).radius <= magnitude::power_of_two(-126));

  W128 const far = W128(-3).scaled_by_power_of_two(70);
  CHECK(exp(far).radius <= magnitude::power_of_two(-(std::int64_t{1} << 58)));

  // Centre below −2^60 and a radius that comes back above 0: e^5 is inside.
  W128 reaching = W128(-1).scaled_by_power_of_two(61);
  reaching.radius = magnitude(1, 61) + magnitude(5, 0);
  CHECK(contains(exp(reaching), exp(real(5))));

  // Radius above 1: only the upper end is known.
  W128 wide(-100);
  wide.radius = magnitude(90, 0);
  CHECK(contains(exp(wide), exp(real(-10))));
  CHECK(contains(exp(wide), exp(real(-190))));
}

TEST_CASE("the ends of log: exactly 1, powers of two, one place beside 1", "[unit]") {
  CHECK(log(ball<64>(1)).is_exact());
  CHECK(log(ball<64>(1)).mid.sign() == 0);
  for (std::int64_t const k : {-(std::int64_t{1} << 50), std::int64_t{-1}, std::int64_t{1}, std::int64_t{1} << 50}) {
    ball<64> const power = ball<64>(1).scaled_by_power_of_two(k);
    CHECK(contains(log(power), log(real(2)) * real(static_cast<double>(k))));
  }
  ball<64> const above = ball<64>(1) + ball<64>(1).scaled_by_power_of_two(-63);
  REQUIRE(above.is_exact());
  CHECK(contains(log(above), log(middle(above))));
  CHECK(certain_sign(log(above)) == 1);
  CHECK(certain_sign(log(ball<64>(1) - ball<64>(1).scaled_by_power_of_two(-64))) == -1);
}

TEST_CASE("ln 2 is within two units at every width in use", "[unit]") {
  auto const close = []<unsigned F>() {
    real const error = log(real(2)) - as_real(reference::ln2_fixed<F>, -static_cast<std::int64_t>(F));
    return error.sign() >= 0 && error < scaled(real(2), -static_cast<int>(F));
  };
  CHECK(close.operator()<160>());
  CHECK(close.operator()<224>());
  CHECK(close.operator()<608>());
}

}  // namespace attest::tests::exp_log_test
