// Each line of H0 and H4 (docs/bound.md, section 2) decides alone whether a row is judged: a number just below its
// limit is judged, one above is not.
#include <cmath>
#include <functional>

#include "reference/bound/bound.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::hypotheses_test {
using problem::kernel_model;
using reference::row_facts;

namespace {

constexpr double limit = 0x1p126;  // Θ of f32

/// Two keys with scores 0 and −1; only the quantity that a line names is large.
row_facts two_keys() {
  row_facts facts;
  facts.d = 1, facts.m = 2, facts.scale_upper = 1, facts.query_norm = 1;
  facts.max_upper = 0, facts.normaliser_lower = 1.36, facts.lse_upper = facts.lse_above_max = 0.32;
  reference::key_facts near, far;
  near.weight_lower = near.weight_upper = 0.731, near.key_norm = near.product_upper = 1;
  far.index = 1, far.x_lower = far.x_upper = -1, far.score_upper = 1, far.key_norm = far.product_upper = 1;
  far.weight_lower = far.weight_upper = 0.269;
  facts.keys = {near, far};
  return facts;
}

kernel_model plain() {
  kernel_model model;
  model.format = problem::formats::f32;
  model.k_qk_per_d = 0, model.k_qk_base = 0;  // a product of any size leaves the scores exact
  model.eps = 0x1p-24, model.block = 2;
  return model;
}

bool judged(kernel_model const& model, row_facts const& facts) {
  reference::row_bound bound;
  bound.evaluate(model, facts);
  return bound.says_anything();
}

/// `set` puts a number into a model and a row.
void require_limit(char const* line, double below, double beyond,
                   std::function<void(kernel_model&, row_facts&, double)> const& set) {
  INFO(line);
  auto const at = [&](double number) {
    kernel_model model = plain();
    row_facts facts = two_keys();
    set(model, facts, number);
    return judged(model, facts);
  };
  CHECK(at(below));
  CHECK(!at(beyond));
}

void fold(kernel_model& model) { model.fold_q = true, model.folded_overflow = problem::folded_overflow::unspecified; }

}  // namespace

TEST_CASE("each line of H0 decides alone", "[unit]") {
  require_limit("the scale", 0.9 * limit, limit, [](auto&, row_facts& facts, double x) {
    facts.scale_upper = x;
    for (auto& key : facts.keys) key.product_upper = 0;
  });
  require_limit("the product", 0.9 * limit, limit, [](auto&, row_facts& facts, double x) {
    facts.scale_upper = 0x1p-20, facts.keys[1].product_upper = x;
  });
  require_limit("the product with the scale", 0.9 * limit, limit, [](auto&, row_facts& facts, double x) {
    facts.scale_upper = 0x1p20, facts.keys[1].product_upper = x * 0x1p-20;
    facts.keys[0].product_upper = 0;
  });
  require_limit("an infinite product", 0, 1, [](auto&, row_facts& facts, double x) { facts.finite_products = x == 0; });
  require_limit("a folded q", 0.9 * limit, limit,
                [](kernel_model& model, row_facts& facts, double x) { fold(model), facts.query_norm = x; });
  require_limit("a folded k", 0.9 * limit, limit,
                [](kernel_model& model, row_facts& facts, double x) { fold(model), facts.keys[1].key_norm = x; });
  require_limit("a folded k of a key without weight", 0.9 * limit, limit,
                [](kernel_model& model, row_facts& facts, double x) { fold(model), facts.lost_norm = x; });
  require_limit("the product of a key without weight", 0.9 * limit, limit,
                [](auto&, row_facts& facts, double x) { facts.lost_upper = x; });
  require_limit("the bias", 0.9 * limit, limit, [](auto&, row_facts& facts, double x) { facts.keys[1].bias = -x; });
  require_limit("the softcap from above", 0.9 * limit, limit,
                [](auto&, row_facts& facts, double x) { facts.softcap = x; });
  require_limit("the softcap from below", 0x1p-126, 0x1p-127,
                [](auto&, row_facts& facts, double x) { facts.softcap = x; });
  require_limit("stored scores", 65519, 65520, [](kernel_model& model, row_facts& facts, double x) {
    model.s_limit = 65520, facts.keys[1].score_upper = x;
  });
  // With errors of scores beyond far every key is far, also the one with the largest score.
  require_limit("the largest stored score", 65000, 66000, [](kernel_model& model, row_facts& facts, double x) {
    model.s_limit = 65520, model.u_s = 0x1p-8;
    facts.max_upper = facts.keys[0].score_upper = x;
  });
  require_limit("weights in a narrower format", 0.9, 1.1,
                [](kernel_model& model, auto&, double x) { model.p_limit = 65504, model.tau = std::log(65504.0) * x; });
  require_limit("l, which n·e^τ bounds", 0.9, 1.1,
                [](kernel_model& model, auto&, double x) { model.tau = (std::log(limit) - std::log(2.0)) * x; });
}

TEST_CASE("a bias beyond the limit is harmless where its key is sunk", "[unit]") {
  row_facts facts = two_keys();
  facts.keys[1].bias = -2 * limit;
  facts.keys[1].weight_lower = facts.keys[1].weight_upper = 0;
  auto const with_score = [&](double x) {
    facts.keys[1].x_lower = facts.keys[1].x_upper = x, facts.keys[1].score_upper = -x;
    return judged(plain(), facts);
  };
  CHECK(with_score(-2 * limit));
  CHECK(with_score(-0.26 * limit));
  CHECK(!with_score(-0.24 * limit));
}

TEST_CASE("a largest score that is unknown by an eighth of the limit leaves a row unjudged", "[unit]") {
  // g_b·|b_j| is the error of the first key's score; the second lies as far below.
  require_limit("M− > m − Θ/8", 0.9 * limit / 8, 1.1 * limit / 8, [](kernel_model& model, row_facts& facts, double x) {
    model.g_b = 0.25;
    for (auto& key : facts.keys) key.bias = x * 4;
    model.mask_limit = reference::infinity;
  });
}

TEST_CASE("references that are off by more than two thirds of far leave a row unjudged", "[unit]") {
  double const off = 4 * 0x1p-24;  // γ_4, to first order
  auto const large = [](kernel_model& model, row_facts& facts, double score) {
    model.c_m = 4, model.k_x = 0, model.large_scores = problem::large_scores::unspecified;
    facts.max_upper = score;
    for (auto& key : facts.keys) key.score_upper = score;
  };
  // n_far·ω_W/Λ ≤ 1/2 lets none of two keys be far; both are near here, so g⁺ ≤ Λ_x decides.
  require_limit("g⁺ ≤ Λ_x", 0.66 * 87 / off, 0.67 * 87 / off, large);
  kernel_model model = plain();
  row_facts facts = two_keys();
  large(model, facts, 87 / off);
  model.large_scores = problem::large_scores::stable;
  CHECK(judged(model, facts));
}

TEST_CASE("a largest weight that 1000 rescales by exp(0) shrink is not below the least sum of weights", "[unit]") {
  kernel_model model = plain();
  model.rescales = problem::rescale_count::per_block, model.block = 1;
  model.unchanged_rescale = problem::unchanged_rescale::rounded;
  model.eps = 0.24 / 1000, model.c_m = 4, model.k_x = 0, model.large_scores = problem::large_scores::unspecified;
  row_facts facts = two_keys();
  facts.m = 1001, facts.max_upper = 0.5 / (4 * 0x1p-24);  // κ = g = 1/2
  for (auto& key : facts.keys) key.score_upper = facts.max_upper;
  reference::row_bound bound;
  bound.evaluate(model, facts);
  REQUIRE(bound.says_anything());
  REQUIRE(bound.terms().R == 1000);
  CHECK(bound.terms().least_sum <= std::pow(1 - model.eps, 1001) * std::exp(-bound.terms().g));
}

TEST_CASE("each line of H4 decides alone", "[unit]") {
  require_limit("short sums", 0.9, 1.1, [](kernel_model& model, row_facts& facts, double x) {
    model.rescales = problem::rescale_count::per_block, model.block = 1, facts.m = 1001;
    model.unchanged_rescale = problem::unchanged_rescale::rounded;
    model.eps = 0.25 / 1000 * x;
  });
  require_limit("the roundings of a division", 7, 8,
                [](kernel_model& model, auto&, double x) { model.k_f = static_cast<int>(x); });
  require_limit("exp beside a rounded reference", 0.125, 0.126, [](kernel_model& model, auto&, double x) {
    model.rescales = problem::rescale_count::none, model.c_m = 1, model.eps = x;
  });
  require_limit("the error of merges by LSE", 0.4, 0.6, [](kernel_model& model, auto&, double x) {
    model.merge = problem::split_merge::lse, model.eps_log = x / 2.2;  // ℓ = ln 2 + 3/2
  });
  require_limit("roundings of states between merges", 128, 129, [](kernel_model& model, auto&, double x) {
    model.merge = problem::split_merge::lse, model.eps_log = 0;
    model.merge_levels = static_cast<int>(x), model.u_state = 0x1p-8;
  });
}

}  // namespace attest::tests::hypotheses_test
