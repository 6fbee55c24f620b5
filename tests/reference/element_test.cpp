// reference/real/element.hpp: the value of every stored bit pattern, against a decoder that knows nothing of it.
#include "reference/real/element.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/property.hpp"

namespace attest::tests::element_test {
using reference::element;
using reference::number_class;

namespace {

/// IEEE 754-2019, 3.4, by ldexp: the meaning of the bits, in a double (exact for formats no wider than double).
double decoded(std::uint64_t bits, int exponent_bits, int fraction_bits) {
  int const bias = (1 << (exponent_bits - 1)) - 1;
  auto const field = static_cast<int>((bits >> fraction_bits) & ((std::uint64_t{1} << exponent_bits) - 1));
  auto const fraction = static_cast<double>(bits & ((std::uint64_t{1} << fraction_bits) - 1));
  double const sign = (bits >> (exponent_bits + fraction_bits)) & 1 ? -1 : 1;
  if (field == 2 * bias + 1) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (field == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(std::ldexp(1.0, fraction_bits) + fraction, field - bias - fraction_bits);
}

bool means(element const& found, double expected) {
  if (std::isnan(expected)) return found.kind == number_class::not_a_number;
  if (std::isinf(expected))
    return found.kind == (expected > 0 ? number_class::plus_infinity : number_class::minus_infinity);
  // |significand| < 2^53, so the conversion and the scaling are exact.
  return found.kind == number_class::finite &&
         std::ldexp(static_cast<double>(found.significand), found.exponent) == expected;
}

}  // namespace

TEST_CASE("every f16 bit pattern has the value that IEEE 754 gives it", "[unit]") {
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    wrong += !means(reference::value_of(problem::f16{static_cast<std::uint16_t>(bits)}), decoded(bits, 5, 10));
  REQUIRE(wrong == 0);
}

TEST_CASE("every bf16 bit pattern is the upper half of an f32", "[unit]") {
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    wrong += !means(reference::value_of(problem::bf16{static_cast<std::uint16_t>(bits)}), decoded(bits, 8, 7));
    wrong += !means(reference::value_of(problem::bf16{static_cast<std::uint16_t>(bits)}),
                    static_cast<double>(std::bit_cast<float>(bits << 16)));
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("f32 and f64 edges have their values", "[unit]") {
  for (double const x : {0.0, -0.0, 1.0, -1.5, 0x1p-149, -0x1p-149, 0x1.fffffcp-127, 0x1p-126, 0x1.fffffep127})
    REQUIRE(means(reference::value_of(static_cast<float>(x)), x));
  using range = std::numeric_limits<double>;
  for (double const x : {0.0, -0.0, 1.0, range::min(), -range::min(), range::max(), range::denorm_min(),
                         range::infinity(), -range::infinity(), range::quiet_NaN(), 0x0.fffffffffffffp-1022})
    REQUIRE(means(reference::value_of(x), x));
  STATIC_REQUIRE(reference::value_of(-0.375f).significand * 8 ==
                 -3 * (std::int64_t{1} << (-reference::value_of(-0.375f).exponent)));
}

TEST_CASE("random f32 and f64 bit patterns have the value that IEEE 754 gives them", "[property]") {
  tests::property("f32", [] {
    auto const bits = *rc::gen::arbitrary<std::uint32_t>();
    RC_ASSERT(means(reference::value_of(std::bit_cast<float>(bits)), decoded(bits, 8, 23)));
  });
  tests::property("f64", [] {
    auto const bits = *rc::gen::arbitrary<std::uint64_t>();
    RC_ASSERT(means(reference::value_of(std::bit_cast<double>(bits)), decoded(bits, 11, 52)));
  });
}

}  // namespace attest::tests::element_test
