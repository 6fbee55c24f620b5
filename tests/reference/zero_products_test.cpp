// Products with a factor 0 (docs/bound.md, Lemma 1, Zeros): one key, so that the LSE is the computed score, in every
// form of a sum of products and under every pattern of zeros, climbed towards larger error/bound.
#include <bit>
#include <cmath>
#include <cstdint>

#include "audit/tensors/elements.hpp"
#include "tests/support/attacked_row.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drawn_sums.hpp"

namespace attest::tests::zero_products_test {
namespace {

using problem::kernel_model;

/// A kernel whose scores are sums of products alone: scale 1, exp(0) = 1, log 1 = 0.
kernel_model model_of(sum_form form, problem::zero_products zeros) {
  kernel_model model;
  model.format = problem::formats::f32;
  model.k_qk_base = 0;
  model.u_qk = is_unit(form) ? 2 * model.format.u : 0;
  model.zero_products = zeros;
  return model;
}

ratios judged(sum_form form, written<float> const& row, problem::zero_products zeros) {
  bound_check<float> const check(row);
  if (!check.finite()) return {};
  float const score = sum_of_products(form, row.q.values.data(), row.k.values.data(), row.q.values.size());
  return check.judge(model_of(form, zeros), {{}, {}, static_cast<double>(score)});
}

float narrowed(sum_form form, float x) {
  if (!is_unit(form)) return x;
  auto const& f16 = problem::row_of(problem::element_type::f16).format;
  return static_cast<float>(audit::rounded_to(static_cast<double>(x), f16));
}

/// The largest error/bound that a climb finds, of a row of d numbers with a pattern of zeros.
double climbed(sum_form form, std::size_t d, generator& random) {
  written<float> row(1, static_cast<std::int64_t>(d), 1);
  row.scale = 1;
  row.v.values = {1};
  auto const share = random() % 4;
  for (std::size_t t = 0; t < d; ++t) {
    float const q = narrowed(form, static_cast<float>(gaussian(random))),
                k = narrowed(form, static_cast<float>(1 + 0.3 * gaussian(random)));
    row.q.values[t] = random() % 4 < share || t == random() % d ? 0 : t % 2 ? q : -q;
    row.k.values[t] = random() % 8 < share ? 0 : k;
  }
  double best = 0;
  for (int step = 0; step < 200; ++step) {
    written<float> next = row;
    float& x = (random() % 2 ? next.q.values : next.k.values)[random() % d];
    if (x == 0) continue;
    x = random() % 2
            ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(random() % 65) - 32)
            : x * static_cast<float>(1 + 0.2 * gaussian(random));
    x = narrowed(form, x);
    if (!std::isfinite(x) || std::abs(x) > 40 || x == 0) continue;
    ratios const found = judged(form, next, problem::zero_products::exact);
    REQUIRE(found.worst() <= 1);
    if (found.lse >= best) best = found.lse, row = next;
  }
  return best;
}

TEST_CASE("sums of products with zeros stay within the count of the others", "[property]") {
  for (sum_form const form :
       {sum_form::chain, sum_form::pairs, sum_form::lanes, sum_form::unit_of_4, sum_form::unit_of_8}) {
    generator random(20261128);
    double best = 0;
    for (int at = 0; at < 150; ++at) best = std::max(best, climbed(form, 2 + random() % 31, random));
    INFO("form " << static_cast<int>(form) << " reaches " << best);
    // The attack comes near: what units cut goes one way for whole products alone.
    CHECK(best > (is_unit(form) ? 0.2 : 0.5));
  }
}

TEST_CASE("a row of zeros and one product has the bound of one product", "[unit]") {
  written<float> wide(1, 64, 1), alone(1, 1, 1);
  wide.scale = alone.scale = 1;
  wide.v.values = alone.v.values = {1};
  wide.q.values.assign(64, 0), wide.k.values.assign(64, 1);
  wide.q.values[17] = alone.q.values[0] = 0x1.6p3F, wide.k.values[17] = alone.k.values[0] = 0x1.9p1F;
  auto const bound_of = [](written<float> const& row, problem::zero_products zeros) {
    return bound_check<float>(row).bound(model_of(sum_form::chain, zeros)).log_sum_exp().size;
  };
  double const one = bound_of(alone, problem::zero_products::counted);
  CHECK(bound_of(wide, problem::zero_products::exact) <= one * (1 + 0x1p-20));
  CHECK(bound_of(wide, problem::zero_products::counted) > 20 * one);
}

}  // namespace
}  // namespace attest::tests::zero_products_test
