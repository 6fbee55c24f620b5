// Identities of attention that hold for every problem, in balls.
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

namespace attest::tests::attention_identities_test {
using reference::ball;
using reference::enclosed_row;
using reference::row_kind;
using reference::value_kind;

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

}  // namespace attest::tests::attention_identities_test
