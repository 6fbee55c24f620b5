// Rows of binomial differences are rounded, and numbers behind their signs are exact.
#include <cstdint>
#include <optional>
#include <vector>

#include "audit/cases/random.hpp"
#include "reference/attention/exponential_sum.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::newton_rows_test {
namespace {

using reference::ball;
using reference::big_integer;
using reference::integer;

/// One query of one number, `keys` keys k_j = j·unit whose values are t ± C(keys − 1, j)·step, the signs alternating
/// from key to key: O − t is step·(1 − e^(σ·q·unit))^(keys − 1) over the sum of the weights.
template <class T>
struct binomial_row {
  std::int64_t order;
  T q;
  std::vector<T> k{}, v{};
  std::optional<double> scale;

  binomial_row(std::int64_t order_of_vanishing, T query, double unit, double t, double step,
               std::optional<double> given_scale)
      : order(order_of_vanishing), q(query), scale(given_scale) {
    double binomial = 1;
    for (std::int64_t j = 0; j <= order; ++j) {
      k.push_back(static_cast<T>(static_cast<double>(j) * unit));
      v.push_back(static_cast<T>(t + (j % 2 ? -binomial : binomial) * step));
      binomial = binomial * static_cast<double>(order - j) / static_cast<double>(j + 1);
    }
  }
  problem::instance<T> instance() const {
    problem::arguments<T> arguments;
    std::int64_t const m = order + 1;
    arguments.q = {&q, problem::layout::compact({1, 1})};
    arguments.k = {k.data(), problem::layout::compact({m, 1})};
    arguments.v = {v.data(), problem::layout::compact({m, 1})};
    arguments.scale = scale;
    return problem::instance<T>::make(arguments).value();
  }
};

template <class Target, class T>
std::optional<Target> rounded_o(binomial_row<T> const& row) {
  reference::enclosed_row<128, T> enclosed;
  auto const instance = row.instance();
  reference::compiled::enclose_row(instance, 0, 0, 0, enclosed);
  return reference::compiled::rounded_output<Target>(instance, enclosed, 0);
}

TEST_CASE("binomial differences about a boundary are rounded, whatever the order and however near the scores",
          "[nightly]") {
  // All scores rise, so O − t has the sign (−1)^order.
  for (std::int64_t const order : {1, 2, 3, 4, 5, 8}) {
    CAPTURE(order);
    binomial_row<double> const row(order, 0x1p-700, 0x1p-700, 1 + 0x1p-24, 0x1p-30, 1.0);
    CHECK(rounded_o<float>(row) == (order % 2 ? 1.0f : 1 + 0x1p-23f));
    binomial_row<double> moved = row;
    moved.v[0] += 0x1p-52;
    CHECK(rounded_o<float>(moved) == 1 + 0x1p-23f);
    moved.v[0] = row.v[0] - 0x1p-52;
    CHECK(rounded_o<float>(moved) == 1.0f);
  }
  auto const bf16_bits = [](std::int64_t order) { return order % 2 ? 0x3f80 : 0x3f81; };
  for (std::int64_t const order : {14, 15, 16, 17}) {
    CAPTURE(order);
    auto const found =
        rounded_o<problem::bf16>(binomial_row<float>(order, 0x1p-140f, 0x1p-140, 1 + 0x1p-8, 0x1p-23, {}));
    REQUIRE(found.has_value());
    CHECK(found->bits == bf16_bits(order));
  }
  for (std::int64_t const order : {3, 4, 5}) {
    CAPTURE(order);
    auto const found =
        rounded_o<problem::bf16>(binomial_row<float>(order, 0x1p-140f, 0x1p-140, 1 + 0x1p-8, 0x1p-20, 0x1p-1000));
    REQUIRE(found.has_value());
    CHECK(found->bits == bf16_bits(order));
  }
}

TEST_CASE("integers without a fixed width agree with those of a fixed one", "[nightly]") {
  audit::random_stream random(3, "big integers");
  using wide = integer<4096>;
  for (int n = 0; n < 3000; ++n) {
    auto const drawn = [&] {
      wide x = 0;
      for (std::int64_t limbs = random.below(12); limbs > 0; --limbs) {
        std::uint64_t const limb = random.below(4) == 0 ? 0 : random.below(4) == 0 ? ~std::uint64_t{0} : random.bits();
        x <<= 64u;
        x += limb;
      }
      x >>= static_cast<unsigned>(random.below(64));
      return random.below(2) ? wide(-x) : x;
    };
    wide const a = drawn(), b = drawn();
    big_integer const x = big_integer::from(a), y = big_integer::from(b);
    auto const by = random.below(200);
    REQUIRE(x + y == big_integer::from(wide(a + b)));
    REQUIRE(x - y == big_integer::from(wide(a - b)));
    REQUIRE(x * y == big_integer::from(wide(a * b)));
    REQUIRE(x.shifted_up(by) == big_integer::from(reference::shifted(a, by)));
    REQUIRE(x.shifted_down(by) == big_integer::from(reference::shifted(a, -by)));
    REQUIRE(x.sign() == a.sign());
    REQUIRE(x.bit_length() == reference::bit_length(a));
    REQUIRE(x.trailing_zeros() == reference::trailing_zeros(a));
    auto const enclosed = x.enclosure<64>(by);
    auto const gap = ball<1024>::from(a, by) - reference::widened<1024>(enclosed);
    REQUIRE((gap.is_exact() ? gap.mid.sign() == 0 : reference::certain_sign(gap) == 0));
  }
}

TEST_CASE("a + b·√d is enclosed to relative precision where it nearly vanishes", "[nightly]") {
  // (2 − √3)^n, by multiplication: 2^(−1.9n), from integers of 1.9n bits.
  reference::quadratic_integer power{big_integer(1), {}};
  reference::quadratic_integer const step{big_integer(2), big_integer(-1)};
  for (int n = 1; n <= 600; ++n) power = product(power, step, 3);
  ball<128> const found = reference::enclosure<128>(power, 3);
  ball<128> const base = ball<128>(2) - reference::inverse_sqrt<128>(3) * ball<128>(3);
  ball<128> expected(1);
  for (int n = 1; n <= 600; ++n) expected = expected * base;
  CHECK(reference::certain_sign(found) == 1);
  CHECK(reference::overlap(found, expected));
  CHECK(found.radius <= found.upper_size().scaled(-120));
}

}  // namespace
}  // namespace attest::tests::newton_rows_test
