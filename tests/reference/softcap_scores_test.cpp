// Capped scores against each other: their order, differences and ties, exactly.
#include <cmath>
#include <vector>

#include "reference/attention/exactly.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/exp.hpp"
#include "reference/real/log.hpp"
#include "reference/textbook/softmax_jacobian.hpp"
#include "tests/reference/capped_row.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/many.hpp"
#include "tests/support/random_row.hpp"

namespace attest::tests::softcap_scores_test {
using reference::row_kind;

namespace {

using ball = reference::ball<128>;

}  // namespace

TEST_CASE("with softcap equal products and biases are exact ties, decided and rounded to even", "[unit]") {
  // Two keys of one product: the mean of 1 and 1 + 2^-23 is a midpoint; a third key far below tips it.
  auto problem = row_of({3, 3}, {1, 1 + 0x1p-23f}, 2);
  auto const p = problem.instance();
  auto const row = enclosed<128>(problem);
  CHECK(reference::compiled::rounded_output<float>(p, row, 0) == 1.0f);
  CHECK(reference::output_is_exactly(p, row, 0, reference::value_of(1 + 0x1p-24)));
  CHECK(reference::weights_are_uniform(row));
  CHECK(reference::compiled::rounded_weight<float>(row, 0) == 0.5f);
  for (float const third : {2.0f, 0.0f}) {
    auto tipped = row_of({3, 3, -1e30f}, {1, 1 + 0x1p-23f, third}, 2);
    tipped.bias.values = {0, 0, -1e6f};  // e^-1000004 of it
    auto const q = tipped.instance();
    CHECK(reference::compiled::rounded_output<float>(q, enclosed<128>(tipped), 0) == (third > 1 ? 1 + 0x1p-23f : 1.0f));
  }
  // A constant V needs no score at all.
  auto constant = row_of({1, 2, 3}, {0.1f, 0.1f, 0.1f}, 0.7);
  auto const c = constant.instance();
  CHECK(reference::compiled::rounded_output<float>(c, enclosed<128>(constant), 0) == 0.1f);
}

TEST_CASE("scores that a softcap crushes together are still told apart", "[unit]") {
  // c·tanh(1000/c) and c·tanh(2000/c), c = 1/8, differ by about 2^-23000: the answer is just above the midpoint of 1
  // and 1 + 2^-23, or just below. With opposite values it is a tiny number whose sign must come out.
  for (bool const saturated : {false, true})
    for (float const sign : {1.0f, -1.0f}) {
      float const low = 1000 * sign, high = saturated ? infinity * sign : 2000 * sign;
      auto problem = row_of({low, high}, {1, 1 + 0x1p-23f}, 0.125);
      auto p = problem.instance();
      CHECK(reference::compiled::rounded_output<float>(p, enclosed<128>(problem), 0) ==
            (sign > 0 ? 1 + 0x1p-23f : 1.0f));
      auto opposite = row_of({low, high}, {-1, 1}, 0.125);
      p = opposite.instance();
      auto const tiny = reference::compiled::rounded_output<float>(p, enclosed<128>(opposite), 0);
      REQUIRE(tiny.has_value());
      CHECK(*tiny == 0);
      CHECK(std::signbit(*tiny) == (sign < 0));
    }
}

TEST_CASE("the order of capped scores decides where their tails have no exponent", "[unit]") {
  // X| = 8·10^18 and more: c·tanh X is ±c less e^(-10^19). There is one bias, so the products decide the order.
  for (float const bias : {0.0f, 0.375f})
    for (float const sign : {1.0f, -1.0f}) {
      float const low = 1e18f * sign, high = 2e18f * sign;
      auto const rounded = [&](std::vector<float> const& keys, std::vector<float> const& values) {
        auto problem = row_of(keys, values, 0.125);
        if (bias != 0) problem.bias.values = std::vector<float>(keys.size(), bias);
        auto const p = problem.instance();
        return reference::compiled::rounded_output<float>(p, enclosed<128>(problem), 0);
      };
      float const above = 1 + 0x1p-23f;
      CHECK(rounded({low, high}, {1, above}) == (sign > 0 ? above : 1.0f));
      CHECK(rounded({high, low}, {1, above}) == (sign > 0 ? 1.0f : above));
      CHECK(rounded({low, infinity * sign}, {1, above}) == (sign > 0 ? above : 1.0f));
      // Three keys about the boundary, with partial sums of one sign; with partial sums of both it stays undecided.
      CHECK(rounded({low, 1.5f * low, high, high}, {1, 1, above, above}) == (sign > 0 ? above : 1.0f));
      CHECK_FALSE(rounded({low, 1.5f * low, 1.5f * low, high}, {1, above, above, 1}).has_value());
    }
}

TEST_CASE("differences of capped scores are those of their tanh", "[property]") {
  many(1, "c·tanh(x/c) − c·tanh(y/c), from the products and by itself", [] {
    auto problem = drawn_row<float>(false, true);
    problem.softcap = *rc::gen::element(0.125, 1.0, 30.0);
    auto const row = enclosed<128>(problem);
    RC_PRE(row.kind == row_kind::finite);
    reference::scores_at<128> const scores(row.rule);
    for (auto const& x : row.keys)
      for (auto const& y : row.keys) {
        auto a = x.score, b = y.score;
        a.bias = b.bias = {};
        auto const found = scores.difference(a, b);
        RC_ASSERT(reference::overlap(found, scores.product(a) - scores.product(b)));
        bool const same =
            row.rule.scale.sign() == 0 || (a.saturated == b.saturated && (a.saturated != 0 || a.dot == b.dot));
        RC_ASSERT(same == (found.mid.sign() == 0 && found.is_exact()));
        if (!same && reference::upper_size(found) > 1e-300) RC_ASSERT(reference::certain_sign(found) != 0);
      }
  });
}

TEST_CASE("scores that are equal only by their biases are seen to be", "[unit]") {
  // s = 0 twice: a product of 0, and a capped infinity with the bias -c. The answer is the midpoint of 1 and 1 + 2^-23.
  auto problem = row_of({0, infinity}, {1 + 0x1p-23f, 1}, 2);
  problem.bias.values = {0, -2};
  auto p = problem.instance();
  CHECK(reference::compiled::rounded_output<float>(p, enclosed<128>(problem), 0) == 1.0f);
  CHECK(reference::output_is_exactly(p, enclosed<128>(problem), 0, reference::value_of(1 + 0x1p-24)));
  CHECK(reference::weights_are_uniform(enclosed<128>(problem)));
  // c·tanh(1000) is below c by 2^-2885, so its key weighs less than the other.
  problem.k.values[1] = 2000;
  p = problem.instance();
  CHECK(reference::compiled::rounded_output<float>(p, enclosed<128>(problem), 0) == 1 + 0x1p-23f);
  CHECK_FALSE(reference::weights_are_uniform(enclosed<128>(problem)));
  // 2 - c·tanh X against c·tanh X, c = 1.
  auto opposite = row_of({-4000, 4000}, {1 + 0x1p-23f, 1}, 1);
  opposite.bias.values = {2, 0};
  p = opposite.instance();
  CHECK(reference::compiled::rounded_output<float>(p, enclosed<128>(opposite), 0) == 1 + 0x1p-23f);
}

TEST_CASE("the LSE of one capped key is rounded however little is missing to a midpoint", "[unit]") {
  // b + c is the midpoint of 2 + 2^-22, which is odd, and 2 + 2^-21.
  float const below = 2 + 0x1p-22f, above = 2 + 0x1p-21f;
  auto const lse = [](float key, float sign) {
    auto problem = row_of({sign * key}, {1}, 0.125);
    problem.bias.values = {sign * (1.875f + 3 * 0x1p-23f)};
    return reference::compiled::rounded_log_sum_exp<float>(enclosed<128>(problem));
  };
  for (float const sign : {1.0f, -1.0f}) {
    CHECK(lse(1000, sign) == sign * below);
    CHECK(lse(1e16f, sign) == sign * below);
    CHECK(lse(infinity, sign) == sign * above);
    CHECK_FALSE(lse(1e18f, sign).has_value());  // e^(-1.6e19) has no exponent: undecided, never guessed
  }
}

TEST_CASE("pairs of scores that nearly agree are summed as pairs, whatever lies between their biases", "[unit]") {
  // By bias the keys come as 1, 3, 2, 4; by score as {1, 2} and {3, 4}, each 2^-23000 apart. o is just above 0.
  auto problem = row_of({1000, -1000, 1000, -1000}, {-1, 1, -1, 1}, 0.125);
  problem.bias.values = {0, 0.25f, 0.125f, 0.375f};
  auto const p = problem.instance();
  auto const found = reference::compiled::rounded_output<float>(p, enclosed<128>(problem), 0);
  REQUIRE(found.has_value());
  CHECK(*found == 0);
  CHECK_FALSE(std::signbit(*found));
}

TEST_CASE("capped scores differ where their order says so, and the sign of every difference is seen at 128 bits",
          "[property]") {
  std::vector<float> const keys{0, 0x1p-30f, 0.5f, 1, 1.5f, 100, 1000, 2000, 1e15f, infinity};
  many(2, "scores of few products and biases", [&] {
    double const c = *rc::gen::element(0.125, 1.0, 2.0, 30.0);
    int const count = *rc::gen::inRange(2, 8);
    std::vector<float> k, b;
    for (int j = 0; j < count; ++j) {
      k.push_back(*rc::gen::elementOf(keys) * static_cast<float>(*rc::gen::element(-1, 1)));
      b.push_back(static_cast<float>(c * *rc::gen::element(-2, -1, 0, 1, 2)) +
                  *rc::gen::element(0.0f, 0.0f, 0.0f, 0x1p-20f));
    }
    auto problem = row_of(k, std::vector<float>(k.size()), c);
    problem.bias.values = b;
    if (*rc::gen::inRange(0, 20) == 0) problem.scale = -1;
    auto const row = enclosed<128>(problem);
    RC_PRE(row.kind == row_kind::finite);
    reference::scores_at<128> const scores(row.rule);
    reference::scores_at<1024> const closely(row.rule);
    for (auto const& x : row.keys)
      for (auto const& y : row.keys) {
        auto const found = scores.difference(x.score, y.score);
        bool const equal = grouping_order(row.rule, x.score, y.score) == 0;
        RC_ASSERT(equal == (found.mid.sign() == 0 && found.is_exact()));
        RC_ASSERT(equal == (reference::certain_sign(found) == 0));
        RC_ASSERT(reference::certain_sign(found) == -reference::certain_sign(scores.difference(y.score, x.score)));
        RC_ASSERT(reference::overlap(reference::widened<1024>(found), closely.difference(x.score, y.score)));
        RC_ASSERT(reference::overlap(
            found, scores.product(x.score) - scores.product(y.score) +
                       (reference::ball<128>::from(x.score.bias) - reference::ball<128>::from(y.score.bias))));
      }
  });
}

}  // namespace attest::tests::softcap_scores_test
