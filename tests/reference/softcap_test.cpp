// Softcap: s = c·tanh(σ·q·k/c) + b, its classes, its enclosures, its rounding, its bound.
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

namespace attest::tests::softcap_test {
using reference::row_kind;

namespace {

template <unsigned W>
std::vector<reference::ball<W>> weights_of(reference::enclosed_row<W, float> const& row) {
  std::vector<reference::ball<W>> weights;
  for (std::size_t at = 0; at < row.keys.size(); ++at) weights.push_back(reference::compiled::weight(row, at));
  return weights;
}

using ball = reference::ball<128>;

/// Are both enclosures of one number, and narrow?
bool agrees(ball const& found, ball const& expected) {
  return reference::overlap(found, expected) && reference::upper_size(found - expected) < 0x1p-100;
}
/// tanh(x) of x > 0
ball tanh_of(ball const& x) {
  ball const e = reference::exp(-(x + x));
  return (ball(1) - e) / (ball(1) + e);
}

}  // namespace

TEST_CASE("softcap bends scores before the bias", "[unit]") {
  auto problem = row_of({3, -1, 0}, {1, 0, 0}, 2);
  problem.bias.values = {0.5f, 4, -1};
  auto const row = enclosed<128>(problem);
  ball const half = ball(1).scaled_by_power_of_two(-1);
  ball const s[] = {tanh_of(ball(1) + half).scaled_by_power_of_two(1) + half,
                    ball(4) - tanh_of(half).scaled_by_power_of_two(1), ball(-1)};  // the largest is s[1]
  ball const p[] = {reference::exp(s[0] - s[1]), ball(1), reference::exp(s[2] - s[1])}, Z = p[0] + p[1] + p[2];
  CHECK(agrees(reference::compiled::log_sum_exp(row), s[1] + reference::log(Z)));
  for (std::size_t j = 0; j < 3; ++j) CHECK(agrees(reference::compiled::weight(row, j), p[j] / Z));
}

TEST_CASE("softcap maps infinite scores to its ends, before the +inf rule", "[unit]") {
  auto problem = row_of({infinity, 0, -infinity}, {1, 2, 3}, 2);
  auto const row = enclosed<128>(problem);
  REQUIRE(row.kind == row_kind::finite);
  REQUIRE(row.keys.size() == 3);
  ball const lowest = reference::exp(ball(-4)), Z = ball(1) + reference::exp(ball(-2)) + lowest;  // over e²
  CHECK(agrees(reference::compiled::weight(row, 0), ball(1) / Z));
  CHECK(agrees(reference::compiled::weight(row, 2), lowest / Z));
  // The products overflow: no theorem about kernels speaks of them.
  reference::row_facts facts;
  reference::compiled::collect_facts(problem.instance(), row, facts);
  reference::row_bound bound;
  reference::compiled::evaluate(bound, black_box_f32(), facts);
  CHECK_FALSE(bound.says_anything());
  CHECK(bound.log_sum_exp().by == reference::judged_by::nothing);

  problem.scale = 0.0;  // 0·∞
  CHECK(enclosed<128>(problem).kind == row_kind::nan);
  problem.scale = -1.0;
  CHECK(agrees(reference::compiled::weight(enclosed<128>(problem), 2), ball(1) / Z));
  problem.k.values[1] = std::nanf("");
  CHECK(enclosed<128>(problem).kind == row_kind::nan);
}

TEST_CASE("softcap leaves the bias of -inf and +inf alone", "[unit]") {
  auto problem = row_of({1, 2}, {1, 2}, 2);
  problem.bias.values = {0, -infinity};
  auto const row = enclosed<128>(problem);
  CHECK(row.keys.size() == 1);
  CHECK(row.without_weight.size() == 1);
  problem.bias.values = {0, infinity};
  CHECK(enclosed<128>(problem).kind == row_kind::nan);
}

TEST_CASE("a cap far above the scores changes them by less than x^3/3c^2", "[property]") {
  many(1, "softcap of 2^60", [] {
    auto problem = drawn_row<float>();
    reference::enclosed_row<256, float> plain, capped;
    auto const without = problem.instance();
    reference::compiled::enclose_row(without, 0, 0, 0, plain);
    problem.softcap = 0x1p60;
    auto const with = problem.instance();
    reference::compiled::enclose_row(with, 0, 0, 0, capped);
    RC_ASSERT(plain.kind == capped.kind);
    RC_PRE(plain.kind == row_kind::finite);
    double const x = reference::upper_size(plain.max_score) + 1e4;
    auto const gap = reference::compiled::log_sum_exp(plain) - reference::compiled::log_sum_exp(capped);
    RC_PRE(x < 1e15);
    RC_ASSERT(reference::upper_size(gap) <= x * x * x * 0x1p-120);
  });
}

TEST_CASE("widths agree with softcap: what one says overlaps what twice of it says", "[property]") {
  many(1, "softcap at 64, 128 and 256 bits", [] {
    auto problem = drawn_row<float>(true, true);
    if (problem.softcap == 0) problem.softcap = *rc::gen::element(0.5, 30.0, 1e200, 5e-324);
    auto const narrow = enclosed<64>(problem);
    auto const wide = enclosed<256>(problem);
    RC_ASSERT(narrow.kind == wide.kind);
    RC_PRE(wide.kind == row_kind::finite);
    auto const p = problem.instance();
    auto const meets = [](reference::ball<64> const& a, reference::ball<256> const& b) {
      return reference::overlap(reference::widened<256>(a), b);
    };
    RC_ASSERT(meets(reference::compiled::output(p, narrow, 0).value, reference::compiled::output(p, wide, 0).value));
    RC_ASSERT(meets(reference::compiled::log_sum_exp(narrow), reference::compiled::log_sum_exp(wide)));
    RC_ASSERT(meets(reference::entropy(narrow), reference::entropy(wide)));
    auto const narrow_weights = weights_of(narrow);
    auto const wide_weights = weights_of(wide);
    for (std::int64_t i = 0; i < reference::length_of(wide_weights); ++i)
      RC_ASSERT(
          meets(reference::softmax_jacobian(narrow_weights, i, 0), reference::softmax_jacobian(wide_weights, i, 0)));
  });
}

TEST_CASE("the Jacobian's columns sum to 0", "[property]") {
  many(1, "sum of dp_i/ds_j over i", [] {
    auto const row = enclosed<128>(drawn_row<float>(true, true));
    RC_PRE(row.kind == row_kind::finite);
    auto const weights = weights_of(row);
    for (std::int64_t j = 0; j < reference::length_of(weights); ++j) {
      reference::ball<128> sum;
      for (std::int64_t i = 0; i < reference::length_of(weights); ++i)
        sum = sum + reference::softmax_jacobian(weights, i, j);
      RC_ASSERT(reference::overlap(sum, reference::ball<128>()));
      RC_ASSERT(sum.radius <= reference::magnitude::power_of_two(-60) || row.rule.capped());
    }
  });
}

TEST_CASE("kernels that cap as they say stay inside the bound, and a cap after the bias does not", "[property]") {
  ratios seen;
  many(2, "honest kernels with softcap", [&] {
    auto problem = drawn_row<float>(true, true);
    problem.softcap = *rc::gen::element(0.25, 1.0, 3.0, 30.0, 50.0, 0x1p20);
    problem.mask.values.clear();                                            // known_run sees every key
    if (problem.scale) problem.scale = static_cast<float>(*problem.scale);  // its own rounding is not in question
    bound_check<float> const check(problem);
    RC_PRE(check.finite());
    for (auto const& kernel : plain_kernels()) {
      auto const found = judge(kernel, problem, check, 8, {1, 0, 0, 1});
      RC_ASSERT(found.worst() <= 1);
      seen.merge(found);
    }
    auto const found = check.judge(black_box_f32(), known_run(plain_kernels().front(), problem, 8, {1}).answer());
    RC_ASSERT(found.worst() <= 1);
  });
  CHECK(seen.judged > 0);
  CHECK(seen.worst() > 0.2);  // the bound is about this error
  WARN("honest kernels with softcap: worst error/bound " << seen.worst());
}

TEST_CASE("a softcap that comes after the bias is outside the bound", "[unit]") {
  auto problem = row_of({3, 1}, {1, 0}, 2);
  problem.bias.values = {1, 0};
  bound_check<float> const check(problem);
  auto wrong = row_of({4, 1}, {1, 0}, 2);  // cap(3 + 1)
  auto const found = check.judge(black_box_f32(), known_run(plain_kernels().front(), wrong, 8, {1}).answer());
  CHECK(found.output > 1000);
}

}  // namespace attest::tests::softcap_test
