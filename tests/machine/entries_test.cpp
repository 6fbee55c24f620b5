// The machine tier on entries, pages, block masks, sinks and dropout: it contains the ball tier's answers, its bounds
// are row_bound's, and no finite row of theirs is handed over.
#include <cmath>
#include <limits>
#include <string>

#include "audit/contract/contract.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rounded.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/testing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_recipe.hpp"
#include "tests/support/stated_twice.hpp"

namespace attest::tests::entries_test {
using reference::row_kind, reference::value_kind;
using reference::machine::certified_row;

namespace {

using ball = reference::ball<128>;

bool contains(double mid, double low, double radius, ball const& exact) {
  auto const at = [](double x) { return ball::from(reference::value_of(x)); };
  return reference::at_most(reference::absolute((exact - at(mid)) - at(low)), at(radius)) == reference::decision::yes;
}

bool nearly(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-8 * std::min(std::abs(a), std::abs(b)) + 1e-300;
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
    RC_ASSERT(exact.real_keys().empty());
    return;
  }
  RC_ASSERT(exact.kind == row_kind::finite);
  RC_ASSERT(got.keys.size() == exact.real_keys().size());
  RC_ASSERT(got.terms->has_sink == exact.has_sink());
  ball const sink = exact.has_sink() ? reference::compiled::weight(exact, exact.keys.size() - 1) : ball();
  RC_ASSERT(got.sink_lower <= reference::upper(sink));
  RC_ASSERT(reference::lower(sink) <= got.sink_upper);
  seen.with_sink += exact.has_sink();
  for (std::size_t n = 0; n < got.keys.size(); ++n) {
    RC_ASSERT(got.keys[n] == exact.keys[n].j);
    ball const w = reference::compiled::weight(exact, n);
    RC_ASSERT(got.weight_lower[n] <= reference::upper(w));
    RC_ASSERT(reference::lower(w) <= got.weight_upper[n]);
  }
  RC_ASSERT(contains(got.lse, got.lse_low, got.lse_radius, reference::compiled::log_sum_exp(exact)));
  reference::row_facts const facts = reference::machine::testing::facts_of(got);
  reference::row_facts sharp;
  reference::compiled::collect_facts(p, exact, sharp);
  RC_ASSERT(facts.keys.size() == sharp.keys.size());
  RC_ASSERT(facts.m == sharp.m);
  RC_ASSERT(facts.has_sink == sharp.has_sink);
  RC_ASSERT(facts.drops == sharp.drops);
  RC_ASSERT(nearly(facts.kept_factor, sharp.kept_factor));
  RC_ASSERT(facts.keys.back().index == sharp.keys.back().index);
  RC_ASSERT(facts.keys.back().bias == sharp.keys.back().bias);
  reference::row_bound bound;
  bound.evaluate(model, facts);
  auto const same = [&](double a, double b) {
    ++seen.bounds, seen.apart += !nearly(a, b);
    CAPTURE(got.b, got.h, got.i, got.keys.size(), facts.has_sink, a / b, facts.keys.back().bias, got.lse,
            bound.terms().R, got.terms->R);
    RC_ASSERT((a == b || std::abs(a - b) <= 0.05 * std::min(a, b) + 1e-300));
  };
  same(got.lse_bound.size, bound.log_sum_exp().size);
  for (std::size_t n = 0; n < got.weight_bound.size(); ++n) same(got.weight_bound[n], bound.weight(n).size);
  for (std::size_t c = 0; c < got.o.size(); ++c) {
    auto const column = static_cast<std::int64_t>(c);
    auto const o = reference::compiled::output(p, exact, column);
    RC_ASSERT(o.kind == value_kind::finite);
    double const low = got.o_low.empty() ? 0 : got.o_low[c];
    RC_ASSERT(contains(got.o[c], low, got.o_radius[c], o.value));
    RC_ASSERT(got.o_radius[c] <= (got.o_low.empty() ? 1e-12 : 1e-26) * facts.kept_factor * 100);
    auto const expected = reference::compiled::output_bound(bound, p, exact, column, o.value);
    RC_ASSERT(got.o_by[c] == expected.by);
    same(got.o_bound[c], expected.size);
    if (got.o_by[c] == reference::judged_by::dominance && (facts.has_sink || facts.drops)) {
      RC_ASSERT(got.lowest[c] <= 0);
      RC_ASSERT(got.highest[c] >= 0);
    }
  }
}

/// Entries with ordinary numbers and finite sinks: the machine tier answers every row of theirs that sees a key.
template <class T>
recipe ordinary(recipe r) {
  r = with_entries(r);
  r.type = problem::type_of<T>;
  r.scores = score_regime::gaussian, r.values = value_regime::gaussian;
  if (r.sink == sink_regime::special) r.sink = sink_regime::far_above;
  return r;
}

template <class T>
void compare(bool double_words, bool with_keep) {
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    tally seen;
    property("entries on " + std::string(target), [&](recipe const& drawn) {
      recipe r = ordinary<T>(drawn);
      if (with_keep) {
        if (detail::packs_queries(r.entries) || detail::packs_keys(r.entries)) r.entries = entry_regime::paged;
        r.keep = static_cast<keep_regime>(1 + r.seed % (keep_regimes - 1));
      }
      RC_LOG() << r << '\n';
      audit::problem_draft draft = make_problem(r);
      if (with_keep) draft.dropout = *rc::gen::element(0.0, 0.25, 0.1, 0x1.6666666666666p-1, 1 - 0x1p-20);
      auto const owned = audit::owned_problem::of_valid(draft);
      auto const& p = instance_of<T>(owned);
      auto model = audit::find_contract("f32")->fixed;
      if (r.seed % 3 == 0) model.order = problem::key_order::index, model.least_block = 4;
      model.sink_form = static_cast<problem::sink_form>(r.seed / 3 % 3);
      if (r.seed % 2 == 0) model.u_sink = 0x1p-8, model.omega_sink = 0x1p-25;
      if (r.seed % 5 == 0) model.x0 = 20;
      auto rows = reference::machine::row_source<T>::make(p, model, {.weights = true, .double_words = double_words});
      RC_ASSERT(rows.has_value());
      for (std::int64_t b = 0; b < p.size().b; ++b)
        for (std::int64_t h = 0; h < p.size().hq; ++h)
          rows.value().each(b, h, 0, p.queries(b), [&](certified_row const& row) { check(p, model, row, seen); });
    });
    CHECK(seen.with_sink > 200);
    CHECK(seen.apart * 100 < seen.bounds);
  }
  reference::machine::use_simd_target("");
}

}  // namespace

TEST_CASE("rows of entries with sinks contain the exact values, and their bounds are the theorem's",
          "[property][differential]") {
  compare<float>(false, false);
  compare<problem::bf16>(false, false);
}
TEST_CASE("rows of entries with sinks in double words contain the exact values", "[property][differential]") {
  compare<double>(true, false);
  compare<float>(true, false);
}
TEST_CASE("rows with dropout contain the exact values, and their bounds are the theorem's",
          "[property][differential]") {
  compare<float>(false, true);
  compare<double>(true, true);
}

TEST_CASE("correct rounding agrees between the tiers on entries, sinks and dropout", "[property][differential]") {
  property("rounded entries", [](recipe const& drawn) {
    recipe r = ordinary<float>(drawn);
    if (r.seed % 2 != 0) r.keep = keep_regime::quarter;
    RC_LOG() << r << '\n';
    auto const owned = audit::owned_problem::of_valid(make_problem(r));
    auto const& p = instance_of<float>(owned);
    reference::machine::row_rounder<float, float> rounder(p);
    auto const between = [](float found, reference::ball<128> const& exact) {
      auto const ordinal = reference::nearest_ordinal<float>(static_cast<double>(found));
      return reference::nearest_ordinal<float>(reference::lower(exact)) <= ordinal &&
             ordinal <= reference::nearest_ordinal<float>(reference::upper(exact));
    };
    for (std::int64_t b = 0; b < p.size().b; ++b)
      for (std::int64_t h = 0; h < p.size().hq; ++h)
        rounder.each(b, h, 0, p.queries(b), [&](auto const& row) {
          reference::enclosed_row<128, float> exact;
          reference::compiled::enclose_row(p, row.b, row.h, row.i, exact);
          for (std::size_t c = 0; c < row.o.size(); ++c)
            RC_ASSERT(between(row.o[c], reference::compiled::output(p, exact, static_cast<std::int64_t>(c)).value));
          if (exact.kind == row_kind::empty) RC_ASSERT(row.lse == -std::numeric_limits<float>::infinity());
          else RC_ASSERT(between(row.lse, reference::compiled::log_sum_exp(exact)));
        });
    RC_ASSERT(rounder.tally().undecided == 0);
  });
}

}  // namespace attest::tests::entries_test
