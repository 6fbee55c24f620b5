// reference/bound/bound.hpp against docs/bound.md: the near-worst inputs of section 11, special rows, hypotheses, and
// every parameter's direction.
#include <functional>
#include <string_view>

#include "reference/bound/bound.hpp"
#include "reference/real/decimal.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::bounds_test {
using problem::kernel_model;
using reference::judged_by;

namespace {

/// d = 1, σ = 1.
written<float> with_scores(float q, std::vector<float> const& k, std::vector<float> const& v) {
  written<float> problem(static_cast<std::int64_t>(k.size()), 1, 1);
  problem.q.values = {q}, problem.k.values = k, problem.v.values = v;
  problem.scale = 1;
  return problem;
}

/// k_qk = 1, one block, ε = u: what the near-worst inputs of docs/bound.md, section 11, are computed with.
kernel_model one_block(std::int64_t m) {
  kernel_model model;
  model.format = problem::formats::f32;
  model.k_qk_base = 0, model.u_qk = 0x1p-24, model.eps = 0x1p-24, model.block = m;
  return model;
}

/// Online softmax in blocks, with the exp and the log of the library.
row_answer online_answer(written<float> const& row, std::size_t block, bool sums_blocks = false,
                         problem::element_type weights = problem::element_type::f32) {
  known_kernel kernel = plain_kernels().front();
  kernel.softmax = softmax_form::online, kernel.sums_blocks = sums_blocks;
  kernel.how.narrow = weights, kernel.how.stores_wide = true;
  return known_run(kernel, row, block, {1}).answer();
}

double output_ratio(written<float> const& problem, row_answer const& answer, kernel_model const& model) {
  return bound_check<float>(problem).judge(model, answer).output;
}

/// Does x round to these digits of docs/bound.md, section 11?
bool prints(double x, std::string_view digits) {
  return reference::rounds_to(reference::ball<128>::from(reference::value_of(x)), digits) == reference::decision::yes;
}

double output_size(written<float> const& problem, kernel_model const& model) {
  bound_check<float> const check(problem);
  return check.output_bound(check.bound(model)).size;
}

written<float> ordinary() {
  auto problem = with_scores(1.5f, {1, -0.25f, 0.5f, 2}, {1, -2, 3, 0.125f});
  problem.bias.values = {0.5f, 0, -1, 0.25f};
  return problem;
}

}  // namespace

TEST_CASE("the bound is reached to 0.999 by a row of 2000 keys, and not passed", "[unit]") {
  std::vector<float> k(2000, -0x1.0a2b22p+4f), v(2000, 0x1.ffffap-1f);
  k[0] = 0, v[0] = 1;
  auto const problem = with_scores(1, k, v);
  bound_check<float> const check(problem);
  auto const bound = check.output_bound(check.bound(one_block(2000)));
  CHECK(bound.by == judged_by::theorem);
  CHECK(prints(bound.size, "0.00023847541"));
  row_answer const answer = online_answer(problem, 2000);
  CHECK(prints(bound_check<float>::error(answer.o[0], check.output()), "0.00023823942"));
  double const ratio = output_ratio(problem, answer, one_block(2000));
  CHECK(prints(ratio, "0.99901"));
  CHECK(ratio <= 1);
}

TEST_CASE("an error of a weight that is below the smallest double still counts beside a small D", "[unit]") {
  // z ≥ 1 at the largest score, so that D counts the keys beside it alone: D = e^−700. The third weight, e^−784, is
  // below every double, and so is P = π·T.
  kernel_model model;
  model.format = problem::formats::f64;
  model.k_qk_per_d = 0, model.k_qk_base = 4, model.u_qk = 0x1p-11;
  written<double> problem(3, 1, 1);
  problem.scale = 1;
  problem.q.values = {1}, problem.k.values = {701, 1, -83}, problem.v.values = {1, 1, 1};
  bound_check<double> const check(problem);
  auto const bound = check.bound(model);
  auto const& terms = bound.terms();
  REQUIRE(terms.judged);
  auto const& lost = check.facts().keys[2];
  long double const T = std::expm1(static_cast<long double>(lost.x_upper - lost.x_lower) + terms.product_error * 83);
  long double const share = static_cast<long double>(lost.weight_upper) * (1 + T) / terms.D_lower;
  REQUIRE((0 < lost.weight_upper && lost.weight_upper < 0x1p-1070));
  CHECK(terms.nodes_L >= 1 + 3 * share / terms.model.format.u);
}

TEST_CASE("the bound is reached to 0.933 by two keys", "[unit]") {
  auto const problem = with_scores(0x1.78097ap+2f, {0x1.62f85ep+2f, -0x1.67da26p+2f}, {0, 1});
  double const ratio = output_ratio(problem, online_answer(problem, 2), one_block(2));
  CHECK(prints(ratio, "0.933"));
  CHECK(ratio <= 1);
}

TEST_CASE("the bound is reached to 0.996 by bf16 weights", "[unit]") {
  auto model = one_block(2);
  model.u_p = 0x1p-8, model.omega_p = 0x1p-134;
  auto const problem = with_scores(1, {0, -0x1.60e52ep-1f}, {0, 1});
  double const ratio = output_ratio(problem, online_answer(problem, 2, false, problem::element_type::bf16), model);
  CHECK(prints(ratio, "0.996"));
  CHECK(ratio <= 1);
}

TEST_CASE("one key leaves nothing but the last roundings", "[unit]") {
  auto const problem = with_scores(3, {7}, {5});
  CHECK(output_size(problem, one_block(1)) <= 4 * 0x1p-24 * 5);
  bound_check<float> const check(problem);
  CHECK(check.bound(one_block(1)).weight(0).size <= 3 * 0x1p-24 * 21);  // formed again, its score may round again
  CHECK(check.bound(one_block(1)).log_sum_exp().size <= 4 * 0x1p-24 * 21);
}

TEST_CASE("equal scores and d = 0 are within a few roundings", "[unit]") {
  written<float> none(4, 0, 1);
  none.scale = 1, none.v.values = {1, 2, 3, 4};
  CHECK(output_size(none, one_block(4)) <= 60 * 0x1p-24);
  CHECK(output_size(with_scores(1, {2, 2, 2, 2}, {1, 1, 1, 1}), one_block(4)) <= 60 * 0x1p-24);
}

TEST_CASE("every parameter that stands for an error only widens the bound", "[unit]") {
  struct change {
    char const* name;
    std::function<void(kernel_model&)> widen;
  };
  auto const bigger = [](double kernel_model::* field, double by) { return [=](kernel_model& m) { m.*field += by; }; };
  auto const more = [](int kernel_model::* field, int by) { return [=](kernel_model& m) { m.*field += by; }; };
  std::vector<change> const changes{
      {"u", [](kernel_model& m) { m.format.u *= 2; }},
      {"omega", [](kernel_model& m) { m.format.omega = 0x1p-40; }},
      {"k_qk", more(&kernel_model::k_qk_base, 3)},
      {"u_qk", [](kernel_model& m) { m.u_qk *= 4; }},
      {"k_add", more(&kernel_model::k_add, 1)},
      {"g_b", bigger(&kernel_model::g_b, 0x1p-20)},
      {"u_s", bigger(&kernel_model::u_s, 0x1p-12)},
      {"omega_s", bigger(&kernel_model::omega_s, 0x1p-25)},
      {"k_x", more(&kernel_model::k_x, 2)},
      {"c_m", more(&kernel_model::c_m, 1)},
      {"eps", bigger(&kernel_model::eps, 0x1p-20)},
      {"tau", bigger(&kernel_model::tau, 5.6)},
      {"x0", [](kernel_model& m) { m.x0 = 2; }},
      {"u_p", bigger(&kernel_model::u_p, 0x1p-8)},
      {"u_v", bigger(&kernel_model::u_v, 0x1p-8)},
      {"u_p shared", [](kernel_model& m) { m.u_p = 0x1p-11, m.omega_p = 0x1p-25, m.p_shared = true; }},
      {"k_pre", more(&kernel_model::k_pre, 1)},
      {"u_pv", bigger(&kernel_model::u_pv, 0x1p-20)},
      {"splits", more(&kernel_model::splits, 2)},
      {"k_f", more(&kernel_model::k_f, 1)},
      {"u_out", bigger(&kernel_model::u_out, 0x1p-8)},
      {"flushes", [](kernel_model& m) { m.flushes = true, m.format = problem::formats::f32_flushed; }}};
  auto const problem = ordinary();
  auto const base = one_block(4);
  double const narrow = output_size(problem, base);
  for (auto const& [name, widen] : changes) {
    auto wider = base;
    widen(wider);
    INFO(name);
    CHECK(output_size(problem, wider) >= narrow);
  }
  auto lse_merge = base;
  lse_merge.splits = 2;
  double const raw = output_size(problem, lse_merge);
  lse_merge.merge = problem::split_merge::lse;
  CHECK(output_size(problem, lse_merge) > raw);
  lse_merge.merge = problem::split_merge::lse_normalised;
  CHECK(output_size(problem, lse_merge) > raw);
}

TEST_CASE("adding a bias costs one rounding of the score in f64 too", "[unit]") {
  // (1 + u)^k − 1 evaluated in doubles is 0 for u = 2^−53: then a bias of 1e4 would cost nothing.
  written<double> problem(2, 1, 1);
  problem.q.values = {1}, problem.k.values = {0.3, -0.27}, problem.v.values = {0, 1}, problem.scale = 1;
  problem.bias.values = {1e4, 1e4};
  bound_check<double> const check(problem);
  kernel_model model;
  model.format = problem::formats::f64, model.k_qk_base = 0, model.eps = 0x1p-52, model.block = 2;
  double const without = check.output_bound(check.bound(model)).size;
  model.k_add = 1;
  double const with = check.output_bound(check.bound(model)).size;
  CHECK(with >= without + 0.2 * 1e4 * 0x1p-53);
  CHECK(with <= without + 2.0 * 1e4 * 0x1p-53);
}

TEST_CASE("bounds of weights, LSE and O in f64 are of the order of its roundings", "[unit]") {
  written<double> problem(4, 2, 1);
  problem.q.values = {1, -0.5}, problem.k.values = {1, 2, 0.5, 1, -1, 0.25, 2, 2}, problem.v.values = {1, -2, 3, 0.5};
  bound_check<double> const check(problem);
  kernel_model model;
  model.format = problem::formats::f64, model.k_qk_base = 3, model.eps = 0x1p-52, model.block = 4,
  model.eps_log = 0x1p-51;
  auto const bound = check.bound(model);
  for (std::size_t j = 0; j < 4; ++j) CHECK(bound.weight(j).size < 1e-14);
  CHECK(bound.log_sum_exp().size < 2e-14);
  CHECK(bound.row_sum().size < 2e-14);
  CHECK(check.output_bound(bound).size < 1e-14);
}

TEST_CASE("rows outside the hypotheses are not judged", "[unit]") {
  auto const by = [](written<float> const& problem, kernel_model const& model) {
    bound_check<float> const check(problem);
    return check.output_bound(check.bound(model)).by;
  };
  CHECK(by(with_scores(1, {1, 2}, {1, 2}), one_block(2)) == judged_by::theorem);
  CHECK(by(with_scores(1, {1, 2}, {3e38f, 2}), one_block(2)) == judged_by::nothing);      // H0: n·max|v|
  CHECK(by(with_scores(1e30f, {1e10f, 2}, {1, 2}), one_block(2)) == judged_by::nothing);  // H0: S_j
  auto coarse = one_block(2);
  coarse.format.u = coarse.u_qk = 0x1p-5;  // H4
  CHECK(by(with_scores(1, {1, 2}, {1, 2}), coarse) == judged_by::nothing);
  auto contracted = one_block(2);
  contracted.c_m = 1;  // H4: γ_{c_m}·Y ≤ 1/2
  CHECK(by(with_scores(1e8f, {1, 1.5f}, {1, 2}), contracted) == judged_by::dominance);
  bound_check<float> const far(with_scores(1, {1, 2}, {3e38f, 2}));
  auto const nothing = far.output_bound(far.bound(one_block(2)));
  CHECK(nothing.size == reference::infinity);
}

TEST_CASE("a combine without final division claims nothing where its error passes 1", "[unit]") {
  // 2u·max Y ≥ 1: the bound of Γ_L has a pole there, and was once negative beyond it.
  auto model = one_block(2);
  model.splits = 2, model.merge = problem::split_merge::lse_normalised;
  for (float const size : {1e7f, 3e7f, 1e9f, 1e20f}) {
    auto const problem = with_scores(size, {1, 0.5f}, {1, 2});
    bound_check<float> const check(problem);
    CHECK(check.output_bound(check.bound(model)).by == judged_by::nothing);
    CHECK(check.bound(model).hull_margin(2) == reference::infinity);
  }
}

TEST_CASE("an additive mask of finfo.min hides its key and leaves the row judged", "[unit]") {
  auto problem = with_scores(1, {1, 2, 50}, {1, 2, 7});
  problem.bias.values = {0, 0, std::numeric_limits<float>::lowest()};
  bound_check<float> const check(problem);
  auto model = one_block(3);
  model.k_add = 1;
  auto const bound = check.bound(model);
  CHECK(check.output_bound(bound).by == judged_by::theorem);
  CHECK(check.output_bound(bound).size < 1e-5);
  CHECK(bound.log_sum_exp().size < 1e-5);
  CHECK(bound.weight(2).size < 1e-5);
  CHECK(check.output_bound(check.bound(black_box_f32())).by == judged_by::theorem);
  CHECK(check.judge(model, online_answer(problem, 3, true)).worst() <= 1);
  problem.bias.values.assign(3, std::numeric_limits<float>::lowest());  // every key: outside H0
  bound_check<float> const all(problem);
  CHECK(all.output_bound(all.bound(model)).by == judged_by::nothing);
}

TEST_CASE("where only the clauses judge, errors of exp and of rounded weights still count", "[unit]") {
  // Products of 2^24 cancel: E_j is about 6, no theorem; the second key is 60 below.
  written<float> problem(2, 3, 1);
  problem.q.values = {0x1p24f, 0x1p24f, 1}, problem.k.values = {1, -1, 0, 1, -1, -60}, problem.v.values = {0, 1};
  problem.scale = 1;
  bound_check<float> const check(problem);
  auto const plain = one_block(2);
  REQUIRE(check.bound(plain).weight(1).by == judged_by::dominance);
  bound_check<float> const spread(with_scores(1, {1e8f, 1e8f}, {0, 1}));  // LSE by Λ_H (Corollary L)
  REQUIRE(spread.bound(plain).log_sum_exp().by == judged_by::dominance);

  auto shared = plain;  // l sums rounded weights: the ratio of two of them may grow by e^(2·û_p)
  shared.u_p = 0x1p-8, shared.omega_p = 0x1p-134, shared.p_shared = true;
  CHECK(check.bound(shared).weight(1).size >= check.bound(plain).weight(1).size * std::exp(2 * 0x1p-8));

  auto coarse = plain;  // ln ΣW may be off by one exp
  coarse.eps = 0x1p-6;
  CHECK(spread.bound(coarse).log_sum_exp().size >= spread.bound(plain).log_sum_exp().size + 0x1p-7);
  CHECK(spread.bound(shared).log_sum_exp().size >= spread.bound(plain).log_sum_exp().size + 0x1p-8);
}

namespace {

constexpr double at_compile_time() {
  reference::row_facts facts;
  facts.d = 1, facts.m = 1, facts.scale_upper = 1;
  facts.keys.push_back({.x_lower = 0,
                        .x_upper = 0,
                        .score_upper = 1,
                        .product_upper = 1,
                        .key_norm = 1,
                        .bias = 0,
                        .weight_lower = 1,
                        .weight_upper = 1});
  problem::kernel_model model;
  model.format = problem::formats::f32;
  reference::row_bound bound;
  bound.evaluate(model, facts);
  return bound.weight(0).size;
}
static_assert(at_compile_time() < 16 * 0x1p-24, "the bound is evaluated in constant expressions");

}  // namespace

}  // namespace attest::tests::bounds_test
