// The machine tier against the exact one: its enclosures contain the exact value, and its bounds are row_bound's.
#include "reference/machine/rows.hpp"

#include <array>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "audit/contract/contract.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/testing.hpp"
#include "tests/machine/problem.hpp"
#include "tests/support/property.hpp"

namespace {

using namespace attest;
using namespace attest::tests;
using reference::ball;
using reference::machine::certified_row;

constexpr unsigned W = 128;

/// Is the exact value within radius of mid, whatever element of its ball it is?
bool contains(double mid, double low, double radius, ball<W> const& exact) {
  if (!std::isfinite(mid) || !std::isfinite(low)) return false;
  auto const at = [](double x) { return ball<W>::from(reference::value_of(x)); };
  auto const off = reference::absolute((exact - at(mid)) - at(low));
  return reference::at_most(off, ball<W>::from(reference::value_of(radius))) == reference::decision::yes;
}
/// The same for an interval; its ends at the quantity's own limits always hold.
bool between(double low, double high, ball<W> const& exact, double least, double most) {
  auto const at_most = [](ball<W> const& a, ball<W> const& b) {
    return reference::at_most(a, b) == reference::decision::yes;
  };
  return (low == least || at_most(ball<W>::from(reference::value_of(low)), exact)) &&
         (high == most || at_most(exact, ball<W>::from(reference::value_of(high))));
}
/// Rounding outward on lanes adds 2⁻¹⁰²², which shows in f64's smallest bounds.
bool nearly(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)) + 0x1p-1000;
}

struct tally {
  std::int64_t rows = 0, handed_over = 0, columns = 0;
  std::int64_t borderline = 0;  ///< bounds that differ because two keys are as near as their last bits
};

/// Are two evaluations of one bound the same? Lanes round another way than doubles: where a score stands within a last
/// bit of another one, a rank may differ by 1, and with it one ε̂ of many.
bool same_bound(double a, double b, tally& seen) {
  if (nearly(a, b)) return true;
  ++seen.borderline;
  return std::abs(a - b) <= 0.02 * std::max(a, b);
}

template <class T>
void check_row(problem::instance<T> const& instance, problem::kernel_model const& model, bool tame,
               certified_row const& got, tally& seen) {
  reference::enclosed_row<W, T> exact;
  reference::compiled::enclose_row(instance, got.b, got.h, got.i, exact);
  ++seen.rows;
  if (got.handed_over) {
    ++seen.handed_over;
    if (tame) RC_ASSERT(exact.kind == reference::row_kind::empty);
    return;
  }
  RC_ASSERT(exact.kind == reference::row_kind::finite);
  RC_ASSERT(exact.keys.size() == got.keys.size());
  reference::row_facts const facts = reference::machine::testing::facts_of(got);
  double products = 0;
  for (auto const& key : facts.keys)
    products = std::max(products, facts.scale_upper * key.product_upper + std::abs(key.bias));
  for (std::size_t n = 0; n < exact.keys.size(); ++n) {
    RC_ASSERT(exact.keys[n].j == got.keys[n]);
    RC_ASSERT(between(got.weight_lower[n], got.weight_upper[n], reference::compiled::weight(exact, n), 0, 1));
    RC_ASSERT(between(facts.keys[n].x_lower, facts.keys[n].x_upper, exact.keys[n].below_max, -reference::infinity, 0));
  }
  for (std::size_t n = 0; n < got.weight.size(); ++n) {
    RC_ASSERT(contains(got.weight[n], got.weight_low[n], got.weight_radius[n], reference::compiled::weight(exact, n)));
    if (tame) RC_ASSERT(got.weight_radius[n] <= 1e-24 * got.weight[n] * std::max(1.0, products / 50) + 1e-250);
  }
  // The ball tier's own upper bounds are up to 2⁻³⁰ above the numbers.
  reference::row_facts sharp;
  reference::compiled::collect_facts(instance, exact, sharp);
  RC_ASSERT(facts.scale_upper >= sharp.scale_upper * (1 - 1e-9));
  RC_ASSERT(facts.query_norm >= sharp.query_norm * (1 - 1e-9));
  RC_ASSERT(facts.d == sharp.d);
  RC_ASSERT(facts.m == sharp.m);
  RC_ASSERT(facts.softcap == sharp.softcap);
  RC_ASSERT(facts.finite_products == sharp.finite_products);
  RC_ASSERT(nearly(facts.lost_upper, sharp.lost_upper));  // what H0 asks of keys without weight
  RC_ASSERT(nearly(facts.lost_norm, sharp.lost_norm));
  RC_ASSERT(facts.normaliser_lower <= sharp.normaliser_lower * (1 + 1e-9));
  RC_ASSERT(facts.max_upper >= sharp.max_upper * (1 - 1e-9));
  for (std::size_t n = 0; n < sharp.keys.size(); ++n) {
    auto const& a = facts.keys[n];
    auto const& b = sharp.keys[n];
    RC_ASSERT(nearly(a.product_upper, b.product_upper));
    RC_ASSERT(a.index == b.index);
    RC_ASSERT(nearly(a.key_norm, b.key_norm));
    RC_ASSERT(a.bias == b.bias);
    RC_ASSERT(a.score_upper >= b.score_upper * (1 - 1e-9));
  }
  RC_ASSERT(contains(got.lse, got.lse_low, got.lse_radius, reference::compiled::log_sum_exp(exact)));

  // The same facts, the same theorem.
  reference::row_bound bound;
  bound.evaluate(model, facts);
  RC_ASSERT(got.lse_bound.by == bound.log_sum_exp().by);
  RC_ASSERT(same_bound(got.lse_bound.size, bound.log_sum_exp().size, seen));
  for (std::size_t n = 0; n < got.keys.size(); ++n) {
    auto const expected = bound.weight(n);
    RC_ASSERT(expected.by == reference::judged_by::nothing || same_bound(got.weight_bound[n], expected.size, seen));
  }
  std::int64_t const hk = reference::key_head(instance.size(), got.h);
  for (std::size_t c = 0; c < got.o.size(); ++c) {
    auto const column = static_cast<std::int64_t>(c);
    auto const o = reference::compiled::output(instance, exact, column);
    if (!(got.o_radius[c] < reference::infinity)) {
      RC_ASSERT(o.kind != reference::value_kind::finite);
      continue;
    }
    ++seen.columns;
    RC_ASSERT(o.kind == reference::value_kind::finite);
    double const low = got.o_low.empty() ? 0 : got.o_low[c];
    RC_ASSERT(contains(got.o[c], low, got.o_radius[c], o.value));
    double largest = 0;
    auto const value = [&](std::size_t n) { return reference::value_of(instance.v()(got.b, hk, got.keys[n], column)); };
    for (std::size_t n = 0; n < got.keys.size(); ++n) largest = std::max(largest, reference::size_upper(value(n)));
    if (tame)
      RC_ASSERT(got.o_radius[c] <=
                (got.o_low.empty() ? 1e-12 : 1e-26) * largest * std::max(1.0, products / 50) + 1e-300);
    ball<W> around = ball<W>::from(reference::value_of(got.o[c])) + ball<W>::from(reference::value_of(low));
    reference::element const radius = reference::value_of(got.o_radius[c]);
    around.radius = reference::magnitude(static_cast<std::uint64_t>(radius.significand), radius.exponent);
    auto const expected = bound.output(around, value);
    // Where both entries of A_c are what underflows, rounding decides which is smaller.
    RC_ASSERT(got.o_by[c] == expected.by ||
              (expected.size < 1e-30 * std::max(1.0, largest) && got.o_by[c] != reference::judged_by::nothing));
    if (expected.by == reference::judged_by::nothing) continue;
    RC_ASSERT(same_bound(got.o_bound[c], expected.size, seen));
    bool const plain = nearly(got.o_bound[c], expected.size);
    // Its squares leave the range of doubles beyond these, and its root is not directed: nothing rests on it.
    RC_ASSERT(!std::isnan(got.o_warning[c]));
    // (Equal scores may differ in their last bit from lane to lane: then the groups of section 9 do, too.)
    if (expected.warning > 1e-140 && expected.warning < 1e150 && plain &&
        got.terms->sum_groups == bound.terms().sum_groups)
      RC_ASSERT(nearly(got.o_warning[c], expected.warning));
    if (expected.by == reference::judged_by::dominance) RC_ASSERT(got.lowest[c] <= got.highest[c]);
  }
}

template <class T>
void compare_tiers(std::string const& type, std::vector<std::string> const& contracts, bool double_words = false) {
  for (std::string_view const target : reference::machine::simd_targets()) {
    tally seen;
    reference::machine::use_simd_target(target);
    property(
        type + " on " + std::string(target) + " contains the exact value", [&](std::uint64_t seed, std::uint8_t which) {
          machine_problem<T> const problem(seed);
          auto const instance = problem.instance();
          auto const model = audit::find_contract(contracts[which % contracts.size()])->fixed;
          auto rows =
              reference::machine::row_source<T>::make(instance, model, {.weights = true, .double_words = double_words});
          RC_ASSERT(rows.has_value());
          for (std::int64_t b = 0; b < problem.s.b; ++b)
            for (std::int64_t h = 0; h < problem.s.hq; ++h)
              rows.value().each(b, h, 0, problem.s.n,
                                [&](certified_row const& row) { check_row(instance, model, problem.tame, row, seen); });
        });
    INFO(seen.rows << " rows, " << seen.handed_over << " handed over, " << seen.columns << " columns certified");
    CHECK(seen.columns > seen.rows);
    CHECK(seen.handed_over * 2 < seen.rows);
    CHECK(seen.borderline * 100 < seen.columns);
  }
  reference::machine::use_simd_target("");
}

}  // namespace

TEST_CASE("f32 rows contain the exact values, and their bounds are the theorem's", "[property][differential]") {
  compare_tiers<float>("f32", {"f32", "f32-any", "f32-split", "f32-ring", "f32-ring-sigmoid", "f32-ordered"});
}
TEST_CASE("bf16 rows contain the exact values, and their bounds are the theorem's", "[property][differential]") {
  compare_tiers<problem::bf16>("bf16", {"bf16", "bf16-ieee", "bf16-ordered"});
}
TEST_CASE("f16 rows contain the exact values, and their bounds are the theorem's", "[property][differential]") {
  compare_tiers<problem::f16>("f16", {"f16", "f16-ieee", "f16-ftz", "f16-ieee-ordered"});
}

TEST_CASE("f64 rows contain the exact values, and their bounds are the theorem's", "[property]") {
  compare_tiers<double>("f64", {"f64", "f64-blocked", "f64-ordered"});
}
TEST_CASE("rows of narrower types in double words contain the exact values too", "[property]") {
  compare_tiers<float>("f32 in double words", {"f32", "f32-any"}, true);
  compare_tiers<problem::bf16>("bf16 in double words", {"bf16", "bf16-ieee", "bf16-ordered"}, true);
  compare_tiers<problem::f16>("f16 in double words", {"f16", "f16-ieee", "f16-ftz", "f16-ieee-ordered"}, true);
}

/// The bits of everything that a judge reads of the rows of a problem, on one target.
template <class T>
std::vector<double> numbers_on(std::string_view target, std::uint64_t seed) {
  reference::machine::use_simd_target(target);
  machine_problem<T> const problem(seed);
  auto const instance = problem.instance();
  auto const model = audit::default_contract(problem::type_of<T>).fixed;
  auto rows = reference::machine::row_source<T>::make(instance, model, {.weights = true}).value();
  std::vector<double> numbers;
  auto const add = [&](std::span<double const> more) { numbers.insert(numbers.end(), more.begin(), more.end()); };
  for (std::int64_t b = 0; b < problem.s.b; ++b)
    for (std::int64_t h = 0; h < problem.s.hq; ++h)
      rows.each(b, h, 0, problem.s.n, [&](certified_row const& row) {
        numbers.push_back(row.handed_over);
        if (row.handed_over) return;
        for (auto const& of : {row.o, row.o_low, row.o_radius, row.o_bound, row.o_warning, row.weight_lower,
                               row.weight_upper, row.weight_bound})
          add(of);
        add(std::array{row.lse, row.lse_low, row.lse_radius, row.lse_bound.size});
      });
  reference::machine::use_simd_target("");
  return numbers;
}

template <class T>
void compare_targets() {
  auto targets = reference::machine::simd_targets();
  targets.pop_back();  // the baseline, without a fused multiply-add
  for (std::string_view const target : targets)
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      INFO(target << " beside " << targets.front() << ", seed " << seed);
      auto const one = numbers_on<T>(targets.front(), seed), other = numbers_on<T>(target, seed);
      REQUIRE(one.size() == other.size());
      CHECK(std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0);
    }
}

TEST_CASE("targets with a fused multiply-add give the same bits", "[unit]") {
  compare_targets<float>();
  compare_targets<double>();
  compare_targets<problem::bf16>();
  compare_targets<problem::f16>();
}

/// Two scores near 500 that differ by about 1, values that nearly cancel: the scores' own errors are most of the
/// radius.
TEST_CASE("f64 outputs whose error comes from their scores are enclosed", "[unit]") {
  std::mt19937_64 random(5);
  auto const unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  double worst = 0;
  for (int n = 0; n < 2000; ++n) {
    double const q = 1 + unit(), scale = 500 / q * (1 + unit()), first = 1 + unit() / 500;
    std::vector<double> const k{first, first + unit() / 500}, v{1 + unit(), -1 - unit()};
    problem::arguments<double> arguments;
    arguments.q = {&q, problem::layout::compact({1, 1})};
    arguments.k = {k.data(), problem::layout::compact({2, 1})};
    arguments.v = {v.data(), problem::layout::compact({2, 1})};
    arguments.scale = scale;
    auto const p = problem::instance<double>::make(arguments).value();
    auto rows = reference::machine::row_source<double>::make(p);
    rows.value().each(0, 0, 0, 1, [&](certified_row const& row) {
      REQUIRE_FALSE(row.handed_over);
      reference::enclosed_row<256, double> exact;
      reference::compiled::enclose_row(p, 0, 0, 0, exact);
      auto const at = [](double x) { return ball<256>::from(reference::value_of(x)); };
      auto const off =
          reference::absolute((reference::compiled::output(p, exact, 0).value - at(row.o[0])) - at(row.o_low[0]));
      worst = std::max(worst, reference::upper(off) / row.o_radius[0]);
    });
  }
  INFO("worst " << worst << " of the radius");
  CHECK(worst <= 1);
  CHECK(worst > 0.005);
}

TEST_CASE("what the machine tier cannot prove has a named error", "[unit]") {
  std::int64_t const d = (std::int64_t{1} << 20) + 1;
  std::vector<float> const row(static_cast<std::size_t>(d), 0.0f);
  problem::arguments<float> arguments;
  arguments.q = arguments.k = arguments.v = {row.data(), problem::layout::compact({1, d})};
  auto const wide = problem::instance<float>::make(arguments).value();
  auto const refused = reference::machine::row_source<float>::make(wide, audit::find_contract("f32")->fixed);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.why().code == problem::error_code::unsupported);
  CHECK(refused.why().argument == "q");
}

TEST_CASE("a row does not depend on the block that it is asked in", "[property]") {
  property("one row alone is the row in its block", [](std::uint64_t seed) {
    machine_problem<float> const problem(seed);
    auto const instance = problem.instance();
    auto const model = audit::find_contract("f32")->fixed;
    auto rows = reference::machine::row_source<float>::make(instance, model);
    auto others = reference::machine::row_source<float>::make(instance, model);
    rows.value().each(0, 0, 0, problem.s.n, [&](certified_row const& row) {
      others.value().each(0, 0, row.i, row.i + 1, [&](certified_row const& alone) {
        RC_ASSERT(row.handed_over == alone.handed_over);
        if (row.handed_over) return;
        RC_ASSERT(row.lse == alone.lse);
        for (std::size_t c = 0; c < row.o.size(); ++c)
          if (row.o_radius[c] < reference::infinity)
            RC_ASSERT(row.o[c] == alone.o[c] && row.o_radius[c] == alone.o_radius[c] &&
                      row.o_bound[c] == alone.o_bound[c]);
      });
    });
  });
}
