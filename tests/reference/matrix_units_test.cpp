// Steps of matrix units (docs/bound.md, Lemma 9): one key, so that the LSE is the computed score, formed by the units
// of drawn_sums.hpp; the loss of a step, and of rows made to lose the most; and what the lemma sees that counts do not.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "tests/support/attacked_row.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drawn_sums.hpp"

namespace attest::tests::matrix_units_test {
namespace {

using problem::kernel_model;

constexpr sum_form units[] = {sum_form::unit_of_4, sum_form::unit_of_8, sum_form::unit_of_16};

/// Scores that are sums of products alone: scale 1, exp(0) = 1, log 1 = 0.
kernel_model model_of(sum_form form, bool declared) {
  kernel_model model;
  model.format = problem::formats::f32;
  model.k_qk_base = 0, model.u_qk = 2 * model.format.u;
  model.zero_products = problem::zero_products::exact;
  if (declared) model.block_fma = static_cast<int>(products_a_step(form)), model.alignment_bits = extra_bits(form);
  return model;
}

float narrowed(float x) {
  auto const& f16 = problem::row_of(problem::element_type::f16).format;
  return static_cast<float>(audit::rounded_to(static_cast<double>(x), f16));
}

written<float> row_of(std::size_t d) {
  written<float> row(1, static_cast<std::int64_t>(d), 1);
  row.scale = 1, row.v.values = {1};
  row.q.values.assign(d, 1);
  return row;
}

/// error/bound of the score that `computes` forms, under the model of `form`.
ratios judged(sum_form computes, sum_form form, bool declared, written<float> const& row) {
  bound_check<float> const check(row);
  float const score = sum_of_products(computes, row.q.values.data(), row.k.values.data(), row.q.values.size());
  return check.judge(model_of(form, declared), {{}, {}, static_cast<double>(score)});
}

/// A first product of 1. All others are so small that every step cuts them, and as large as that allows.
written<float> row_of_losses(sum_form form, std::size_t d) {
  written<float> row = row_of(d);
  for (std::size_t t = 0; t < d; ++t) {
    float const lost = std::ldexp(1.0F - 0x1p-10F, -23 - extra_bits(form));
    row.k.values[t] = t == 0 ? 1 : narrowed(0x1p-12F);
    if (t > 0) row.q.values[t] = narrowed(lost * 0x1p12F);
  }
  return row;
}

TEST_CASE("one step of a unit loses at most (z - 1)2^-e + 1 of what it adds or makes", "[property]") {
  for (sum_form const form : units) {
    generator random(20261129);
    double worst = 0;
    for (int at = 0; at < 200000; ++at) {
      std::size_t const z = 1 + random() % products_a_step(form);
      auto const drawn = [&](int most) {
        double const x = 1 + static_cast<double>(random() % 1024) * 0x1p-10;
        return std::ldexp(random() % 2 ? x : -x, -static_cast<int>(random() % static_cast<std::uint64_t>(most)));
      };
      std::vector<double> products(z);
      for (double& x : products)
        x = drawn(random() % 2 ? 27 : 4) * (1 + static_cast<double>(random() % 1024) * 0x1p-10);
      auto const c = static_cast<float>(drawn(6) * (1 + static_cast<double>(random() % 4096) * 0x1p-13));
      double exact = static_cast<double>(c), most = std::abs(exact);
      for (double const x : products) exact += x, most = std::max(most, std::abs(x));
      double const made = static_cast<double>(step_of_unit(c, products.data(), z, form));
      double const units_of_it = (static_cast<double>(z) - 1) * std::ldexp(1.0, -extra_bits(form)) + 1;
      double const allowed = 0x1p-23 * units_of_it * std::max(most, std::abs(exact)) * (1 + 0x1p-18);
      worst = std::max(worst, std::abs(made - exact) / allowed);
    }
    CHECK(worst <= 1);
    CHECK(worst > 0.6);
  }
}

TEST_CASE("scores of units stay within the bound of their steps, climbed", "[property]") {
  for (sum_form const form : units) {
    generator random(20261130);
    double best = 0;
    for (int at = 0; at < 60; ++at) {
      std::size_t const d = 2 + random() % 62;
      written<float> row = at % 2 ? row_of_losses(form, d) : row_of(d);
      for (std::size_t t = 0; at % 2 == 0 && t < d; ++t)
        row.k.values[t] = narrowed(static_cast<float>(gaussian(random)));
      double reached = judged(form, form, true, row).lse;
      for (int step = 0; step < 200; ++step) {
        written<float> next = row;
        float& x = (random() % 2 ? next.q.values : next.k.values)[random() % d];
        x = narrowed(x * static_cast<float>(1 + 0.2 * gaussian(random)));
        if (!std::isfinite(x) || std::abs(x) > 40 || x == 0) continue;
        double const found = judged(form, form, true, next).lse;
        REQUIRE(found <= 1);
        if (found >= reached) reached = found, row = next;
      }
      best = std::max(best, reached);
    }
    INFO("unit of " << products_a_step(form) << " reaches " << best);
    CHECK(best > 0.7);
  }
}

TEST_CASE("what a unit declares is sharper than a count, and sees a unit that lacks a bit", "[unit]") {
  auto const bound_of = [](sum_form form, bool declared) {
    written<float> row = row_of(64);
    row.k.values.assign(64, 1);
    return bound_check<float>(row).bound(model_of(form, declared)).log_sum_exp().size;
  };
  auto const gain = [&](sum_form form) { return bound_of(form, false) / bound_of(form, true); };
  CHECK(gain(sum_form::unit_of_4) == 1);
  CHECK(std::abs(gain(sum_form::unit_of_8) * 36 / 64 - 1) < 0.03);
  CHECK(std::abs(gain(sum_form::unit_of_16) * 19 / 64 - 1) < 0.03);
  // The unit of 4 has no extra bit. A contract with the numbers of another unit refutes it, and a count of d does not.
  for (sum_form const declared : {sum_form::unit_of_8, sum_form::unit_of_16}) {
    written<float> const row = row_of_losses(sum_form::unit_of_4, 64);
    CHECK(judged(sum_form::unit_of_4, declared, true, row).lse > 1);
    CHECK(judged(sum_form::unit_of_4, declared, false, row).lse <= 1);
  }
}

TEST_CASE("sums of O have the units of their steps", "[unit]") {
  written<float> row(256, 1, 1);
  row.scale = 1;
  for (std::size_t j = 0; j < 256; ++j) row.k.values[j] = 0, row.v.values[j] = j % 2 ? 1.0F : -1.0F;
  row.q.values = {1};
  bound_check<float> const check(row);
  kernel_model model = model_of(sum_form::unit_of_16, true);
  auto const height = [&](auto&& change) {
    kernel_model changed = model;
    changed.u_p = 0x1p-8, changed.omega_p = 0x1p-134;
    change(changed);
    return check.bound(changed).terms().height_O;
  };
  CHECK(height([](kernel_model&) {}) == 64 + 16 * 0.75);
  CHECK(height([](kernel_model& m) { m.merges = 3; }) == 64 + 16 * 0.75 + 3);
  CHECK(height([](kernel_model& m) { m.alignment_bits = 0; }) == 255);
  CHECK(height([](kernel_model& m) { m.block_fma = 0; }) == 255);
  CHECK(height([](kernel_model& m) { m.u_p = 0; }) == 255);
  CHECK(height([](kernel_model& m) { m.promote = 300; }) == 255);
  CHECK(height([](kernel_model& m) { m.k_block = 2, m.divided_block = 64; }) == 64 + 16 * 0.75 + 6);
}

}  // namespace
}  // namespace attest::tests::matrix_units_test
