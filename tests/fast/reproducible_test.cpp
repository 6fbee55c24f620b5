// A row's bits are a function of its own query, visible keys, values and biases: not of its company, the threads,
// anything at an invisible key, or the caller's floating-point environment.
#include <algorithm>
#include <cfenv>

#include "fast/plan.hpp"
#include "tests/fast/case.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace attest::tests::reproducible_test {

using tests::answer_to;
using tests::owned;
using tests::written;

namespace {

template <class T>
written<T> busy_case(problem::sizes const& s, std::uint64_t seed) {
  written<T> problem(s, seed);
  std::mt19937_64 random(seed + 1);
  problem.band = {static_cast<std::int64_t>(random() % 100),
                  random() % 2 == 0 ? -1 : static_cast<std::int64_t>(random() % 90),
                  static_cast<std::int64_t>(random() % 30)};
  problem.mask = owned<std::uint8_t>::shaped({s.b, 1, s.n, s.m});
  problem.mask.each([&](std::uint8_t& x, auto...) { x = random() % 5 != 0; });
  problem.bias = owned<T>::shaped({1, s.hq, s.n, s.m});
  problem.bias.each([&](T& x, auto...) { x = static_cast<T>(random() % 1000) / 300; });
  if (seed % 3 == 0) problem.softcap = 4;
  return problem;
}

template <class A>
bool same_bits(A const& a, A const& b) {
  return std::memcmp(&a, &b, sizeof(A)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("the number of threads leaves every bit as it is", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  auto const problem = busy_case<TestType>({3, 4, 2, 150, 170, 9, 5}, 11);
  auto const alone = answer_to(problem, {.threads = 1});
  for (int const threads : {0, 2, 3, 4, 5, 6, 7, 8})
    for (int again = 0; again < 2; ++again) CHECK(answer_to(problem, {.threads = threads}).same_bits_as(alone));
}

TEMPLATE_TEST_CASE("the cache that is planned for leaves every bit as it is", "[unit]", float, double) {
  auto const problem = busy_case<TestType>({1, 2, 1, 300, 170, 40, 33}, 13);
  auto const usual = answer_to(problem);
  for (std::int64_t const cache : {1, 64 << 10, 256 << 10, 8 << 20})
    CHECK(answer_to(problem, {.threads = 1, .cache = cache}).same_bits_as(usual));
  auto const instance = problem.instance();
  CHECK(fast::attention(instance, problem::outputs<TestType>{}, {.cache = -1}).why().message() ==
        "cache: is -1, expected 0 (what there is) or more");
  CHECK(fast::plan_of(instance, false, 1, 1).block_rows < fast::plan_of(instance, false, 1, 8 << 20).block_rows);
}

TEMPLATE_TEST_CASE("keys shared among threads are merged as one thread merges them", "[unit][differential]", float,
                   double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  std::int64_t const split = fast::blocking_of<TestType>.split;
  // Six splits for few queries; weights make one thread keep them together.
  auto const problem = busy_case<TestType>({1, 2, 1, 3, 5 * split + 77, 17, 5}, 12);
  auto const together = answer_to(problem, {.threads = 1});
  for (int const threads : {0, 2, 5}) CHECK(answer_to(problem, {.threads = threads}).same_bits_as(together));
  for (int const threads : {1, 2, 8}) {
    auto const without = answer_to(problem, {.threads = threads}, 0, TestType(-77), false);
    CHECK(without.o.values == together.o.values);
    CHECK(without.lse.values == together.lse.values);
  }
}

TEMPLATE_TEST_CASE("AVX2 and AVX-512 give the same bits", "[unit][differential]", float, double) {
  auto const sets = fast::simd_targets();
  auto const has = [&](std::string_view name) { return std::find(sets.begin(), sets.end(), name) != sets.end(); };
  if (!has("AVX2") || !has("AVX3")) return;
  auto const with = [](written<TestType> const& problem, std::string_view name) {
    tests::simd_target const set(name);
    return answer_to(problem);
  };
  for (std::int64_t const d : {1, 5, 16, 64, 67})
    for (std::int64_t const m : {1, 13, 64, 130, 5000}) {
      auto const problem = busy_case<TestType>({1, 2, 1, 31, m, d, d + 2}, static_cast<std::uint64_t>(d * m));
      CHECK(with(problem, "AVX2").same_bits_as(with(problem, "AVX3")));
    }
}

TEMPLATE_TEST_CASE("a row alone has the bits it has among others", "[property]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  tests::property("one query of one head, cut out", [] {
    auto const seed = *rc::gen::arbitrary<std::uint32_t>();
    // A row alone reads V where it lies, in up to twelve vectors; many rows read a copy of it.
    problem::sizes const s{2,
                           4,
                           2,
                           *rc::gen::element<std::int64_t>(5, 40, 70),
                           *rc::gen::inRange<std::int64_t>(1, 200),
                           *rc::gen::element<std::int64_t>(7, 64),
                           *rc::gen::element<std::int64_t>(3, 32, 64, 208)};
    auto all = busy_case<TestType>(s, seed);
    if (seed % 2 == 0) all.band = {}, all.mask.each([](std::uint8_t& x, auto...) { x = 1; });
    if (seed % 4 == 0) all.mask = {};
    auto among = answer_to(all);
    std::int64_t const b = *rc::gen::inRange(0, 2), h = *rc::gen::inRange(0, 4),
                       i = *rc::gen::inRange<std::int64_t>(0, s.n);
    written<TestType> problem({1, 1, 1, 1, s.m, s.d, s.dv}, 0);
    problem.softcap = all.softcap;
    problem.band = {all.band.diagonal + i, all.band.left, all.band.right};
    if (!all.mask.is_absent()) problem.mask = owned<std::uint8_t>::shaped({1, 1, 1, s.m});
    problem.bias = owned<TestType>::shaped({1, 1, 1, s.m});
    problem.q.each([&](TestType& x, auto, auto, auto, auto t) { x = all.q.at(b, h, i, t); });
    problem.k.each([&](TestType& x, auto, auto, auto j, auto t) { x = all.k.at(b, h / 2, j, t); });
    problem.v.each([&](TestType& x, auto, auto, auto j, auto c) { x = all.v.at(b, h / 2, j, c); });
    if (!all.mask.is_absent())
      problem.mask.each([&](std::uint8_t& x, auto, auto, auto, auto j) { x = all.mask.at(b, 0, i, j); });
    problem.bias.each([&](TestType& x, auto, auto, auto, auto j) { x = all.bias.at(0, h, i, j); });
    auto alone = answer_to(problem);
    alone.o.each([&](TestType& x, auto, auto, auto, auto c) { RC_ASSERT(same_bits(x, among.o.at(b, h, i, c))); });
    alone.weights.each(
        [&](TestType& x, auto, auto, auto, auto j) { RC_ASSERT(same_bits(x, among.weights.at(b, h, i, j))); });
    RC_ASSERT(same_bits(alone.lse.at(0, 0, 0), among.lse.at(b, h, i)));
  });
}

TEMPLATE_TEST_CASE("masked keys are never read", "[property]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using T = TestType;
  tests::property("poison at keys, values and biases changes only the rows that see them", [] {
    problem::sizes const s{1, 2, 1, *rc::gen::inRange<std::int64_t>(1, 80), *rc::gen::inRange<std::int64_t>(1, 200),
                           5, 3};
    auto problem = busy_case<T>(s, *rc::gen::arbitrary<std::uint32_t>());
    if (*rc::gen::arbitrary<bool>()) problem.mask = {};
    if (*rc::gen::arbitrary<bool>()) {
      problem.block_q = *rc::gen::element(1, 10, 30), problem.block_k = *rc::gen::element(1, 16, 50);
      problem.block_mask = owned<std::uint8_t>::shaped(
          {1, 1, (s.n + problem.block_q - 1) / problem.block_q, (s.m + problem.block_k - 1) / problem.block_k});
      std::mt19937_64 draw(*rc::gen::arbitrary<std::uint32_t>());
      problem.block_mask.each([&](std::uint8_t& x, auto...) { x = draw() % 3 != 0; });
      if (*rc::gen::arbitrary<bool>()) problem.band = {};
    }
    auto clean = answer_to(problem);
    auto const instance = problem.instance();
    using limits = std::numeric_limits<T>;
    T const poison = *rc::gen::element(limits::quiet_NaN(), limits::signaling_NaN(), limits::infinity(),
                                       -limits::infinity(), limits::max(), limits::lowest());
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    std::vector<bool> poisoned(static_cast<std::size_t>(s.m));
    for (std::int64_t j = 0; j < s.m; ++j) {
      if (random() % 8 != 0) continue;
      poisoned[static_cast<std::size_t>(j)] = true;
      for (std::int64_t t = 0; t < s.d; ++t) problem.k.at(0, 0, j, t) = poison;
      for (std::int64_t c = 0; c < s.dv; ++c) problem.v.at(0, 0, j, c) = poison;
    }
    problem.bias.each([&](T& x, auto, auto h, auto i, auto j) {
      if (!tests::is_visible(instance, 0, h, i, j)) x = poison;
    });
    auto got = answer_to(problem);
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i) {
        bool sees = false;
        for (std::int64_t j = 0; j < s.m; ++j)
          sees = sees || (poisoned[static_cast<std::size_t>(j)] && tests::is_visible(instance, 0, h, i, j));
        if (sees) continue;
        RC_ASSERT(same_bits(got.lse.at(0, h, i), clean.lse.at(0, h, i)));
        for (std::int64_t c = 0; c < s.dv; ++c) RC_ASSERT(same_bits(got.o.at(0, h, i, c), clean.o.at(0, h, i, c)));
        for (std::int64_t j = 0; j < s.m; ++j)
          RC_ASSERT(same_bits(got.weights.at(0, h, i, j), clean.weights.at(0, h, i, j)));
      }
  });
}

TEMPLATE_TEST_CASE("a block mask has the bits of the mask tensor that says the same", "[property][differential]", float,
                   double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using T = TestType;
  tests::property("strips that end where blocks do", [] {
    std::int64_t const dv =
        *rc::gen::element<std::int64_t>(5, 32, 64);  // in rows of 32 and 64, V may be read where it lies
    problem::sizes const s{1, 4, 2, *rc::gen::inRange<std::int64_t>(1, 200), *rc::gen::inRange<std::int64_t>(1, 300),
                           9, dv};
    auto problem = written<T>(s, *rc::gen::arbitrary<std::uint32_t>());
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    if (*rc::gen::arbitrary<bool>()) problem.band.right = *rc::gen::inRange<std::int64_t>(0, 40);
    if (*rc::gen::arbitrary<bool>())
      problem.v.at(0, 0, s.m / 2, 0) = *rc::gen::element(std::numeric_limits<T>::infinity(), T(1));
    problem.block_q = *rc::gen::element<std::int64_t>(1, 8, 11, 12, 13, 16, 23, 24, 25, 32, 36, 64, 80, 128, 1000);
    problem.block_k = *rc::gen::element<std::int64_t>(1, 16, 50, 64, 128, 1000);
    std::uint64_t const of = *rc::gen::element<std::uint64_t>(1, 2, 4, 16);
    auto const blocks = [](std::int64_t all, std::int64_t each) { return (all + each - 1) / each; };
    problem.block_mask = owned<std::uint8_t>::shaped(
        {1, *rc::gen::element<std::int64_t>(1, s.hq), blocks(s.n, problem.block_q), blocks(s.m, problem.block_k)});
    problem.block_mask.each([&](std::uint8_t& x, auto...) { x = random() % of == 0; });
    auto element_wise = problem;
    element_wise.block_mask = {};
    element_wise.mask = owned<std::uint8_t>::shaped({1, s.hq, s.n, s.m});
    element_wise.mask.each([&](std::uint8_t& x, auto, auto h, auto i, auto j) {
      x = problem.block_mask.at(0, problem.block_mask.in().layout.shape[1] == 1 ? 0 : h, i / problem.block_q,
                                j / problem.block_k);
    });
    bool const weights = *rc::gen::arbitrary<bool>();
    fast::options const how{.threads = 1, .cache = *rc::gen::element<std::int64_t>(0, 1, 16 << 10)};
    RC_ASSERT(answer_to(problem, how, 0, T(-77), weights)
                  .same_bits_as(answer_to(element_wise, {.threads = 1}, 0, T(-77), weights)));
  });
}

TEST_CASE("every NaN written is the same NaN", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  auto problem = busy_case<float>({1, 1, 1, 5, 130, 4, 3}, 5);
  problem.bias.each([](float& x, auto, auto, auto, auto j) {
    if (j == 10) x = -std::numeric_limits<float>::quiet_NaN();
    if (j == 11) x = std::numeric_limits<float>::infinity();
  });
  problem.band = {}, problem.mask = {};
  auto got = answer_to(problem);
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (auto* tensor : {&got.o, &got.lse, &got.weights})
    tensor->each([&](float& x, auto...) { CHECK(same_bits(x, nan)); });
}

TEST_CASE("rounding mode and flush-to-zero of the caller change nothing and are as they were", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  auto const problem = busy_case<float>({2, 2, 2, 70, 130, 9, 5}, 13);
  auto const usual = answer_to(problem);
  int const found = std::fegetround();
  std::fesetround(FE_UPWARD);
  auto const upward = answer_to(problem, {.threads = 1}), upward_threads = answer_to(problem, {.threads = 2});
  int const left = std::fegetround();
  std::fesetround(found);
  CHECK(left == FE_UPWARD);
  CHECK(upward.same_bits_as(usual));
  CHECK(upward_threads.same_bits_as(usual));
#if defined(__SSE2__)
  auto subnormal = problem;
  subnormal.v.each([](float& x, auto...) { x *= 0x1p-130f; });
  auto const gradual = answer_to(subnormal);
  unsigned const control = _mm_getcsr();
  _mm_setcsr(control | 0x8040);  // FTZ and DAZ
  auto const flushed = answer_to(subnormal);
  unsigned const after = _mm_getcsr();
  _mm_setcsr(control);
  CHECK(after == (control | 0x8040));
  CHECK(flushed.same_bits_as(gradual));
#endif
}

}  // namespace attest::tests::reproducible_test
