// reference/attention/attention.hpp: the rules of docs/semantics.md for masks, infinities and NaN, and the functional
// equations of softmax attention.
#include <limits>
#include <numeric>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/exactly.hpp"
#include "reference/compiled/row.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "tests/support/many.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/random_row.hpp"

using namespace attest;
using namespace attest::tests;
using reference::ball;
using reference::enclosed_row;
using reference::row_kind;
using reference::value_kind;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity(), NaN = std::numeric_limits<float>::quiet_NaN();

template <unsigned W = 128, class T>
enclosed_row<W, T> row_of(written<T> const& problem) {
  enclosed_row<W, T> row;
  reference::compiled::enclose_row(problem.instance(), 0, 0, 0, row);
  return row;
}
template <unsigned W = 128, class T>
ball<W> output_of(written<T> const& problem, std::int64_t c = 0) {
  auto const found = reference::compiled::output(problem.instance(), row_of<W>(problem), c);
  REQUIRE(found.kind == value_kind::finite);
  return found.value;
}
value_kind kind_of(written<float> const& problem, std::int64_t c = 0) {
  return reference::compiled::output(problem.instance(), row_of(problem), c).kind;
}

template <unsigned W>
bool same(ball<W> const& a, ball<W> const& b) {
  return overlap(a, b);
}

}  // namespace

TEST_CASE("a masked key is not read", "[unit]") {
  auto problem = with_scores({1, NaN, 2, inf}, {5, NaN, 7, inf});
  problem.mask.values = {1, 0, 255, 0};
  auto const row = row_of(problem);
  CHECK(row.kind == row_kind::finite);
  CHECK(row.keys.size() == 2);
  CHECK(same(output_of(problem), output_of(with_scores({1, 2}, {5, 7}))));
  problem.bias.values = {0, NaN, 0, inf};
  CHECK(row_of(problem).kind == row_kind::finite);
}

TEST_CASE("the band is inclusive, and its diagonal may lie anywhere", "[unit]") {
  auto problem = with_scores({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5});
  auto const seen = [&](problem::band where) {
    problem.band = where;
    std::vector<std::int64_t> keys;
    for (auto const& key : row_of(problem).keys) keys.push_back(key.j);
    return keys;
  };
  using keys = std::vector<std::int64_t>;
  CHECK(seen({0, -1, 0}) == keys{0});
  CHECK(seen({4, -1, 0}) == keys{0, 1, 2, 3, 4});
  CHECK(seen({2, 1, 1}) == keys{1, 2, 3});
  CHECK(seen({-1, -1, 0}).empty());
  CHECK(seen({-1, 0, 1}) == keys{0});
  CHECK(seen({std::numeric_limits<std::int64_t>::max(), 0, -1}).empty());
  CHECK(seen({std::numeric_limits<std::int64_t>::min(), 0, -1}) == keys{0, 1, 2, 3, 4});
}

TEST_CASE("an empty row is zeros, also where every visible score is -inf", "[unit]") {
  auto problem = with_scores({1, 2}, {inf, NaN});
  problem.q.values = {NaN};
  problem.mask.values = {0, 0};
  CHECK(row_of(problem).kind == row_kind::empty);
  CHECK(output_of(problem).is_exact());
  CHECK(output_of(problem).mid.sign() == 0);
  CHECK(row_of(with_scores({}, {})).kind == row_kind::empty);

  auto const sunk = with_scores({-inf, -inf}, {1, 2});
  CHECK(row_of(sunk).kind == row_kind::empty);
  CHECK(output_of(sunk).mid.sign() == 0);
  CHECK(kind_of(with_scores({-inf, -inf}, {1, NaN})) == value_kind::unspecified);
}

TEST_CASE("NaN and +inf scores make the row NaN", "[unit]") {
  for (float const bad : {NaN, inf}) {
    CHECK(row_of(with_scores({1, bad, -inf}, {1, 1, 1})).kind == row_kind::nan);
    CHECK(kind_of(with_scores({1, bad}, {1, inf})) == value_kind::nan);
    auto biased = with_scores({1, 2}, {1, 1});
    biased.bias.values = {bad, 0};
    CHECK(row_of(biased).kind == row_kind::nan);
  }
  auto clash = with_scores({1, inf}, {1, 1});
  clash.bias.values = {0, -inf};
  CHECK(row_of(clash).kind == row_kind::nan);
  auto zero_scale = with_scores({1, inf}, {1, 1});
  zero_scale.scale = 0;
  CHECK(row_of(zero_scale).kind == row_kind::nan);
  auto negative = with_scores({1, inf}, {1, 1});
  negative.scale = -1;
  CHECK(row_of(negative).kind == row_kind::finite);
  CHECK(row_of(negative).without_weight == std::vector<std::int64_t>{1});
}

TEST_CASE("a -inf bias takes a key's weight, not the right to read it", "[unit]") {
  auto problem = with_scores({1, 2, 9}, {5, 7, 1e30f});
  problem.bias.values = {0, 0, -inf};
  CHECK(same(output_of(problem), output_of(with_scores({1, 2}, {5, 7}))));
  problem.k.values[2] = NaN;
  CHECK(row_of(problem).kind == row_kind::nan);
}

TEST_CASE("infinities and NaN in V stay in their column", "[unit]") {
  CHECK(kind_of(with_scores({1, 2}, {5, NaN})) == value_kind::nan);
  CHECK(kind_of(with_scores({1, 2}, {NaN, inf})) == value_kind::nan);
  CHECK(kind_of(with_scores({1, 2}, {5, -inf})) == value_kind::not_finite);
  CHECK(kind_of(with_scores({1, 2}, {inf, -inf})) == value_kind::not_finite);
  CHECK(kind_of(with_scores({1, -inf}, {5, inf})) == value_kind::unspecified);
  CHECK(kind_of(with_scores({1, -inf}, {5, NaN})) == value_kind::nan);
  written<float> two_columns(2, 1, 2);
  two_columns.q.values = {1}, two_columns.k.values = {1, 2}, two_columns.v.values = {NaN, 3, 4, 3};
  CHECK(kind_of(two_columns, 0) == value_kind::nan);
  CHECK(same(output_of(two_columns, 1), ball<128>(3)));
}

TEST_CASE("grouped query heads read the key head of their group", "[unit]") {
  owned<float> q({1, 4, 1, 1}, {1, 1, 1, 1}), k({1, 2, 1, 1}, {0, 0}), v({1, 2, 1, 1}, {10, 20});
  problem::arguments<float> arguments;
  arguments.q = q.in(), arguments.k = k.in(), arguments.v = v.in();
  auto const p = problem::instance<float>::make(arguments).value();
  for (std::int64_t h = 0; h < 4; ++h) {
    enclosed_row<64, float> row;
    reference::compiled::enclose_row(p, 0, h, 0, row);
    CHECK(same(reference::compiled::output(p, row, 0).value, ball<64>(h < 2 ? 10 : 20)));
  }
}

TEST_CASE("d = 0 weighs every key alike; one key answers its value", "[unit]") {
  written<float> none(3, 0, 1);
  none.scale = 1;
  none.v.values = {1, 2, 6};
  CHECK(same(output_of(none), ball<128>(3)));
  CHECK(reference::output_is_exactly(none.instance(), row_of(none), 0, reference::value_of(3.0)));
  auto const single = with_scores({-1e30f}, {0.1f});
  CHECK(output_of(single).is_exact());
  CHECK(contains(reference::compiled::log_sum_exp(row_of(single)), real(static_cast<double>(-1e30f))));
  CHECK(entropy(row_of(single)).mid.sign() == 0);
}

TEST_CASE("cancelling scores too close for the width answer wide balls, not nonsense", "[unit]") {
  // σ = 1/√2, a = 0x1.6a09e667f3bcdp+100 + -0x1.bdd3413b26456p+46 and b = −2^100: σa + b is −0.00…, but at 64 bits it
  // is unknown to 2^36. Then e^(s − m) is only known to be a weight, in [0, 1].
  written<double> problem(4, 2, 1);
  problem.q.values = {1, 1};
  problem.k.values = {0x1.6a09e667f3bcdp+100, -0x1.bdd3413b26456p+46,     0, 0,
                      0x1.6a09e667f3bcdp+100, -0x1.bdd3413b26456p+46 - 4, 1, 1};
  problem.v.values = {1, 3, 2, 7};
  problem.bias.values = {-0x1p100, 0, -0x1p100, -2};
  auto const narrow = row_of<64>(problem);
  auto const wide = row_of<1152>(problem);
  auto const from_wide = [](ball<1152> const& x) { return reference::widened<64>(x); };
  CHECK(certain_sign(narrow.normaliser) == 1);
  CHECK(overlap(output_of<64>(problem), from_wide(output_of<1152>(problem))));
  CHECK(overlap(reference::compiled::log_sum_exp(narrow), from_wide(reference::compiled::log_sum_exp(wide))));
  CHECK(overlap(entropy(narrow), from_wide(entropy(wide))));
  for (std::size_t j = 0; j < 4; ++j)
    CHECK(overlap(reference::compiled::weight(narrow, j), from_wide(reference::compiled::weight(wide, j))));
}

TEST_CASE("weights sum to 1, lie in [0, 1], and their entropy in [0, ln n]", "[property]") {
  many(10, "weights", [] {
    auto const problem = drawn_row<float>();
    auto const row = row_of<128>(problem);
    RC_PRE(row.kind == row_kind::finite);
    ball<128> sum;
    std::vector<ball<128>> weights;
    for (std::size_t j = 0; j < row.keys.size(); ++j) {
      ball<128> const pi = reference::compiled::weight(row, j);
      RC_ASSERT(at_most(ball<128>(0), pi) != reference::decision::no);
      RC_ASSERT(at_most(pi, ball<128>(1)) != reference::decision::no);
      sum = sum + pi;
      weights.push_back(pi);
    }
    RC_ASSERT(overlap(sum, ball<128>(1)));
    RC_ASSERT(overlap(entropy(row), entropy(weights)));  // the textbook's, which takes any distribution
    auto const n = static_cast<std::int64_t>(row.keys.size());
    RC_ASSERT(at_most(entropy(row), log(ball<128>(n))) != reference::decision::no);
    RC_ASSERT(at_most(ball<128>(0), entropy(row)) != reference::decision::no);
    if (weights_are_uniform(row)) RC_ASSERT(overlap(entropy(row), log(ball<128>(n))));
  });
}

TEST_CASE("all widths enclose the same numbers", "[property]") {
  many(5, "widths 64, 128, 256, 1152", [] {
    auto const problem = drawn_row<double>();
    auto const narrow = row_of<64>(problem);
    RC_PRE(narrow.kind == row_kind::finite);
    auto const agree = [&]<unsigned W>() {
      auto const wide = row_of<W>(problem);
      RC_ASSERT(overlap(output_of<64>(problem), reference::widened<64>(output_of<W>(problem))));
      RC_ASSERT(overlap(reference::compiled::log_sum_exp(narrow),
                        reference::widened<64>(reference::compiled::log_sum_exp(wide))));
      RC_ASSERT(overlap(entropy(narrow), reference::widened<64>(entropy(wide))));
    };
    agree.template operator()<128>();
    agree.template operator()<256>();
    agree.template operator()<1152>();
  });
}

TEST_CASE("the order of keys does not matter", "[property]") {
  many(5, "permutation", [] {
    auto const problem = drawn_row<float>();
    auto const order = *drawn_permutation(problem.k.layout.shape[0]);
    auto const moved = permuted(problem, order);
    auto const row = row_of(problem), other = row_of(moved);
    RC_ASSERT(row.kind == other.kind);
    RC_PRE(row.kind == row_kind::finite);
    RC_ASSERT(overlap(output_of(problem), output_of(moved)));
    RC_ASSERT(overlap(reference::compiled::log_sum_exp(row), reference::compiled::log_sum_exp(other)));
    RC_ASSERT(same_scores_in_some_order(row, other));
  });
}

TEST_CASE("a common bias shifts LSE by itself and nothing else", "[property]") {
  many(5, "shift", [] {
    auto problem = drawn_row<float>(false);
    auto const row = row_of(problem);
    RC_PRE(row.kind == row_kind::finite);
    auto const shift = static_cast<float>(*rc::gen::inRange(-1000, 1000)) / 8;
    auto shifted = problem;
    shifted.bias.values.assign(problem.v.values.size(), shift);
    auto const other = row_of(shifted);
    RC_ASSERT(overlap(output_of(problem), output_of(shifted)));
    RC_ASSERT(overlap(reference::compiled::log_sum_exp(row) + ball<128>::from(reference::value_of(shift)),
                      reference::compiled::log_sum_exp(other)));
    RC_ASSERT(overlap(entropy(row), entropy(other)));
    for (std::size_t j = 0; j < row.keys.size(); ++j)
      RC_ASSERT(overlap(reference::compiled::weight(row, j), reference::compiled::weight(other, j)));
  });
}

TEST_CASE("every key twice: the same output, LSE and entropy up by ln 2", "[property]") {
  many(5, "duplication", [] {
    auto const problem = drawn_row<float>();
    auto const twice = doubled(problem);
    auto const row = row_of(problem), other = row_of(twice);
    RC_PRE(row.kind == row_kind::finite);
    ball<128> const ln2 = log(ball<128>(2));
    RC_ASSERT(overlap(output_of(problem), output_of(twice)));
    RC_ASSERT(overlap(reference::compiled::log_sum_exp(row) + ln2, reference::compiled::log_sum_exp(other)));
    RC_ASSERT(overlap(entropy(row) + ln2, entropy(other)));
  });
}

TEST_CASE("a row splits anywhere and merges again by its LSE", "[property]") {
  many(5, "split and merge", [] {
    auto const problem = drawn_row<float>();
    std::int64_t const m = problem.k.layout.shape[0];
    auto first = problem, second = problem;
    RC_PRE(m > 1);
    std::int64_t const cut = *rc::gen::inRange<std::int64_t>(1, m);
    if (first.mask.values.empty()) first.mask.values.assign(static_cast<std::size_t>(m), 1);
    second.mask.values = first.mask.values;
    for (std::int64_t j = 0; j < m; ++j) (j < cut ? second : first).mask.values[static_cast<std::size_t>(j)] = 0;
    auto const row = row_of(problem), a = row_of(first), b = row_of(second);
    RC_PRE(row.kind == row_kind::finite && a.kind == row_kind::finite && b.kind == row_kind::finite);
    // Shares e^(LSE_a − LSE) and e^(LSE_b − LSE).
    ball<128> const share_a = exp(reference::compiled::log_sum_exp(a) - reference::compiled::log_sum_exp(row)),
                    share_b = exp(reference::compiled::log_sum_exp(b) - reference::compiled::log_sum_exp(row));
    RC_ASSERT(overlap(share_a + share_b, ball<128>(1)));
    RC_ASSERT(overlap(output_of(first) * share_a + output_of(second) * share_b, output_of(problem)));
  });
}

TEST_CASE("O is linear in V", "[property]") {
  many(5, "linearity", [] {
    auto u = drawn_row<float>();
    RC_PRE(row_of(u).kind == row_kind::finite);
    auto w = u, sum = u;
    for (std::size_t j = 0; j < u.v.values.size(); ++j) {
      // Integers below 2^20, so that 3u + w is exact in f32.
      u.v.values[j] = static_cast<float>(*rc::gen::inRange(-1'000'000, 1'000'000));
      w.v.values[j] = static_cast<float>(*rc::gen::inRange(-1'000'000, 1'000'000));
      sum.v.values[j] = 3 * u.v.values[j] + w.v.values[j];
    }
    RC_ASSERT(overlap(output_of(u) * ball<128>(3) + output_of(w), output_of(sum)));
  });
}

TEST_CASE("constant V comes out exactly", "[property]") {
  many(5, "constant V", [] {
    auto problem = drawn_row<float>();
    auto const row = row_of(problem);
    RC_PRE(row.kind == row_kind::finite);
    float const v = std::bit_cast<float>(*rc::gen::inRange<std::uint32_t>(0, 0x7f800000u));
    problem.v.values.assign(problem.v.values.size(), v);
    RC_ASSERT(output_is_exactly(problem.instance(), row, 0, reference::value_of(v)));
    RC_ASSERT(contains(output_of(problem), real(static_cast<double>(v))));
    problem.v.values[static_cast<std::size_t>(row.keys.back().j)] = std::nextafter(v, inf);
    RC_PRE(v < std::numeric_limits<float>::max());
    RC_ASSERT(!output_is_exactly(problem.instance(), row, 0, reference::value_of(v)));
  });
}
