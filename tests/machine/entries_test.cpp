// The machine tier on entries, pages, block masks, sinks and dropout: it contains the ball tier's answers, its bounds
// are row_bound's, and no finite row of theirs is handed over.
#include "reference/compiled/row.hpp"
#include "reference/machine/rounded.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/testing.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/entry_problem.hpp"

using namespace attest;
using namespace attest::tests;
using reference::row_kind, reference::value_kind;
using reference::machine::certified_row;

namespace {

using ball = reference::ball<128>;

bool contains(double mid, double low, double radius, ball const& exact) {
  auto const at = [](double x) { return ball::from(reference::value_of(x)); };
  return reference::at_most(reference::absolute((exact - at(mid)) - at(low)), at(radius)) == reference::decision::yes;
}

bool nearly(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-8 * std::max(std::abs(a), std::abs(b)) + 1e-300;
}

struct tally {
  int rows = 0, with_sink = 0, bounds = 0, apart = 0;
};

template <class T>
void check(problem::instance<T> const& p, problem::kernel_model const& model, certified_row const& got, tally& seen) {
  reference::enclosed_row<128, T> exact;
  reference::compiled::enclose_row(p, got.b, got.h, got.i, exact);
  ++seen.rows;
  if (got.handed_over) {
    REQUIRE(exact.real_keys().empty());
    return;
  }
  REQUIRE(exact.kind == row_kind::finite);
  REQUIRE(got.keys.size() == exact.real_keys().size());
  REQUIRE(got.terms->has_sink == exact.has_sink());
  ball const sink = exact.has_sink() ? reference::compiled::weight(exact, exact.keys.size() - 1) : ball();
  REQUIRE(got.sink_lower <= reference::upper(sink));
  REQUIRE(reference::lower(sink) <= got.sink_upper);
  seen.with_sink += exact.has_sink();
  for (std::size_t n = 0; n < got.keys.size(); ++n) {
    REQUIRE(got.keys[n] == exact.keys[n].j);
    ball const w = reference::compiled::weight(exact, n);
    REQUIRE(got.weight_lower[n] <= reference::upper(w));
    REQUIRE(reference::lower(w) <= got.weight_upper[n]);
  }
  REQUIRE(contains(got.lse, got.lse_low, got.lse_radius, reference::compiled::log_sum_exp(exact)));
  reference::row_facts const facts = reference::machine::testing::facts_of(got);
  reference::row_facts sharp;
  reference::compiled::collect_facts(p, exact, sharp);
  REQUIRE(facts.keys.size() == sharp.keys.size());
  REQUIRE(facts.m == sharp.m);
  REQUIRE(facts.has_sink == sharp.has_sink);
  REQUIRE(facts.drops == sharp.drops);
  REQUIRE(nearly(facts.kept_factor, sharp.kept_factor));
  REQUIRE(facts.keys.back().index == sharp.keys.back().index);
  REQUIRE(facts.keys.back().bias == sharp.keys.back().bias);
  reference::row_bound bound;
  bound.evaluate(model, facts);
  auto const same = [&](double a, double b) {
    ++seen.bounds, seen.apart += !nearly(a, b);
    CAPTURE(got.b, got.h, got.i, got.keys.size(), facts.has_sink, a / b, facts.keys.back().bias, got.lse,
            bound.terms().R, got.terms->R);
    REQUIRE(std::abs(a - b) <= 0.05 * std::max(a, b) + 1e-300);
  };
  same(got.lse_bound.size, bound.log_sum_exp().size);
  for (std::size_t n = 0; n < got.weight_bound.size(); ++n) same(got.weight_bound[n], bound.weight(n).size);
  for (std::size_t c = 0; c < got.o.size(); ++c) {
    auto const column = static_cast<std::int64_t>(c);
    auto const o = reference::compiled::output(p, exact, column);
    REQUIRE(o.kind == value_kind::finite);
    double const low = got.o_low.empty() ? 0 : got.o_low[c];
    REQUIRE(contains(got.o[c], low, got.o_radius[c], o.value));
    REQUIRE(got.o_radius[c] <= (got.o_low.empty() ? 1e-12 : 1e-26) * facts.kept_factor * 100);
    auto const expected = reference::compiled::output_bound(bound, p, exact, column, o.value);
    REQUIRE(got.o_by[c] == expected.by);
    same(got.o_bound[c], expected.size);
    if (got.o_by[c] == reference::judged_by::dominance && (facts.has_sink || facts.drops)) {
      REQUIRE(got.lowest[c] <= 0);
      REQUIRE(got.highest[c] >= 0);
    }
  }
}

template <class T>
void compare(bool double_words, bool with_keep) {
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    tally seen;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      INFO("seed " << seed << " on " << target);
      entry_problem<T> problem(seed, seed % 8 == 0 ? 300 : 40);
      if (with_keep) {
        if (problem.packed_queries || problem.how == key_rows::packed) continue;
        problem.has_keep = true;
        constexpr double probabilities[] = {0, 0.25, 0.1, 0x1.6666666666666p-1, 1 - 0x1p-20};
        problem.parameters.dropout = probabilities[seed % 5];
      }
      auto const p = problem.instance();
      auto model = black_box_f32();
      if (seed % 3 == 0) model.order = problem::key_order::index, model.least_block = 4;
      model.sink_form = static_cast<problem::sink_form>(seed / 3 % 3);
      if (seed % 2 == 0) model.u_sink = 0x1p-8, model.omega_sink = 0x1p-25;
      if (seed % 5 == 0) model.x0 = 20;
      auto rows = reference::machine::row_source<T>::make(p, model, {.weights = true, .double_words = double_words});
      REQUIRE(rows.has_value());
      for (std::int64_t b = 0; b < problem.b; ++b)
        for (std::int64_t h = 0; h < problem.hq; ++h)
          rows.value().each(b, h, 0, p.queries(b), [&](certified_row const& row) { check(p, model, row, seen); });
    }
    CHECK(seen.with_sink > 200);
    CHECK(seen.apart * 100 < seen.bounds);
  }
  reference::machine::use_simd_target("");
}

}  // namespace

TEST_CASE("rows of entries with sinks contain the exact values, and their bounds are the theorem's",
          "[unit][differential]") {
  compare<float>(false, false);
  compare<problem::bf16>(false, false);
}
TEST_CASE("rows of entries with sinks in double words contain the exact values", "[unit][differential]") {
  compare<double>(true, false);
  compare<float>(true, false);
}
TEST_CASE("rows with dropout contain the exact values, and their bounds are the theorem's", "[unit][differential]") {
  compare<float>(false, true);
  compare<double>(true, true);
}

TEST_CASE("correct rounding agrees between the tiers on entries, sinks and dropout", "[unit][differential]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    entry_problem<float> problem(seed);
    if (seed % 2 && !problem.packed_queries && problem.how != key_rows::packed)
      problem.has_keep = true, problem.parameters.dropout = 0.1;
    auto const p = problem.instance();
    reference::machine::row_rounder<float, float> rounder(p);
    for (std::int64_t b = 0; b < problem.b; ++b)
      for (std::int64_t h = 0; h < problem.hq; ++h)
        rounder.each(b, h, 0, p.queries(b), [&](auto const& row) {
          reference::enclosed_row<128, float> exact;
          reference::compiled::enclose_row(p, row.b, row.h, row.i, exact);
          for (std::size_t c = 0; c < row.o.size(); ++c) {
            auto const o = reference::compiled::output(p, exact, static_cast<std::int64_t>(c));
            auto const ordinal = reference::nearest_ordinal<float>(static_cast<double>(row.o[c]));
            REQUIRE(reference::nearest_ordinal<float>(reference::lower(o.value)) <= ordinal);
            REQUIRE(reference::nearest_ordinal<float>(reference::upper(o.value)) >= ordinal);
          }
          if (exact.kind == row_kind::empty) {
            REQUIRE(row.lse == -std::numeric_limits<float>::infinity());
            return;
          }
          auto const lse = reference::compiled::log_sum_exp(exact);
          auto const ordinal = reference::nearest_ordinal<float>(static_cast<double>(row.lse));
          REQUIRE(reference::nearest_ordinal<float>(reference::lower(lse)) <= ordinal);
          REQUIRE(reference::nearest_ordinal<float>(reference::upper(lse)) >= ordinal);
        });
    CHECK(rounder.tally().undecided == 0);
  }
}
