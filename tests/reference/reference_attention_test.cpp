// reference/attention/attention.hpp: the rules of docs/semantics.md for masks, infinities and NaN, and the functional
// equations of softmax attention.
#include <limits>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/exactly.hpp"
#include "reference/compiled/row.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "tests/reference/enclosed_row.hpp"
#include "tests/support/many.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/random_row.hpp"

namespace attest::tests::reference_attention_test {
using reference::ball;
using reference::enclosed_row;
using reference::row_kind;
using reference::value_kind;

namespace {

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

}  // namespace attest::tests::reference_attention_test
