// A row of the machine tier beside the ball tier: values inside, bounds the same.
#pragma once

#include "audit/contract/contract.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/testing.hpp"
#include "tests/machine/problem.hpp"
#include "tests/support/property.hpp"

namespace attest::tests {

using reference::ball;
using reference::machine::certified_row;

inline constexpr unsigned W = 128;

/// Is the exact value within radius of mid, whatever element of its ball it is?
inline bool contains(double mid, double low, double radius, ball<W> const& exact) {
  if (!std::isfinite(mid) || !std::isfinite(low)) return false;
  auto const at = [](double x) { return ball<W>::from(reference::value_of(x)); };
  auto const off = reference::absolute((exact - at(mid)) - at(low));
  return reference::at_most(off, ball<W>::from(reference::value_of(radius))) == reference::decision::yes;
}
/// The same for an interval; its ends at the quantity's own limits always hold.
inline bool between(double low, double high, ball<W> const& exact, double least, double most) {
  auto const at_most = [](ball<W> const& a, ball<W> const& b) {
    return reference::at_most(a, b) == reference::decision::yes;
  };
  return (low == least || at_most(ball<W>::from(reference::value_of(low)), exact)) &&
         (high == most || at_most(exact, ball<W>::from(reference::value_of(high))));
}
/// Rounding outward on lanes adds 2⁻¹⁰²², which shows in f64's smallest bounds.
inline bool nearly(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * std::min(std::abs(a), std::abs(b)) + 0x1p-1000;
}

struct tally {
  std::int64_t rows = 0, handed_over = 0, columns = 0;
  std::int64_t borderline = 0;  ///< bounds that differ because two keys are as near as their last bits
};

/// Are two evaluations of one bound the same? Lanes round another way than doubles: where a score stands within a last
/// bit of another one, a rank may differ by 1, and with it one ε̂ of many.
inline bool same_bound(double a, double b, tally& seen) {
  if (nearly(a, b)) return true;
  ++seen.borderline;
  return std::abs(a - b) <= 0.02 * std::min(a, b);
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
    if (expected.by != reference::judged_by::nothing) RC_ASSERT(same_bound(got.weight_bound[n], expected.size, seen));
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

}  // namespace attest::tests
