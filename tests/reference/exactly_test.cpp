// reference/attention/exactly.hpp: exact outputs are recognised, and their perturbed twins are told apart however near
// they come.
#include "reference/attention/exactly.hpp"

#include <cmath>
#include <ctime>

#include "reference/compiled/row.hpp"
#include "tests/support/many.hpp"
#include "tests/support/written.hpp"

namespace attest::tests::exactly_test {
using reference::value_of;

namespace {

bool is_exactly(written<float> const& problem, double t) {
  reference::enclosed_row<64, float> row;
  auto const p = problem.instance();
  reference::compiled::enclose_row(p, 0, 0, 0, row);
  return reference::output_is_exactly(p, row, 0, value_of(t));
}

/// The far scores of the brief: 10^2, 10^6 and 10^30 below, as f32 has them.
constexpr float far_below[] = {1e2f, 1e6f, 1e30f};

}  // namespace

TEST_CASE("two keys at equal scores average exactly", "[unit]") {
  CHECK(is_exactly(with_scores({3, 3}, {1, 2}), 1.5));
  CHECK_FALSE(is_exactly(with_scores({3, std::nextafter(3.0f, 4.0f)}, {1, 2}), 1.5));
  CHECK(is_exactly(with_scores({3, std::nextafter(3.0f, 4.0f)}, {1.5f, 1.5f}), 1.5));
  // The midpoint of two neighbouring f32 numbers, and of the two smallest subnormals.
  float const next = std::nextafter(1.0f, 2.0f);
  CHECK(is_exactly(with_scores({-7, -7}, {1, next}), 1 + 0x1p-24));
  CHECK(is_exactly(with_scores({-7, -7}, {0, 0x1p-149f}), 0x1p-150));
  CHECK_FALSE(is_exactly(with_scores({-7, -7}, {0, 0x1p-149f}), 0x1p-149));
}

TEST_CASE("a far key that is not exactly the mean decides the answer, at any distance", "[unit]") {
  for (float const far : far_below)
    for (float const sign : {1.0f, -1.0f}) {
      CHECK_FALSE(is_exactly(with_scores({0, 0, -far}, {1, 2, sign}), 1.5));
      CHECK_FALSE(is_exactly(with_scores({0, 0, -far}, {1, 2, std::nextafter(1.5f, 2 * sign)}), 1.5));
      CHECK(is_exactly(with_scores({0, 0, -far}, {1, 2, 1.5f}), 1.5));
      // Two far keys whose deviations cancel, in one group and in two groups.
      CHECK(is_exactly(with_scores({0, 0, -far, -far}, {1, 2, 1.5f + sign, 1.5f - sign}), 1.5));
      CHECK_FALSE(is_exactly(with_scores({0, 0, -far, -2 * far}, {1, 2, 1.5f + sign, 1.5f - sign}), 1.5));
    }
}

TEST_CASE("groups are groups of exact scores, through sqrt(d) and biases", "[unit]") {
  // q·k = 3 with bias 1 and q·k = 6 with bias 0 tie for d = 9 (σ = 1/3) and not for d = 8.
  for (std::int64_t const d : {9, 8}) {
    written<float> problem(2, d, 1);
    problem.q.values[0] = 1;
    problem.k.values[0] = 3, problem.k.values[static_cast<std::size_t>(d)] = 6;
    problem.v.values = {-4, 10};
    problem.bias.values = {1, 0};
    CHECK(is_exactly(problem, 3) == (d == 9));
  }
}

TEST_CASE("uniform weights are recognised, and near-uniform ones are not", "[unit]") {
  auto const uniform = [](written<float> const& problem) {
    reference::enclosed_row<64, float> row;
    reference::compiled::enclose_row(problem.instance(), 0, 0, 0, row);
    return reference::weights_are_uniform(row);
  };
  CHECK(uniform(with_scores({5, 5, 5}, {1, 2, 3})));
  CHECK(uniform(with_scores({0x1p-149f}, {1})));
  CHECK_FALSE(uniform(with_scores({0, 0x1p-149f}, {1, 2})));
}

TEST_CASE("rows with the same scores in another order are known to be equally focused", "[unit]") {
  auto const same = [](std::vector<float> const& a, std::vector<float> const& b) {
    reference::enclosed_row<64, float> x, y;
    auto const p = with_scores(a, std::vector<float>(a.size())), q = with_scores(b, std::vector<float>(b.size()));
    reference::compiled::enclose_row(p.instance(), 0, 0, 0, x);
    reference::compiled::enclose_row(q.instance(), 0, 0, 0, y);
    return reference::same_scores_in_some_order(x, y);
  };
  CHECK(same({1, 2, 3, 2}, {2, 3, 2, 1}));
  CHECK_FALSE(same({1, 2, 3, 2}, {2, 3, 1, 1}));
  CHECK_FALSE(same({1, 2}, {1, 2, 2}));
}

TEST_CASE("ten thousand exact outputs and their twins are decided, none by exhaustion", "[property]") {
  std::clock_t slowest = 0;
  many(100, "symmetric groups and a far third key", [&] {
    // Groups at distinct scores, each a pair t + δ, t − δ in whole numbers: O = t exactly.
    auto const t = static_cast<float>(*rc::gen::inRange(-1000, 1000));
    int const groups = *rc::gen::inRange(1, 4);
    std::vector<float> scores, values;
    for (int g = 0; g < groups; ++g) {
      auto const score = static_cast<float>(*rc::gen::inRange(-40, 40)) / 8;
      auto const delta = static_cast<float>(*rc::gen::inRange(0, 100000)) / 16;
      scores.insert(scores.end(), {score, score});
      values.insert(values.end(), {t + delta, t - delta});
    }
    std::clock_t const start = std::clock();
    RC_ASSERT(is_exactly(with_scores(scores, values), static_cast<double>(t)));
    float const far = *rc::gen::element(far_below[0], far_below[1], far_below[2]);
    scores.push_back(-far);
    values.push_back(std::nextafter(t, *rc::gen::element(-1e9f, 1e9f)));
    RC_ASSERT(!is_exactly(with_scores(scores, values), static_cast<double>(t)));
    slowest = std::max(slowest, std::clock() - start);
  });
  INFO("slowest pair: " << slowest << " of " << CLOCKS_PER_SEC << " processor seconds");
  CHECK(slowest < CLOCKS_PER_SEC / 5);  // two decisions, on a slow processor
}

}  // namespace attest::tests::exactly_test
