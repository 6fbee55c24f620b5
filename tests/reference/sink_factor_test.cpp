// Honest kernels that multiply the answer of the keys by the factor of a sink, at what makes Theorem T2 of
// docs/bound.md say less than f(1 + Φ)B_K: a factor in 16 bits, an O of the keys that overflows, an exp that is cut,
// sinks far below.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/judge/element_value.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::sink_factor_test {
using problem::bf16, problem::f16;

namespace {

problem::kernel_model rescaling(char const* preset) {
  problem::kernel_model model = audit::find_contract(preset)->fixed;
  model.sink_form = problem::sink_form::rescale;
  return model;
}

template <class E>
float rounded(float x) {
  return static_cast<float>(audit::as_double(audit::nearest_element<E>(static_cast<double>(x))));
}
float exp_of(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }
float log_of(float x) { return static_cast<float>(std::log(static_cast<double>(x))); }

/// One key of score 0 and others of −σ, whose weight is just above a midpoint of a format with the unit roundoff u:
/// their P is rounded up by nearly u.
written<float> beside_midpoint(std::size_t n, double u) {
  written<float> row(static_cast<std::int64_t>(n), 1, 1);
  row.q.values = {1}, row.scale = -std::log(0.5 * (1 + u) * (1 + 3e-6));
  row.k.values.assign(n, -1), row.k.values[0] = 0;
  return row;
}

/// O and the LSE of the keys, P rounded to E, all else in float32.
struct of_keys {
  float o = 0, lse = 0;
};
template <class E>
of_keys answered(written<float> const& row) {
  float l = 0, O = 0;
  for (std::size_t j = 0; j < row.k.values.size(); ++j) {
    float const p = exp_of(row.k.values[j] * static_cast<float>(*row.scale));
    l = l + p, O = O + rounded<E>(p) * row.v.values[j];
  }
  return {O / l, log_of(l)};
}

float sigmoid(float t, float lse) { return 1.0f / (1.0f + exp_of(t - lse)); }

double output_ratio(written<float> const& row, problem::kernel_model const& model, float o) {
  bound_check<float> const check(row);
  auto const allowed = check.output_bound(check.bound(model));
  REQUIRE(allowed.by == reference::judged_by::theorem);
  return bound_check<float>::error(static_cast<double>(o), check.output()) / allowed.size;
}
double lse_ratio(written<float> const& row, problem::kernel_model const& model, float lse) {
  bound_check<float> const check(row);
  auto const exact = reference::compiled::log_sum_exp(check.row());
  auto const allowed = check.bound(model).log_sum_exp();
  REQUIRE(allowed.by != reference::judged_by::nothing);
  return bound_check<float>::error(static_cast<double>(lse), exact) / allowed.size;
}

}  // namespace

TEST_CASE("a factor that is rounded to the 16 bits of the output is allowed", "[unit]") {
  constexpr std::size_t n = 512;
  written<float> row = beside_midpoint(n, 0x1p-8);
  of_keys found;
  // V so that O of the keys is just above a midpoint, too: it is rounded up, as P was.
  for (std::size_t larger = 0; larger < n; ++larger) {
    for (std::size_t j = 0; j < n; ++j) row.v.values[j] = j < n - larger ? 1 + 4 * 0x1p-7f : 1 + 5 * 0x1p-7f;
    found = answered<bf16>(row);
    if (found.o > 1 + 4.5 * 0x1p-7) break;
  }
  // A factor just above a midpoint.
  double const f = (1 + 12.5 * 0x1p-7) / 2 * (1 + 2e-6);
  row.sink.values = {found.lse + static_cast<float>(std::log(1 / f - 1))};
  float const factor = sigmoid(row.sink.values[0], found.lse), stored = rounded<bf16>(found.o);
  CHECK(output_ratio(row, rescaling("bf16"), rounded<bf16>(stored * factor)) <= 1);
  double const narrow = output_ratio(row, rescaling("bf16"), rounded<bf16>(stored * rounded<bf16>(factor)));
  INFO("torchtitan's o * sigmoid(lse - sink).to(o.dtype): " << narrow);
  CHECK(narrow <= 1);
}

TEST_CASE("an O of the keys that overflows the output type explains an infinity, and NaN where the factor is 0",
          "[unit]") {
  constexpr std::size_t n = 64;
  written<float> wide = beside_midpoint(n, 0x1p-11);
  wide.v.values.assign(n, 65504);
  of_keys const found = answered<f16>(wide);
  REQUIRE(std::isinf(rounded<f16>(found.o)));
  for (float const apart : {0.0f, -3.0f, 3.0f, 40.0f}) {
    written<f16> row(static_cast<std::int64_t>(n), 1, 1);
    row.scale = wide.scale;
    for (std::size_t j = 0; j < n; ++j) {
      row.k.values[j] = element_from<f16>(static_cast<double>(wide.k.values[j]));
      row.v.values[j] = element_from<f16>(65504);
    }
    row.q.values = {element_from<f16>(1)};
    row.sink.values = {element_from<f16>(static_cast<double>(found.lse + apart))};
    float const t = static_cast<float>(audit::as_double(row.sink.values[0])),
                factor = rounded<f16>(sigmoid(t, found.lse));
    auto const p = row.instance();
    auto const judged = [&](double o) {
      f16 const answer = element_from<f16>(o);
      audit::output_views<f16> outputs;
      outputs.o = problem::lifted(problem::tensor<f16 const>{&answer, problem::layout::compact({1, 1})});
      audit::judgement into;
      audit::exact_row_judge<f16>(p, outputs, rescaling("f16")).judge(0, 0, 0, into);
      return into;
    };
    INFO("t - LSE = " << apart);
    auto const honest = judged(static_cast<double>(std::numeric_limits<float>::infinity() * factor));
    CHECK(honest.failed == 0);
    CHECK(honest.not_judged() == 1);
    CHECK(judged(-std::numeric_limits<double>::infinity()).failed == 1);
    auto const kept = judged(static_cast<double>(found.o * factor));  // O of the keys in float32
    CHECK(kept.failed == 0);
    CHECK(kept.not_judged() == 0);
    CHECK(judged(0.9 * static_cast<double>(found.o * factor) - 100).failed == 1);
  }
}

TEST_CASE("an exp that is cut at x0 changes the factor and the LSE by e^-x0", "[unit]") {
  for (double const x0 : {8.0, 12.0, 20.0})
    for (double const apart : {-x0 - 0.5, x0 + 0.5, -x0 - 3, x0 + 3}) {
      written<float> row = with_scores({0, 0}, {1, 1});
      float const lse = log_of(2), t = lse + static_cast<float>(apart), top = std::max(t, lse);
      row.sink.values = {t};
      auto const cut = [&](float x) { return static_cast<double>(x) < -x0 ? 0.0f : exp_of(x); };
      float const whole = top + log_of(1 + cut(std::min(t, lse) - top));
      problem::kernel_model model = rescaling("f32-gradual");
      model.x0 = x0;
      INFO("x0 = " << x0 << ", t - LSE = " << apart);
      CHECK(output_ratio(row, model, 1.0f / (1.0f + cut(t - lse))) <= 1);
      CHECK(output_ratio(row, model, cut(lse - t) / (1.0f + cut(lse - t))) <= 1);
      CHECK(output_ratio(row, model, cut(lse - whole)) <= 1);
      CHECK(lse_ratio(row, model, whole) <= 1);
    }
}

TEST_CASE("a sink far below the keys leaves the bounds of the keys, in every form", "[unit]") {
  written<float> row = with_scores({0.5f, -1, 2, 0.25f, 1}, {1, -2, 0.5f, 3, -1});
  auto const bounds = [&](float t, problem::sink_form form) {
    row.sink.values = {t};
    problem::kernel_model model = audit::find_contract("f32-any")->fixed;
    model.sink_form = form;
    bound_check<float> const check(row);
    auto const bound = check.bound(model);
    return std::pair{check.output_bound(bound), bound.log_sum_exp()};
  };
  for (float const t : {-20.0f, -1e3f, -1e4f, -1e6f, -1e9f, -1e30f, -3.4e38f})
    for (auto const form : {problem::sink_form::rescale, problem::sink_form::any}) {
      INFO("t = " << t << ", form " << static_cast<int>(form));
      auto const [o, lse] = bounds(t, form);
      auto const [o_term, lse_term] = bounds(-20, problem::sink_form::term);
      CHECK(o.size <= 4 * o_term.size);
      CHECK(lse.size <= 4 * lse_term.size);
      CHECK(!o.dull);
      CHECK(!lse.dull);
    }
}

TEST_CASE("a row without a sink has the same bits under every form of a sink", "[unit]") {
  for (char const* const preset : {"f32", "f32-any", "bf16", "f16", "f32-split"}) {
    written<float> const row = with_scores({0.5f, -1, 2, 0.25f, 1}, {1, -2, 0.5f, 3, -1});
    bound_check<float> const check(row);
    auto const numbers = [&](problem::kernel_model const& model) {
      auto const bound = check.bound(model);
      auto const o = check.output_bound(bound);
      return std::vector{o.size,
                         o.unrounded,
                         o.warning,
                         bound.log_sum_exp().size,
                         bound.weight(2).size,
                         bound.row_sum().size,
                         bound.hull_margin(3)};
    };
    problem::kernel_model model = audit::find_contract(preset)->fixed;
    model.sink_form = problem::sink_form::term;
    auto const before = numbers(model);
    for (auto const form : {problem::sink_form::rescale, problem::sink_form::any}) {
      model.sink_form = form, model.k_sink = 9;
      CHECK(numbers(model) == before);
    }
  }
}

}  // namespace attest::tests::sink_factor_test
