// The small functions of the reference: tanh, softmax and what is made of them, moments, scores, memory. Each is held
// to the identities that define it; tests/reference/functions_mpfr_test.cpp compares them with MPFR.
#include <array>
#include <cstdint>

#include "reference/attention/attention.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/decimal.hpp"
#include "reference/real/tanh.hpp"
#include "reference/textbook/cosine.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "reference/textbook/memory.hpp"
#include "reference/textbook/projection.hpp"
#include "reference/textbook/scoring/additive.hpp"
#include "reference/textbook/scoring/bilinear.hpp"
#include "reference/textbook/scoring/scaled_dot.hpp"
#include "reference/textbook/softmax_axis.hpp"
#include "reference/textbook/softmax_jacobian.hpp"
#include "reference/textbook/variance.hpp"
#include "tests/reference/drawn_numbers.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::functions_test {
using namespace attest::reference;

TEST_CASE("tanh: known digits, odd, and exact at 0", "[unit]") {
  STATIC_REQUIRE(rounds_to(tanh(number(1)), "0.7615941559557648881194582826047937") == decision::no);
  CHECK(rounds_to(tanh(number(1)), "0.76159415595576488811945828260479359") == decision::yes);
  CHECK(rounds_to(tanh(number(1) / number(10)), "0.09966799462495581711830508367835218") == decision::yes);
  CHECK(rounds_to(tanh(number(-20)), "-0.99999999999999999150329149") == decision::yes);
  CHECK(is_exactly(tanh(number(0)), 0));
  CHECK(overlap(tanh(number(1'000'000)), number(1)));
  CHECK(radius_within(tanh(number(1'000'000)), -120));
}

TEST_CASE("tanh: a ball far from 0 is 1 or -1, however wide", "[unit]") {
  for (int const sign : {1, -1}) {
    number far = dyadic(sign, 600);  // 2^600 ± 2^470: what is left of a product of 600 bits and 1/√d
    far.radius = attest::reference::magnitude::power_of_two(470);
    CHECK(overlap(tanh(far), number(sign)));
    CHECK(radius_within(tanh(far), -120));
    number open = dyadic(sign, 600);  // it may be 0
    open.radius = attest::reference::magnitude::power_of_two(600);
    CHECK(overlap(tanh(open), number(0)));
    CHECK(overlap(tanh(open), number(sign)));
    CHECK(tanh(open).radius <= attest::reference::magnitude::power_of_two(0));
    number some =
        number(9);  // 9 ± 4: from tanh 5 to tanh 13; its slope is taken at ⌊4.99…⌋: 4·2^(2 − 11), and a little
    some.radius = attest::reference::magnitude::power_of_two(2);
    CHECK(overlap(tanh(some), tanh(number(5))));
    CHECK(overlap(tanh(some), tanh(number(13))));
    CHECK(radius_within(tanh(some), -6));
  }
}

TEST_CASE("tanh: duplication, widths agree, relative accuracy near 0", "[property]") {
  tests::property("tanh", [] {
    number const x =
        dyadic(*rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'001), *rc::gen::inRange<std::int64_t>(-2000, -14));
    number const t = tanh(x), twice = tanh(x + x);
    RC_ASSERT(overlap(twice, (t + t) / (number(1) + t * t)));
    RC_ASSERT(radius_within(t, -128 + 6));
    RC_ASSERT(overlap(widened<256>(t), tanh(widened<256>(x))));
    RC_ASSERT(overlap(widened<256>(tanh(widened<64>(x))), widened<256>(t)));
    number const mirrored = tanh(-x);
    RC_ASSERT(mirrored.mid == -t.mid && mirrored.exponent == t.exponent);
  });
}

TEST_CASE("tanh of a ball contains tanh of what is inside", "[property]") {
  tests::property("tanh, containment", [] {
    number a = drawn_number();
    std::int64_t const size = *rc::gen::inRange<std::int64_t>(-90, 6);
    a.radius = magnitude::power_of_two(size);
    number const t = tanh(a);
    for (std::int64_t eighths = -8; eighths <= 8; ++eighths) {
      number inside = a;
      inside.radius = {};
      RC_ASSERT(overlap(tanh(inside + dyadic(eighths, size - 3)), t));
    }
  });
}

TEST_CASE("a square root squares to its argument, and is exact where it can be", "[property]") {
  tests::property("square_root", [] {
    number const x = absolute(drawn_number()) + dyadic(1, -70);
    number const root = square_root(x);
    RC_ASSERT(overlap(root * root, x));
    RC_ASSERT(radius_within(root, -126));
    number const few_bits = dyadic(*rc::gen::inRange<std::int64_t>(1, 1'000'001), -30);
    RC_ASSERT(square_root(few_bits * few_bits).is_exact());
    RC_ASSERT(certain_sign(square_root(few_bits * few_bits) - few_bits) == 0);
    number wide = x;
    wide.radius = x.upper_size_of_mid().scaled(-3);
    number const around = square_root(wide);
    for (std::int64_t eighths = -4; eighths <= 4; ++eighths)
      RC_ASSERT(overlap(square_root(x + x * dyadic(eighths, -6)), around));
  });
}

TEST_CASE("exact ratios compare exactly", "[unit]") {
  STATIC_REQUIRE(population_variance(std::array<float, 3>{1, 2, 3}).is(2, 3));
  STATIC_REQUIRE(sample_variance(std::array<double, 3>{1, 2, 3}).is(1));
  STATIC_REQUIRE(mean(std::array<double, 2>{0x1p-1074, 0}).is(0) == false);
  STATIC_REQUIRE(mean(std::array<float, 4>{1, 2, 3, 5}).is(11, 4));
  STATIC_REQUIRE(!mean(std::array<float, 4>{1, 2, 3, 5}).is(11, 5));
}

}  // namespace attest::tests::functions_test
