// The audit's conversion of doubles into elements and back, against the reference's reading and rounding of the same
// types.
#include "audit/tensors/elements.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/real/nearest.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::elements_test {
using problem::bf16;
using problem::element_type;
using problem::f16;

namespace {

/// SplitMix64.
std::uint64_t drawn(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Every pattern of a type of 16 bits; of the others the ends of the ranges and 100,000 drawn ones.
template <class T>
std::vector<T> patterns() {
  constexpr problem::binary_format format = problem::format_of<T>;
  std::vector<T> patterns;
  auto const add = [&](std::uint64_t bits) {
    patterns.push_back(std::bit_cast<T>(static_cast<problem::bits_of<T>>(bits)));
  };
  if (format.bits() == 16) {
    for (std::uint64_t bits = 0; bits < 0x10000; ++bits) add(bits);
    return patterns;
  }
  for (std::uint64_t const end :
       {std::uint64_t{0}, std::uint64_t{1}, format.fraction_mask(), format.fraction_mask() + 1, format.largest_finite(),
        format.infinity(), format.infinity() + format.quiet_bit()})
    add(end), add(end | format.sign_bit());
  std::uint64_t state = 1;
  for (int n = 0; n < 100'000; ++n) add(drawn(state));
  return patterns;
}

template <class T>
bool same_bits(T a, T b) {
  return std::bit_cast<problem::bits_of<T>>(a) == std::bit_cast<problem::bits_of<T>>(b);
}

}  // namespace

TEMPLATE_TEST_CASE("an element is read as the reference reads it", "[unit]", float, double, bf16, f16) {
  int wrong = 0;
  for (TestType const x : patterns<TestType>()) {
    double const got = audit::number(x);
    reference::element const truth = reference::value_of(x);
    bool const negative = std::bit_cast<problem::bits_of<TestType>>(x) & problem::format_of<TestType>.sign_bit();
    using enum reference::number_class;
    if (truth.kind == not_a_number) wrong += !std::isnan(got);
    else if (!truth.is_finite()) wrong += got != (truth.kind == plus_infinity ? HUGE_VAL : -HUGE_VAL);
    else
      wrong +=
          got != std::ldexp(static_cast<double>(truth.significand), truth.exponent) || std::signbit(got) != negative;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("a double becomes the element that the reference calls nearest", "[unit]", float, double, bf16,
                   f16) {
  std::vector<double> doubles;
  for (double const x : patterns<double>()) doubles.push_back(x);
  for (TestType const x : patterns<TestType>()) {  // the numbers themselves, half-way to the next ones, and beside that
    double const low = audit::number(x),
                 high = audit::number(std::bit_cast<TestType>(
                     static_cast<problem::bits_of<TestType>>(std::bit_cast<problem::bits_of<TestType>>(x) + 1)));
    double const middle = low / 2 + high / 2;
    for (double const y : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)})
      doubles.push_back(y);
  }
  int wrong = 0;
  for (double const x : doubles) {
    TestType const got = audit::nearest_element<TestType>(x);
    if (std::isnan(x)) wrong += !std::isnan(audit::number(got));
    else
      wrong += !same_bits(
          got, reference::value_of_ordinal<TestType>(reference::nearest_ordinal<TestType>(x), std::signbit(x)));
  }
  CHECK(wrong == 0);
}

TEST_CASE("a signalling NaN of every type is stored as one", "[unit]") {
  for (problem::element_row const& row : problem::floating_rows) {
    auto t = audit::owned_tensor::compact(row.type, {2});
    audit::store_signalling(t, 1);
    std::uint64_t bits = 0;
    std::memcpy(&bits, t.bytes.data() + row.bytes, row.bytes);
    CHECK(bits > row.format.infinity());
    CHECK((bits & row.format.quiet_bit()) == 0);
    CHECK(audit::load(t, 0) == 0);
  }
}

TEST_CASE("every element type is stored and loaded", "[unit]") {
  for (problem::element_row const& row : problem::element_table) {
    auto t = audit::owned_tensor::compact(row.type, {3});
    audit::store(t, 1, 1);
    CHECK(audit::load(t, 0) == 0);
    CHECK(audit::load(t, 1) == 1);
    CHECK(audit::load(t, 2) == 0);
  }
}

static_assert(
    audit::limits_of(element_type::f32).largest == static_cast<double>(std::numeric_limits<float>::max()) &&
    audit::limits_of(element_type::f32).smallest_normal == static_cast<double>(std::numeric_limits<float>::min()) &&
    audit::limits_of(element_type::f32).smallest == static_cast<double>(std::numeric_limits<float>::denorm_min()) &&
    audit::limits_of(element_type::f32).epsilon == static_cast<double>(std::numeric_limits<float>::epsilon()));
static_assert(audit::limits_of(element_type::f64).largest == std::numeric_limits<double>::max() &&
              audit::limits_of(element_type::f64).smallest_normal == std::numeric_limits<double>::min() &&
              audit::limits_of(element_type::f64).smallest == std::numeric_limits<double>::denorm_min() &&
              audit::limits_of(element_type::f64).epsilon == std::numeric_limits<double>::epsilon());
static_assert(audit::limits_of(element_type::f16).largest == 65504 &&
              audit::limits_of(element_type::f16).epsilon == 0x1p-10);
static_assert(audit::limits_of(element_type::bf16).largest == 0x1.fep127 &&
              audit::limits_of(element_type::bf16).smallest == 0x1p-133);

}  // namespace attest::tests::elements_test
