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
#include "tests/machine/checked_row.hpp"
#include "tests/machine/problem.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::rows_test {
namespace {

using reference::ball;
using reference::machine::certified_row;

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

}  // namespace attest::tests::rows_test
