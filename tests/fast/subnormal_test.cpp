// Subnormal numbers count as 0, and cost no more than others.
#include <algorithm>
#include <ctime>

#include "tests/fast/case.hpp"

namespace attest::tests::subnormal_test {
using tests::answer_to;
using tests::written;

namespace {

/// Processor seconds of the best of a few calls.
template <class T>
double seconds_of(written<T> const& problem) {
  double best = 1e9;
  for (int k = 0; k < 5; ++k) {
    std::clock_t const start = std::clock();
    for (int again = 0; again < 4; ++again) answer_to(problem, {.threads = 1}, 0, T(-77), false);
    best = std::min(best, static_cast<double>(std::clock() - start));
  }
  return best;
}

}  // namespace

TEMPLATE_TEST_CASE("subnormal inputs and weights slow nothing by more than three times", "[unit]", float, double) {
  using T = TestType;
  constexpr T tiny = std::numeric_limits<T>::min() / 8;
  auto const usual = written<T>({1, 2, 2, 200, 300, 32, 32}, 21);
  double const limit = 3 * seconds_of(usual);
  auto small_values = usual, small_keys = usual, small_weights = usual;
  small_values.v.each([](T& x, auto...) { x *= tiny; });
  small_keys.k.each([](T& x, auto...) { x *= tiny; });
  // Scores that fall by 1 from key to key, 250 (2,100) below their maximum at the end.
  small_weights.scale = std::is_same_v<T, float> ? 1.0 : 8.0;
  small_weights.q.each([](T& x, auto, auto, auto, auto t) { x = t == 0; });
  small_weights.k.each([](T& x, auto, auto, auto j, auto t) { x = t == 0 ? -static_cast<T>(j) : 0; });
  CHECK(seconds_of(small_values) < limit);
  CHECK(seconds_of(small_keys) < limit);
  CHECK(seconds_of(small_weights) < limit);
}

TEMPLATE_TEST_CASE("subnormal values count as 0", "[unit]", float, double) {
  using T = TestType;
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  written<T> problem({1, 1, 1, 3, 5, 4, 20}, 22);
  problem.v.each([](T& x, auto...) { x = std::numeric_limits<T>::denorm_min(); });
  auto got = answer_to(problem);
  got.o.each([](T& x, auto...) { CHECK(x == 0); });
}

}  // namespace attest::tests::subnormal_test
