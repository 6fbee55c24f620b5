// Entries, packed and paged rows, block masks, sinks and dropout: the answers of the dense problem that says the same
// with a mask, and with the sink as a key, in the ball tier bit by bit. What stands where no key is, is NaN.
#include <cmath>
#include <limits>

#include "reference/attention/infinite_score.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_recipe.hpp"
#include "tests/support/stated_twice.hpp"
#include "tests/support/written.hpp"

namespace attest::tests::entries_test {
using reference::row_kind, reference::value_kind, reference::number_class;

namespace {

using row_of = reference::enclosed_row<128, float>;
using ball = reference::ball<128>;

bool same(ball const& a, ball const& b) {
  return a.mid == b.mid && a.exponent == b.exponent && a.radius.mantissa() == b.radius.mantissa() &&
         a.radius.exponent() == b.radius.exponent();
}

row_of enclosed(problem::instance<float> const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
  row_of row;
  reference::compiled::enclose_row(p, b, h, i, row);
  return row;
}

/// The rows have the same kinds, outputs and LSE, and their first `keys` weights.
void require_same(problem::instance<float> const& p, row_of const& x, problem::instance<float> const& r,
                  row_of const& y) {
  RC_ASSERT(x.kind == y.kind);
  for (std::int64_t c = 0; c < p.size().dv; ++c) {
    auto const ours = reference::compiled::output(p, x, c), theirs = reference::compiled::output(r, y, c);
    RC_ASSERT(ours.kind == theirs.kind);
    RC_ASSERT(same(ours.value, theirs.value));
  }
  if (x.kind != row_kind::finite) return;
  RC_ASSERT(same(reference::compiled::log_sum_exp(x), reference::compiled::log_sum_exp(y)));
  for (std::size_t n = 0; n < x.real_keys().size(); ++n) {
    RC_ASSERT(x.keys[n].j == y.keys[n].j);
    RC_ASSERT(same(reference::compiled::weight(x, n), reference::compiled::weight(y, n)));
  }
}

/// check(problem, its instance) for drawn problems of entries.
template <class Check>
void for_entries(std::string const& says, Check&& check) {
  property(says, [&](recipe drawn) {
    drawn.type = problem::element_type::f32;
    recipe const r = with_entries(drawn);
    RC_LOG() << r << '\n';
    check(r);
  });
}

}  // namespace

TEST_CASE("lengths, packed rows, pages and blocks answer as the dense problem with their mask", "[property]") {
  for_entries("entries", [](recipe const& r) {
    stated_twice const problem(r);
    auto const call = audit::owned_problem::of_valid(problem.call),
               twin = audit::owned_problem::of_valid(problem.dense());
    auto const &p = instance_of<float>(call), &dense = instance_of<float>(twin);
    problem.each_row([&](auto e, auto h, auto i) {
      for (std::int64_t j = 0; j < r.m; ++j) RC_ASSERT(reference::visible(p, e, h, i, j) == problem.sees(e, h, i, j));
      row_of const x = enclosed(p, e, h, i), y = enclosed(dense, e, h, i);
      RC_ASSERT(x.keys.size() == y.keys.size());
      require_same(p, x, dense, y);
    });
  });
}

TEST_CASE("a sink answers as a key with k = 0, v = 0 and bias t, with softcap and without", "[property]") {
  for_entries("sinks", [](recipe r) {
    if (r.sink == sink_regime::none || r.sink == sink_regime::special) r.sink = sink_regime::normal;
    stated_twice const problem(r);
    auto const call = audit::owned_problem::of_valid(problem.call),
               twin = audit::owned_problem::of_valid(problem.dense(true));
    auto const &p = instance_of<float>(call), &dense = instance_of<float>(twin);
    problem.each_row([&](auto e, auto h, auto i) {
      row_of const x = enclosed(p, e, h, i), y = enclosed(dense, e, h, i);
      RC_ASSERT(x.keys.size() == y.keys.size());
      require_same(p, x, dense, y);
      if (r.seed % 4 != 0 || x.kind != row_kind::finite) return;
      RC_ASSERT(reference::compiled::rounded_log_sum_exp<float>(x) ==
                reference::compiled::rounded_log_sum_exp<float>(y));
      RC_ASSERT(reference::compiled::rounded_output<float>(p, x, 0) ==
                reference::compiled::rounded_output<float>(dense, y, 0));
    });
  });
}

TEST_CASE("dropout: o is that of V without the dropped keys, divided by 1 - p; weights and LSE are as before",
          "[property]") {
  for_entries("dropout", [](recipe r) {
    if (detail::packs_queries(r.entries) || detail::packs_keys(r.entries)) r.entries = entry_regime::paged;
    r.keep = static_cast<keep_regime>(1 + r.seed % (keep_regimes - 1));
    stated_twice problem(r);
    problem.call.dropout = *rc::gen::element(0.0, 0.25, 0.5, 0.1, 0x1.6666666666666p-1, 1 - 0x1p-20, 0x1p-90);
    auto without = problem.call;
    without.keep.reset(), without.dropout = 0;
    auto const call = audit::owned_problem::of_valid(problem.call), other = audit::owned_problem::of_valid(without);
    auto const &p = instance_of<float>(call), &plain = instance_of<float>(other);
    audit::owned_tensor const &keep = *problem.slots.keep, &v = problem.slots.v;
    ball const kept = ball(1) - ball::from(reference::value_of(problem.call.dropout));
    problem.each_row([&](auto e, auto h, auto i) {
      row_of const x = enclosed(p, e, h, i), y = enclosed(plain, e, h, i);
      RC_ASSERT(x.kind == y.kind);
      if (x.kind != row_kind::finite) return;
      RC_ASSERT(same(reference::compiled::log_sum_exp(x), reference::compiled::log_sum_exp(y)));
      for (std::int64_t c = 0; c < r.dv; ++c) {
        ball sum;
        double largest = 1;
        for (auto const& key : x.real_keys()) {
          if (audit::load(keep, audit::offset_of(keep, 0, h, i, key.j)) == 0) continue;
          double const value = audit::load(v, audit::offset_of(v, e, reference::key_head(p.size(), h), key.j, c));
          sum = sum + key.weight * ball::from(reference::value_of(value));
          largest = std::max(largest, std::abs(value));
        }
        ball const expected = sum / x.normaliser / kept;
        auto const found = reference::compiled::output(p, x, c);
        RC_ASSERT(found.kind == value_kind::finite);
        RC_ASSERT(reference::overlap(found.value, expected));
        if (is_tame(r))
          RC_ASSERT(reference::upper_size(found.value - expected) <= 0x1p-100 * largest / (1 - problem.call.dropout));
        if (r.seed % 4 != 0) continue;
        auto const rounded = reference::compiled::rounded_output<float>(p, x, c);
        RC_ASSERT(rounded.has_value());
        RC_ASSERT(reference::nearest_ordinal<float>(reference::lower(expected)) <=
                  reference::nearest_ordinal<float>(static_cast<double>(*rounded)));
        RC_ASSERT(reference::nearest_ordinal<float>(reference::upper(expected)) >=
                  reference::nearest_ordinal<float>(static_cast<double>(*rounded)));
      }
    });
  });
}

TEST_CASE("dropout decides midpoints exactly", "[unit]") {
  // Two equal scores, v = (3, 5), the second dropped, p = 1/4: o = (3/2)/(3/4) = 2. p = 1/3 as a double: not 9/4.
  written<float> problem = with_scores({3, 3}, {3, 5});
  std::uint8_t const keep[] = {1, 0};
  auto const rounded = [&](double dropout) {
    auto arguments = problem.arguments();
    arguments.keep = problem::tensor<std::uint8_t const>{keep, problem::layout::compact({1, 2})};
    arguments.dropout = dropout;
    auto const p = problem::instance<float>::make(arguments).value();
    return reference::compiled::rounded_output<float>(p, enclosed(p, 0, 0, 0), 0);
  };
  CHECK(rounded(0.25) == 2.0f);
  CHECK(rounded(0) == 1.5f);
  CHECK(rounded(0x1.5555555555555p-2) == 2.25f);
  problem.v.values[0] = 1 + 0x1p-23f;  // o = (1/2 + 2^-24)/(1 - p): a midpoint of f32 at p = 1/2 less 2^-25 of v
  CHECK(rounded(0.5) == 1 + 0x1p-23f);
}

TEST_CASE("sinks that are not finite, and rows that see no key", "[unit]") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  written<float> problem = with_scores({1, 2}, {3, 4});
  auto const make = [&](float& sink) {
    auto arguments = problem.arguments();
    arguments.sink = problem::tensor<float const>{&sink, problem::layout::compact({1})};
    return problem::instance<float>::make(arguments).value();
  };
  auto const row_with = [&](float sink) { return enclosed(make(sink), 0, 0, 0); };
  CHECK(row_with(-infinity).keys.size() == 2);
  CHECK(row_with(nan).kind == row_kind::nan);
  CHECK(row_with(infinity).kind == row_kind::nan);
  float top = infinity, none = nan;
  CHECK(reference::lse_is_infinite(make(top), 0, 0, 0));
  CHECK_FALSE(reference::lse_is_infinite(make(none), 0, 0, 0));

  problem.mask.values = {0, 0};
  CHECK(row_with(-infinity).kind == row_kind::empty);
  CHECK(row_with(-infinity).empty_lse == number_class::minus_infinity);
  CHECK(row_with(nan).kind == row_kind::empty);
  CHECK(row_with(nan).empty_lse == number_class::not_a_number);
  CHECK(row_with(infinity).empty_lse == number_class::plus_infinity);
  float t = 0.3f;
  auto const p = make(t);
  row_of const alone = enclosed(p, 0, 0, 0);
  CHECK(alone.kind == row_kind::finite);
  CHECK(alone.real_keys().empty());
  CHECK(reference::compiled::rounded_log_sum_exp<float>(alone) == 0.3f);
  CHECK(reference::compiled::rounded_output<float>(p, alone, 0) == 0.0f);

  // All scores −∞: the sink alone has weight; a NaN in V there is left open, as in an empty row.
  problem.mask.values.clear();
  problem.bias.values = {-infinity, -infinity};
  CHECK(enclosed(make(t), 0, 0, 0).kind == row_kind::finite);
  CHECK(enclosed(make(none), 0, 0, 0).kind == row_kind::nan);
  problem.v.values[0] = nan;
  CHECK(reference::compiled::output(make(t), enclosed(make(t), 0, 0, 0), 0).kind == value_kind::unspecified);
}

TEST_CASE("NaN and infinities in V: 'dropped' leaves the column open, 'kept' decides it", "[unit]") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  written<float> problem = with_scores({1, 2}, {3, 4});
  std::uint8_t const keep[] = {1, 0};
  auto const kind_with = [&](float first, float second) {
    problem.v.values = {first, second};
    auto arguments = problem.arguments();
    arguments.keep = problem::tensor<std::uint8_t const>{keep, problem::layout::compact({1, 2})};
    arguments.dropout = 0.5;
    auto const p = problem::instance<float>::make(arguments).value();
    return reference::compiled::output(p, enclosed(p, 0, 0, 0), 0).kind;
  };
  CHECK(kind_with(3, nan) == value_kind::unspecified);
  CHECK(kind_with(3, -infinity) == value_kind::unspecified);
  CHECK(kind_with(nan, 4) == value_kind::nan);
  CHECK(kind_with(infinity, 4) == value_kind::not_finite);
}

}  // namespace attest::tests::entries_test
