// Weights of kernels that round as badly as H0 to H2 let them, in closed form, beside the bounds of Corollary W: the
// signs of the roundings of an argument, and weights that a second pass forms anew (docs/bound.md, sections 6 and 7).
#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/bound/bound.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::worst_weights_test {
using problem::kernel_model;
using reference::row_facts;

namespace {

constexpr double u = 0x1p-24;

/// Keys whose scores are their biases, the largest first: x_j = b_j − b_1.
row_facts biased_keys(std::vector<double> const& biases) {
  row_facts facts;
  facts.d = 1, facts.m = static_cast<std::int64_t>(biases.size()), facts.scale_upper = 1;
  double sum = 0, size = 0;
  for (double const b : biases) sum += std::exp(b - biases[0]), size = std::max(size, std::abs(b));
  facts.max_upper = std::abs(biases[0]), facts.normaliser_lower = sum * (1 - 0x1p-50);
  facts.lse_upper = size + std::log(sum) + 1, facts.lse_above_max = std::log(sum) * (1 + 0x1p-50);
  for (double const b : biases) {
    reference::key_facts key;
    key.index = static_cast<std::int64_t>(facts.keys.size()), key.bias = b, key.score_upper = std::abs(b);
    key.x_lower = key.x_upper = b - biases[0];
    double const weight = std::exp(b - biases[0]) / sum;
    key.weight_lower = weight * (1 - 0x1p-48), key.weight_upper = weight * (1 + 0x1p-48);
    facts.keys.push_back(key);
  }
  return facts;
}

kernel_model plain() {
  kernel_model model;
  model.format = problem::formats::f32;
  model.k_qk_per_d = 0, model.k_qk_base = 0;
  model.eps = 0, model.block = 1;
  return model;
}

/// |â_j − π_j| of an answer, in bounds.
double in_bounds(kernel_model const& model, row_facts const& facts, std::size_t j, double answer) {
  reference::row_bound bound;
  bound.evaluate(model, facts);
  REQUIRE(bound.says_anything());
  double const pi = facts.keys[j].weight_upper, size = bound.weight(j).size;
  INFO("weight " << j << ": " << answer << " for " << pi << ", bound " << size);
  CHECK(std::abs(answer - pi) <= size);
  return std::abs(answer - pi) / size;
}

}  // namespace

TEST_CASE("a second pass beside a sum that is too large", "[unit]") {
  // The first pass overstates both weights, by exp and by the bias of the second key; the second pass understates.
  kernel_model model = plain();
  model.eps = 0.01, model.g_b = 2.0 / 3, model.rescales = problem::rescale_count::none;
  row_facts const facts = biased_keys({0, -6.9});
  double const sum = 1.01 + 1.01 * std::exp(-6.9 / 3);
  CHECK(in_bounds(model, facts, 0, 0.99 / sum) > 0.5);
}

TEST_CASE("a second pass whose weight exceeds the sum", "[unit]") {
  // Both scores are off by 7, so that the lower one seems to be the larger by far; exp is off both ways.
  kernel_model model = plain();
  model.eps = 0.01, model.g_b = 0.5, model.rescales = problem::rescale_count::none;
  row_facts const facts = biased_keys({-14, -22});
  double const first = -14 * 1.5, second = -22 * 0.5;
  double const sum = 0.99 * (1 + std::exp(first - second));
  CHECK(in_bounds(model, facts, 1, 1.01 / sum) > 0.99);
}

TEST_CASE("an argument that is all error", "[unit]") {
  // Each key sets its own reference, which p rounds four times more than r does; 64 roundings of each argument.
  kernel_model model = plain();
  model.k_x = 64, model.c_m = 4;
  double const many = std::pow(1 + u, 64), few = std::pow(1 - u, 64), score = 8e7;
  double const error = (std::pow(1 + u, 4) - 1) * score * many;
  double const distance = 10 + 2 * error * (1 + 1e-4);
  row_facts const facts = biased_keys({score, score - distance});
  double const lower = std::exp(error - distance * few), upper = std::exp(-error);
  CHECK(in_bounds(model, facts, 1, lower / (lower + upper)) > 0.999);
}

TEST_CASE("lazy parts merged raw, each with a key tau above its reference", "[unit]") {
  // Computed scores: 10 and 30 in the first part, 0 and 20 in the second, 20 in the third, whose reference is the last.
  // The biases 40 and 16 of the keys above their references are misread, as 30 and 20.
  kernel_model model = plain();
  model.k_x = 1000, model.tau = 20, model.splits = 3, model.g_b = 0.25;
  double const many = std::pow(1 + u, 1000), few = std::pow(1 - u, 1000);
  row_facts const facts = biased_keys({40, 10, 0, 16, 20});
  double const largest = std::exp(20 * few - 10 * many), other = std::exp(20 * many - 20 * few);
  double const sum = largest + other + 1 + std::exp(-10 * few) + std::exp(-20 * few);
  CHECK(in_bounds(model, facts, 3, other / sum) > 0.99);
}

}  // namespace attest::tests::worst_weights_test
