// fast::attention answers what docs/semantics.md says: within the bound of its model, and rule by rule.
#include "fast/attention.hpp"

#include <algorithm>

#include "tests/fast/case.hpp"
#include "tests/support/judged_answer.hpp"

namespace attest::tests::attention_test {
using tests::answer_to;
using tests::owned;
using tests::written;

namespace {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
void require_right_answer(written<T> const& problem) {
  auto const instance = problem.instance();
  auto got = answer_to(problem, {.threads = 1}, 3);
  audit::judgement const judged = tests::judged_by_model(instance, got);
  for (audit::violation const& wrong : judged.violations) RC_FAIL(wrong.sentence);
  RC_ASSERT(judged.failed + judged.undecided == 0);
  for (auto* tensor : {&got.o, &got.lse, &got.weights}) {
    auto gaps = *tensor;  // and rows behind the queries of an entry
    gaps.each([&](T& x, auto b, auto, auto i, auto) {
      if (i < instance.queries(b)) x = T(-77);
    });
    RC_ASSERT(std::all_of(gaps.values.begin(), gaps.values.end(), [](T x) { return x == T(-77); }));
  }
}

/// The same, and the bound says something of every element.
template <class T>
void require_judged(written<T> const& problem) {
  audit::judgement const judged = tests::judged_by_model(problem.instance(), answer_to(problem));
  CHECK(judged.failed + judged.undecided + judged.not_judged() == 0);
}

template <class T>
written<T> drawn_case() {
  auto const in = [](std::int64_t low, std::int64_t high) { return *rc::gen::inRange<std::int64_t>(low, high + 1); };
  std::int64_t const hk = in(1, 2);
  problem::sizes const s{in(1, 2), hk * in(1, 3), hk, in(0, 70), in(0, 200), in(0, 9), in(0, 9)};
  written<T> problem(s, *rc::gen::arbitrary<std::uint64_t>(), in(0, 2));
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  auto const broadcast = [&](std::int64_t size) { return random() % 3 == 0 ? 1 : size; };
  switch (in(0, 3)) {
    case 0: break;
    case 1: problem.scale = 0; break;
    case 2: problem.scale = -0.75; break;
    default: problem.scale = 0.3;  // not an f32 number
  }
  if (in(0, 2) == 0) problem.softcap = *rc::gen::element(0.01, 1.0, 5.0, 50.0, 1e5);
  if (in(0, 1) != 0) {
    problem.mask = owned<std::uint8_t>::shaped({broadcast(s.b), broadcast(s.hq), broadcast(s.n), s.m}, in(0, 2));
    auto const kept = static_cast<unsigned>(in(0, 4));
    problem.mask.each(
        [&](std::uint8_t& x, auto...) { x = random() % 4 < kept ? static_cast<std::uint8_t>(1 + random() % 255) : 0; });
  }
  std::int64_t const bias = in(0, 2);
  if (bias == 1) {
    problem.bias = owned<T>::shaped({broadcast(s.b), broadcast(s.hq), broadcast(s.n), s.m}, in(0, 2));
    problem.bias.each([&](T& x, auto...) { x = random() % 7 == 0 ? -infinity<T> : static_cast<T>(random() % 64) / 8; });
  } else if (bias == 2) {
    problem.bias_f32 = owned<float>::shaped({broadcast(s.b), broadcast(s.hq), broadcast(s.n), s.m}, in(0, 2));
    problem.bias_f32.each([&](float& x, auto...) { x = static_cast<float>(random() % 64) / 7; });
  }
  if (in(0, 1) != 0) problem.band = {in(-80, 200), in(-1, 90), in(-1, 90)};
  if (in(0, 1) != 0) {
    auto const draw = [&](auto& x, auto...) {
      x = static_cast<std::decay_t<decltype(x)>>(random() % 5 == 0 ? -infinity<float> : float(random() % 128) / 16 - 3);
    };
    if (in(0, 1) != 0) (problem.sink = owned<T>::shaped({broadcast(s.b), s.hq}, in(0, 2))).each(draw);
    else (problem.sink_f32 = owned<float>::shaped({broadcast(s.b), s.hq}, in(0, 2))).each(draw);
  }
  if (in(0, 2) == 0) {
    auto const lengths = [&](std::int64_t room) {
      owned<std::int32_t> drawn({s.b});
      for (auto& x : drawn.values) x = static_cast<std::int32_t>(in(0, room));
      return drawn;
    };
    if (in(0, 1) != 0) problem.q_lengths = lengths(s.n);
    if (in(0, 1) != 0) problem.k_lengths = lengths(s.m);
    problem.align = in(0, 1);
  }
  if (in(0, 2) == 0) {
    problem.block_q = in(1, 70), problem.block_k = *rc::gen::element<std::int64_t>(1, 2, 7, 16, 48, 64, 130);
    auto const blocks = [](std::int64_t rows, std::int64_t block) { return (rows + block - 1) / block; };
    problem.block_mask = owned<std::uint8_t>::shaped(
        {broadcast(s.b), broadcast(s.hq), blocks(s.n, problem.block_q), blocks(s.m, problem.block_k)});
    auto const set = static_cast<unsigned>(in(0, 4));
    problem.block_mask.each([&](std::uint8_t& x, auto...) { x = random() % 4 < set ? 2 : 0; });
  }
  return problem;
}

}  // namespace

TEMPLATE_TEST_CASE("the kernel answers within the bound of its model", "[property]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  tests::property("any sizes, strides, masks, bias, band, scale, heads, sinks, lengths",
                  [] { require_right_answer(drawn_case<TestType>()); });
}

TEST_CASE("sizes around the blocks are answered like any other", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (std::int64_t const n : {1, 2, 63, 64, 65, 129})
    for (std::int64_t const m : {1, 15, 16, 17, 63, 64, 65, 127, 128, 129})
      require_right_answer(written<float>({1, 1, 1, n, m, 5, 3}, static_cast<std::uint64_t>(n * 1000 + m)));
}

TEST_CASE("broadcast inputs with stride 0 are read like copies", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  written<float> single({1, 1, 1, 5, 70, 4, 3}, 3), broadcast({2, 2, 2, 5, 70, 4, 3}, 4);
  for (auto const& [to, from] :
       {std::pair{&broadcast.q, &single.q}, std::pair{&broadcast.k, &single.k}, std::pair{&broadcast.v, &single.v}}) {
    to->values = from->values;
    to->layout.stride = from->layout.stride;
    to->layout.stride[0] = to->layout.stride[1] = 0;
  }
  auto alone = answer_to(single), all = answer_to(broadcast);
  all.o.each([&](float& x, auto, auto, auto i, auto c) { CHECK(x == alone.o.at(0, 0, i, c)); });
}

TEMPLATE_TEST_CASE("an empty row is O = 0, LSE = −∞, weights 0", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  auto const require_empty = [](written<TestType> const& problem) {
    auto got = answer_to(problem);
    got.o.each([](TestType& x, auto...) { CHECK(x == 0); });
    got.lse.each([](TestType& x, auto...) { CHECK(x == -infinity<TestType>); });
    got.weights.each([](TestType& x, auto...) { CHECK(x == 0); });
  };
  written<TestType> masked({1, 2, 1, 3, 70, 4, 2}, 1);
  masked.mask = owned<std::uint8_t>::shaped({1, 1, 1, 70});
  masked.q.at(0, 0, 1, 2) = masked.nan();  // a NaN in q with no visible key is an empty row
  require_empty(masked);
  written<TestType> banded({1, 1, 1, 3, 70, 4, 2}, 1);
  banded.band = {-100, -1, 0};
  require_empty(banded);
  require_empty(written<TestType>({1, 1, 1, 3, 0, 4, 2}, 1));
  written<TestType> sunk({1, 1, 1, 3, 70, 4, 2}, 1);  // all visible scores −∞
  sunk.bias = owned<TestType>::shaped({1, 1, 1, 70}, 0, -infinity<TestType>);
  require_empty(sunk);
}

TEST_CASE("empty tensors are answered", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (problem::sizes const& s : {problem::sizes{0, 1, 1, 3, 4, 2, 2},
                                  {1, 0, 0, 3, 4, 2, 2},
                                  {1, 1, 1, 0, 4, 2, 2},
                                  {1, 1, 1, 3, 0, 0, 0},
                                  {1, 1, 1, 3, 4, 2, 0},
                                  {1, 1, 1, 3, 4, 0, 2}})
    require_right_answer(written<float>(s, 5));
}

TEST_CASE("an explicit scale is that number, even where f32 has none like it", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  written<float> problem({1, 1, 1, 2, 4, 1, 2}, 7);
  problem.scale = 1e300;
  problem.q.each([](float& x, auto...) { x = 0; });
  require_right_answer(problem);
  problem.scale = 1e-38;  // subnormal in f32
  problem.q.each([](float& x, auto...) { x = 1e19f; });
  problem.k.each([](float& x, auto, auto, auto j, auto) { x = 1e19f * static_cast<float>(j); });
  auto twin = problem;  // scores 0, 1, 2, 3, by a scale in the range of f32
  twin.scale = 1e-38 * 0x1p64;
  twin.q.each([](float& x, auto...) { x = 1e19f * 0x1p-64f; });
  require_judged(twin);
  CHECK(answer_to(problem).same_bits_as(answer_to(twin)));
}

TEST_CASE("grouped heads read their own kv head", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  written<float> problem({2, 6, 2, 3, 70, 4, 2}, 8);
  problem.v.each([](float& x, auto b, auto h, auto, auto) { x = static_cast<float>(10 * b + h); });
  require_judged(problem);
  auto got = answer_to(problem);
  got.o.each([](float& x, auto b, auto h, auto, auto) { CHECK(std::round(x) == static_cast<float>(10 * b + h / 3)); });
}

TEST_CASE("a band that saturates is one that reaches everything, or nothing", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using range = std::numeric_limits<std::int64_t>;
  written<double> open({1, 1, 1, 3, 70, 4, 2}, 8), saturated = open;
  saturated.band = {range::max(), -1, range::max()};
  CHECK(answer_to(saturated).same_bits_as(answer_to(open)));
  saturated.band = {range::min(), range::max(), range::max()};
  auto got = answer_to(saturated);  // −2^63 + (2^63 − 1) = −1 for i = 0: nothing; one key more for each further query
  CHECK(got.lse.at(0, 0, 0) == -infinity<double>);
  CHECK(got.weights.at(0, 0, 1, 0) == 1);
}

TEST_CASE("what is wrong is said, and no output is touched", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  written<float> problem({1, 1, 1, 1, 1, 1, 1}, 1);
  float o = 5;
  auto const call = [&](int threads) {
    auto const instance = problem.instance();
    auto outputs = problem::outputs<float>::make(instance, {{&o, problem::layout::compact({1, 1, 1, 1})}, {}, {}});
    return fast::attention(instance, outputs.value(), {.threads = threads});
  };
  auto const fewer = call(-1);
  REQUIRE(!fewer);
  CHECK(fewer.why().argument == "threads");
  CHECK(o == 5);
  CHECK(call(1));  // LSE and weights are optional
  CHECK(o == problem.v.at(0, 0, 0, 0));
}

}  // namespace attest::tests::attention_test
