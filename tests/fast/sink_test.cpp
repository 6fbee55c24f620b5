// Sinks: one more term of l. The rules of docs/semantics.md one by one; drawn sinks are in attention_test.cpp.
#include <algorithm>

#include "tests/fast/case.hpp"
#include "tests/support/judged_answer.hpp"

namespace attest::tests::sink_test {
using tests::answer_to;
using tests::owned;
using tests::written;

namespace {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

/// Rows with and without visible keys: query i sees the keys below i.
template <class T>
written<T> rows_with(T sink, bool masked = false) {
  written<T> problem({1, 2, 1, 30, 40, 4, 3}, 7);
  problem.band = {-1, -1, 0};
  problem.sink = owned<T>({2}, sink);
  if (masked) problem.band = {}, problem.mask = owned<std::uint8_t>({1, 1, 1, 40}, std::uint8_t{0});
  return problem;
}

}  // namespace

TEMPLATE_TEST_CASE("a sink of −∞ changes no bit", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  auto with = rows_with<TestType>(-infinity<TestType>), without = with;
  without.sink = {};
  CHECK(answer_to(with).same_bits_as(answer_to(without)));
}

TEMPLATE_TEST_CASE("an empty row with a sink is O = 0, weights 0, LSE = the sink exactly", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using limits = std::numeric_limits<TestType>;
  for (TestType const t : {TestType(0.1), TestType(-1e30), limits::lowest(), limits::max(), limits::infinity(),
                           -limits::infinity(), limits::quiet_NaN()})
    for (bool const masked : {false, true}) {
      auto got = answer_to(rows_with<TestType>(t, masked));
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t i = 0; i < (masked ? 30 : 1); ++i) {
          TestType const lse = got.lse.at(0, h, i);
          CHECK((lse == t || (t != t && lse != lse)));
          for (std::int64_t c = 0; c < 3; ++c) CHECK(got.o.at(0, h, i, c) == 0);
          for (std::int64_t j = 0; j < 40; ++j) CHECK(got.weights.at(0, h, i, j) == 0);
        }
    }
}

TEMPLATE_TEST_CASE("a sink of NaN or +∞ makes NaN of every row with a visible key", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (TestType const t : {infinity<TestType>, std::numeric_limits<TestType>::quiet_NaN()})
    for (bool const dead : {false, true}) {
      auto problem = rows_with<TestType>(t);
      if (dead) problem.bias = owned<TestType>({1, 1, 1, 40}, -infinity<TestType>);  // all visible scores are −∞
      auto got = answer_to(problem);
      for (std::int64_t i = 1; i < 30; ++i) {
        CHECK(std::isnan(got.lse.at(0, 0, i)));
        CHECK((std::isnan(got.o.at(0, 0, i, 0)) && std::isnan(got.weights.at(0, 0, i, 0))));
      }
    }
}

TEMPLATE_TEST_CASE("no finite sink overflows, and none is lost", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using limits = std::numeric_limits<TestType>;
  for (TestType const t :
       {TestType(90), TestType(1000), TestType(1e5), TestType(-1e4), TestType(-1e9), limits::lowest(), limits::max()}) {
    auto const problem = rows_with<TestType>(t);
    auto got = answer_to(problem);
    auto const instance = problem.instance();
    auto const judged = tests::judged_by_model(instance, got);
    CHECK(judged.failed + judged.undecided == 0);
    if (std::abs(t) < TestType(1e38)) CHECK(judged.not_judged() == 0);  // beyond 2^126 a row of the sink alone is open
    for (std::int64_t i = 1; i < 30; ++i) CHECK(std::isfinite(got.lse.at(0, 1, i)));
  }
}

TEST_CASE("a sink goes by query head and batch entry, in q's type or f32", "[unit]") {
  written<double> problem({2, 4, 2, 3, 5, 4, 3}, 3);
  problem.sink_f32 = owned<float>({2, 4});
  problem.sink_f32.each([](float& x, auto b, auto h, auto, auto) { x = static_cast<float>(b * 4 + h) / 3; });
  auto wide = problem;
  wide.sink_f32 = {};
  wide.sink = owned<double>({2, 4});
  wide.sink.each([&](double& x, auto b, auto h, auto, auto) { x = problem.sink_f32.at(b, h, 0); });
  CHECK(answer_to(problem).same_bits_as(answer_to(wide)));
  auto const judged = tests::judged_by_model(problem.instance(), answer_to(problem));
  CHECK(judged.failed + judged.undecided + judged.not_judged() == 0);
}

TEMPLATE_TEST_CASE("LSE gives the sink back where it is all that there is", "[unit]", float, double) {
  // One key with a score far below: only the rounding of t in the unit of the exponent is left, once (f32) or twice.
  written<TestType> problem({1, 1, 1, 1, 1, 1, 1}, 1);
  problem.q.values = {1}, problem.k.values = {TestType(-3000)}, problem.scale = 1;
  for (int k = -200; k < 200; ++k) {
    auto const t = static_cast<TestType>(k) / 7;
    problem.sink = owned<TestType>({1}, t);
    TestType const lse = answer_to(problem).lse.values[0];
    TestType const u = std::numeric_limits<TestType>::epsilon() / 2;
    CHECK(std::abs(lse - t) <= 4 * u * std::abs(t));
  }
}

}  // namespace attest::tests::sink_test
