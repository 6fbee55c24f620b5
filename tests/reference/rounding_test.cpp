// Correct rounding: against an independent evaluation, on ties, and on ties that something far away breaks.
#include "reference/compiled/rounding.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "audit/cases/random.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::rounding_test {
namespace {

using problem::layout;
using reference::enclosed_row;

/// One query with d = 1, q = 1, explicit scale: scores are the keys.
struct row_problem {
  std::vector<float> k, v;
  std::optional<double> scale = 1.0;
  float q = 1;

  problem::instance<float> instance() const {
    problem::arguments<float> arguments;
    auto const m = static_cast<std::int64_t>(k.size());
    arguments.q = {&q, layout::compact({1, 1})};
    arguments.k = {k.data(), layout::compact({m, 1})};
    arguments.v = {v.data(), layout::compact({m, 1})};
    arguments.scale = scale;
    return problem::instance<float>::make(arguments).value();
  }
};

template <class Target = float>
Target rounded_o(row_problem const& p) {
  enclosed_row<128, float> row;
  auto const instance = p.instance();
  reference::compiled::enclose_row(instance, 0, 0, 0, row);
  return reference::compiled::rounded_output<Target>(instance, row, 0).value();
}

TEST_CASE("rounding to f32 agrees with the processor's conversion, ties and subnormals included", "[unit]") {
  audit::random_stream random(1, "nearest");
  std::int64_t wrong = 0;
  for (int n = 0; n < 2'000'000; ++n) {
    double x = std::bit_cast<double>(random.bits());
    if (n % 3 == 1) x = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()))) * 1.0;
    if (n % 3 == 2) {  // halfway between two floats, at every scale down to the subnormals
      auto const low = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits() & 0x7effffff));
      x = (static_cast<double>(low) + static_cast<double>(std::nextafter(low, HUGE_VALF))) / 2;
    }
    if (std::isnan(x)) continue;
    float const expected = static_cast<float>(x);
    float const got = reference::value_of_ordinal<float>(reference::nearest_ordinal<float>(x), std::signbit(x));
    wrong += std::bit_cast<std::uint32_t>(expected) != std::bit_cast<std::uint32_t>(got);
  }
  CHECK(wrong == 0);
}

TEST_CASE("boundaries lie exactly between neighbours", "[unit]") {
  using reference::boundary_above;
  auto const value = [](reference::element const& x) {
    return std::ldexp(static_cast<double>(x.significand), x.exponent);
  };
  CHECK(value(boundary_above<float>(0)) == 0x1p-150);
  CHECK(value(boundary_above<float>(-1)) == -0x1p-150);
  CHECK(value(boundary_above<float>(std::bit_cast<std::int32_t>(1.0f))) == 1 + 0x1p-24);
  CHECK(value(boundary_above<float>(std::bit_cast<std::int32_t>(1.0f) - 1)) == 1 - 0x1p-25);
  CHECK(value(boundary_above<float>(reference::infinity_ordinal<float> - 1)) == 0x1.ffffffp127);
  CHECK(value(boundary_above<float>(-reference::infinity_ordinal<float>)) == -0x1.ffffffp127);
  CHECK(value(boundary_above<problem::f16>(0x7bff)) == 65520);
}

/// A tie: two keys of one score whose values straddle a boundary of f32, and where the even neighbour is.
struct tie {
  float low, high, even;
};

tie random_tie(audit::random_stream& random) {
  auto bits = static_cast<std::uint32_t>(random.bits() & 0x7f7fffff);
  if (random.below(4) == 0) bits &= 0x007fffff;  // subnormal
  if (bits >= 0x7f7ffffe) bits = 0x3f800000;
  float const low = std::bit_cast<float>(bits), high = std::bit_cast<float>(bits + 1);
  tie const result{low, high, bits % 2 == 0 ? low : high};
  return random.below(2) ? result : tie{-high, -low, -result.even};
}

TEST_CASE("10,000 exact ties go to even; a far key of either sign breaks them the right way", "[unit]") {
  audit::random_stream random(2, "ties");
  std::int64_t wrong = 0;
  for (int n = 0; n < 10'000; ++n) {
    tie const t = random_tie(random);
    float const score = static_cast<float>(random.normal() * 10);
    row_problem p{.k = {score, score}, .v = {t.low, t.high}};
    if (n % 3 == 0) p.k.insert(p.k.end(), 2, score - 5), p.v.insert(p.v.end(), {t.high, t.low});  // a symmetric group
    wrong += rounded_o(p) != t.even;
    // The perturbed twin: one key far below pulls the average towards its own value.
    for (float const far : {100.f, 1e6f, 1e30f}) {
      bool const up = random.below(2) != 0;
      row_problem twin = p;
      twin.k.push_back(score - far);
      // At most twice the tie's own size: e^−100 of that is far less than half a unit in its last place.
      float const size = std::min(2 * std::max(std::abs(t.low), std::abs(t.high)), std::numeric_limits<float>::max());
      twin.v.push_back(up ? size : -size);
      if (n % 10 != 0 && far != 100.f) continue;  // the widest ones on a tenth: the answer is the same
      wrong += rounded_o(twin) != (up ? t.high : t.low);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("exactly representable outputs are returned exactly", "[unit]") {
  audit::random_stream random(3, "exact");
  for (int n = 0; n < 2'000; ++n) {
    float const x = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits() & 0x7f7fffff));
    row_problem p;
    std::int64_t const keys = 1 + random.below(6);
    for (std::int64_t j = 0; j < keys; ++j) p.k.push_back(static_cast<float>(random.normal() * 20)), p.v.push_back(x);
    p.scale.reset();  // σ = 1/√1
    CHECK(rounded_o(p) == x);
  }
}

TEST_CASE("zero has the right sign", "[unit]") {
  float const tiny = std::numeric_limits<float>::denorm_min();
  CHECK_FALSE(std::signbit(rounded_o({.k = {1, 1}, .v = {3, -3}})));           // exactly 0: +0
  CHECK(std::signbit(rounded_o({.k = {0, 0, 0, 0}, .v = {-tiny, 0, 0, 0}})));  // −2⁻¹⁵¹ rounds to −0
  CHECK_FALSE(std::signbit(rounded_o({.k = {0, 0, 0, 0}, .v = {tiny, 0, 0, 0}})));
  CHECK(std::signbit(rounded_o({.k = {0, 0, -1000}, .v = {1, -1, -1}})));  // a tie at 0, broken from far below
}

TEST_CASE("overflow goes to infinity at the threshold of the target", "[unit]") {
  CHECK(rounded_o<problem::f16>({.k = {0, 0}, .v = {65504, 65536}}).bits ==
        0x7c00);  // 65520 is the threshold: a tie to even
  CHECK(rounded_o<problem::f16>({.k = {0, 0}, .v = {65504, 65535}}).bits == 0x7bff);
  CHECK(rounded_o<problem::f16>({.k = {0, 0}, .v = {-65504, -65536}}).bits == 0xfc00);
  CHECK(rounded_o<problem::bf16>({.k = {0}, .v = {std::numeric_limits<float>::max()}}).bits == 0x7f80);
}

TEST_CASE("weights and LSE are exact where they are algebraic", "[unit]") {
  row_problem const p{.k = {2.5f, 2.5f, 2.5f, 2.5f}, .v = {1, 2, 3, 4}};
  enclosed_row<128, float> row;
  reference::compiled::enclose_row(p.instance(), 0, 0, 0, row);
  CHECK(reference::compiled::rounded_weight<float>(row, 2) == 0.25f);
  row_problem const single{.k = {1.0000001f}, .v = {1}};
  reference::compiled::enclose_row(single.instance(), 0, 0, 0, row);
  CHECK(reference::compiled::rounded_log_sum_exp<float>(row) == 1.0000001f);
  // LSE of a score on a boundary of bf16, and a second key 10⁶ below, which breaks the tie upwards.
  row_problem tied{.k = {1.00390625f}, .v = {1}};
  reference::compiled::enclose_row(tied.instance(), 0, 0, 0, row);
  CHECK(reference::compiled::rounded_log_sum_exp<problem::bf16>(row)->bits == 0x3f80);
  tied.k.push_back(-1e6f), tied.v.push_back(1);
  reference::compiled::enclose_row(tied.instance(), 0, 0, 0, row);
  CHECK(reference::compiled::rounded_log_sum_exp<problem::bf16>(row)->bits == 0x3f81);
}

TEST_CASE("random outputs agree with long double wherever that can tell", "[property]") {
  property("f32 output = (float) of the long double value, unless it is within 2^-50 of a boundary",
           [](std::uint32_t seed) {
             audit::random_stream random(seed, "outputs");
             std::int64_t const m = 1 + random.below(12);
             row_problem p;
             for (std::int64_t j = 0; j < m; ++j) {
               p.k.push_back(static_cast<float>(random.normal() * 4));
               p.v.push_back(static_cast<float>(random.normal()));
             }
             long double sum = 0, top = 0, size = 0;
             for (std::size_t j = 0; j < p.k.size(); ++j) {
               long double const w = std::exp(static_cast<long double>(p.k[j]));
               sum += w, top += w * p.v[j], size += w * std::abs(p.v[j]);
             }
             long double const o = top / sum, slack = size / sum * 0x1p-58L;
             RC_PRE(static_cast<float>(o - slack) == static_cast<float>(o + slack));
             RC_ASSERT(rounded_o(p) == static_cast<float>(o));
           });
}

}  // namespace
}  // namespace attest::tests::rounding_test
