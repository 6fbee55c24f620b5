// NaN, infinities and huge scores in the kernel.
#include "fast/attention.hpp"
#include "tests/fast/case.hpp"
#include "tests/support/judged_answer.hpp"

namespace attest::tests::special_values_test {
using tests::answer_to;
using tests::owned;
using tests::written;

namespace {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

}  // namespace

TEMPLATE_TEST_CASE("NaN at a visible key is never swallowed", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using T = TestType;
  // Row 1 sees keys up to 65; NaN in turn at the first, a middle and the last of them, and in a block of its own.
  auto const causal = [] {
    written<T> problem({1, 1, 1, 3, 70, 4, 3}, 9);
    problem.band = {64, -1, 0};
    problem.bias = owned<T>::shaped({1, 1, 3, 70});
    return problem;
  };
  auto const require_nan_row = [](written<T> const& problem, std::int64_t row) {
    auto got = answer_to(problem);
    got.o.each([&](T& x, auto, auto, auto i, auto) { CHECK(std::isnan(x) == (i == row)); });
    got.lse.each([&](T& x, auto, auto, auto i, auto) { CHECK(std::isnan(x) == (i == row)); });
    got.weights.each([&](T& x, auto, auto, auto i, auto) { CHECK(std::isnan(x) == (i == row)); });
  };
  for (std::int64_t const key : {0, 31, 64, 65}) {
    for (T const bad : {std::numeric_limits<T>::quiet_NaN(), infinity<T>}) {
      auto problem = causal();
      problem.bias.at(0, 0, 1, key) = bad;  // +∞ is a NaN row too
      require_nan_row(problem, 1);
    }
  }
  auto in_q = causal();
  in_q.q.at(0, 0, 1, 2) = in_q.nan();
  require_nan_row(in_q, 1);
  auto in_k = causal();
  in_k.k.at(0, 0, 66, 3) = in_k.nan();  // row 2 alone sees key 66
  require_nan_row(in_k, 2);
  auto only = causal();  // the one visible key of a row
  only.mask = owned<std::uint8_t>::shaped({1, 1, 3, 70}, 0, 1);
  for (std::int64_t j = 0; j < 70; ++j) only.mask.at(0, 0, 1, j) = j == 40;
  only.bias.at(0, 0, 1, 40) = only.nan();
  require_nan_row(only, 1);
}

TEMPLATE_TEST_CASE("NaN in V is its column, in the rows that see it", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (bool const underflows : {false, true}) {
    written<TestType> problem({1, 1, 1, 3, 70, 4, 3}, 9);
    problem.band = {64, -1, 0};
    problem.v.at(0, 0, 66, 1) = problem.nan();
    problem.v.at(0, 0, 65, 2) = infinity<TestType>;
    if (underflows) {  // a weight of 0 at a visible key hides nothing
      problem.bias = owned<TestType>::shaped({1, 1, 1, 70});
      problem.bias.at(0, 0, 0, 66) = problem.bias.at(0, 0, 0, 65) = TestType(-1e5);
    }
    auto got = answer_to(problem);
    got.o.each([](TestType& x, auto, auto, auto i, auto c) {
      if (c == 2) CHECK(std::isfinite(x) == (i < 1));
      else CHECK(std::isnan(x) == (c == 1 && i == 2));
    });
    got.lse.each([](TestType& x, auto...) { CHECK(std::isfinite(x)); });
    got.weights.each([](TestType& x, auto...) { CHECK(std::isfinite(x)); });
  }
}

TEMPLATE_TEST_CASE("a score of −∞ is weight 0, and a finite one beside it takes all", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  written<TestType> problem({1, 1, 1, 1, 130, 1, 1}, 2);
  problem.bias = owned<TestType>::shaped({1, 1, 1, 130}, 0, -infinity<TestType>);
  problem.bias.at(0, 0, 0, 129) = 0;
  auto got = answer_to(problem);
  CHECK(got.o.at(0, 0, 0, 0) == problem.v.at(0, 0, 129, 0));
  CHECK(got.weights.at(0, 0, 0, 129) == 1);
  CHECK(got.weights.at(0, 0, 0, 0) == 0);
}

TEMPLATE_TEST_CASE("huge finite scores are stable", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (double const size : {1e3, 1e10, 1e30})
    for (double const scale : {1.0, -1.0}) {
      written<TestType> problem({1, 1, 1, 2, 200, 1, 2}, 6);
      problem.scale = scale;
      problem.q.each([&](TestType& x, auto...) { x = 1; });
      problem.k.each([&](TestType& x, auto, auto, auto j, auto) {
        x = static_cast<TestType>(size) * static_cast<TestType>(j - 100);
      });
      std::int64_t const winner = scale > 0 ? 199 : 0;
      auto got = answer_to(problem);
      got.o.each([&](TestType& x, auto, auto, auto, auto c) { CHECK(x == problem.v.at(0, 0, winner, c)); });
      got.weights.each([&](TestType& x, auto, auto, auto, auto j) { CHECK(x == (j == winner ? 1 : 0)); });
    }
}

TEST_CASE("softcap maps infinite scores to ±c, before the bias and the mask", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  written<float> problem({1, 1, 1, 1, 3, 1, 1}, 1);
  problem.softcap = 2, problem.scale = 1;
  problem.q.at(0, 0, 0, 0) = 1;
  problem.k.at(0, 0, 0, 0) = infinity<float>, problem.k.at(0, 0, 1, 0) = -infinity<float>,
                        problem.k.at(0, 0, 2, 0) = problem.nan();
  problem.mask = owned<std::uint8_t>::shaped({1, 1, 1, 3}, 0, 1);
  problem.mask.at(0, 0, 0, 2) = 0;
  problem.bias = owned<float>::shaped({1, 1, 1, 3});
  problem.bias.at(0, 0, 0, 0) = -1, problem.bias.at(0, 0, 0, 1) = 3, problem.bias.at(0, 0, 0, 2) = problem.nan();
  auto got = answer_to(problem);                   // scores 2 − 1 and −2 + 3
  written<float> equal({1, 1, 1, 1, 3, 1, 1}, 1);  // two scores of 1 without a softcap
  equal.mask = problem.mask, equal.bias = owned<float>::shaped({1, 1, 1, 3}, 0, 1);
  equal.q.at(0, 0, 0, 0) = 0, equal.v = problem.v;
  audit::judgement const judged = tests::judged_by_model(equal.instance(), got);
  CHECK(judged.failed + judged.undecided + judged.not_judged() == 0);
}

TEST_CASE("a NaN under softcap is a NaN row", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  written<double> problem({1, 1, 1, 2, 70, 2, 2}, 1);
  problem.softcap = 5;
  problem.k.at(0, 0, 40, 1) = problem.nan();
  auto got = answer_to(problem);
  got.o.each([](double& x, auto...) { CHECK(std::isnan(x)); });
}

}  // namespace attest::tests::special_values_test
