// bf16 and f16 are storage: conversions are exact one way and to nearest the other, and the kernel answers what it
// answers in f32, rounded.
#include "fast/algorithm/storage.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "audit/tensors/elements.hpp"
#include "fast/algorithm/model.hpp"
#include "tests/fast/case.hpp"

namespace attest::tests::storage_test {
using problem::bf16;
using problem::f16;
using tests::answer_to;
using tests::owned;
using tests::written;

namespace {

using audit::number;  // of a stored number: not the kernel's reading of it

template <class E>
struct named {
  static constexpr std::uint16_t infinity = problem::format_of<E>.infinity(),
                                 largest = problem::format_of<E>.largest_finite();
  static auto const& rows() { return std::get<fast::row_conversions<E>>(fast::best_operations<float>().stored); }
  static void widen(E const* x, std::int64_t n, float* to) { rows().widen(x, n, to); }
  static void narrow(float const* x, std::int64_t n, E* to) { rows().narrow(x, n, to); }
};

/// Nearest of the magnitudes below and above, ties to the even one; the overflow boundary is half-way to what would
/// come after the largest.
template <class E>
bool is_nearest(float x, E got) {
  if (std::isnan(x)) return std::isnan(number(got));
  if (std::signbit(x) != ((got.bits & 0x8000) != 0)) return false;
  double const size = std::abs(static_cast<double>(x));
  auto const bits = static_cast<std::uint16_t>(got.bits & 0x7fff);
  auto const at = [](int n) {  // the one after the largest is where it would be, were the range longer
    double const last = number(E{named<E>::largest});
    return n < named<E>::infinity ? number(E{static_cast<std::uint16_t>(n)})
                                  : last + (last - number(E{named<E>::largest - 1}));
  };
  if (bits > named<E>::infinity) return false;
  double const off = bits == named<E>::infinity && std::isinf(size) ? 0 : std::abs(size - at(bits));
  if (bits == named<E>::infinity && size > at(bits)) return true;
  double const below = bits == 0 ? 1e300 : std::abs(size - at(bits - 1)),
               above = bits == named<E>::infinity ? 1e300 : std::abs(size - at(bits + 1));
  double const other = std::min(below, above);
  return off < other || (off == other && bits % 2 == 0);
}

/// `from`, rounded to E, and as f32 numbers again.
template <class E>
written<E> stored(written<float>& from) {
  written<E> narrow;
  static_cast<problem::parameters&>(narrow) = from;
  auto const round = [](owned<float>& numbers, owned<E>& to) {
    to.layout = numbers.layout;
    for (float& x : numbers.values) {
      to.values.push_back(fast::narrowed<E>(x));
      x = fast::widened(to.values.back());
    }
  };
  round(from.q, narrow.q), round(from.k, narrow.k), round(from.v, narrow.v), round(from.bias, narrow.bias);
  return narrow;
}

}  // namespace

TEMPLATE_TEST_CASE("all stored numbers are read exactly", "[unit]", bf16, f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  std::vector<TestType> all(0x10000);
  std::vector<float> got(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[k].bits = static_cast<std::uint16_t>(k);
  named<TestType>::widen(all.data(), 0x10000, got.data());
  int wrong = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    double const truth = number(all[k]), alone = static_cast<double>(fast::widened(all[k]));
    double const row = static_cast<double>(got[k]);
    wrong += !(std::isnan(truth) ? std::isnan(alone) && std::isnan(row)
                                 : alone == truth && row == truth && std::signbit(row) == std::signbit(truth));
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("numbers are stored as the nearest, ties to even", "[unit]", bf16, f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < 0x1'0000'0000; bits += 4099)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (int k = 0; k < named<TestType>::infinity; k += 1) {  // every boundary, and beside it
    float const low = fast::widened(TestType{static_cast<std::uint16_t>(k)});
    float const step = k + 1 < named<TestType>::infinity
                           ? fast::widened(TestType{static_cast<std::uint16_t>(k + 1)}) - low
                           : low - fast::widened(TestType{static_cast<std::uint16_t>(k - 1)});
    float const middle = low + step / 2;
    for (float const y : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e38f), low})
      x.push_back(y), x.push_back(-y);
  }
  std::vector<TestType> got(x.size());
  named<TestType>::narrow(x.data(), static_cast<std::int64_t>(x.size()), got.data());
  int wrong = 0;
  for (std::size_t k = 0; k < x.size(); ++k) wrong += !is_nearest(x[k], got[k]);
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("16-bit storage answers what f32 answers, rounded", "[property]", bf16, f16) {
  using E = TestType;
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  tests::property("O and weights are the rounded ones of f32, LSE is that of f32, bit for bit", [] {
    auto const in = [](std::int64_t low, std::int64_t high) { return *rc::gen::inRange<std::int64_t>(low, high + 1); };
    std::int64_t const hk = in(1, 2), gap = in(0, 2);
    problem::sizes const s{in(1, 2), hk * in(1, 2), hk, in(0, 60), in(0, 300), in(0, 70), in(0, 70)};
    written<float> wide(s, *rc::gen::arbitrary<std::uint64_t>(), gap);
    if (in(0, 2) == 0) wide.softcap = 2;
    if (in(0, 1) == 0) wide.band = {in(-80, 200), in(-1, 90), in(-1, 90)};
    if (in(0, 1) == 0) {
      wide.bias = owned<float>::shaped({1, s.hq, s.n, s.m});
      wide.bias.each(
          [&](float& x, auto, auto h, auto i, auto j) { x = static_cast<float>((h + 3 * i + 7 * j) % 50) / 9; });
    }
    auto const narrow = stored<E>(wide);
    int const threads = static_cast<int>(in(1, 2));
    auto const expected = answer_to(wide, {.threads = 1}, 3);

    auto const instance = narrow.instance();
    E const canary{0x1234};
    auto o = owned<E>::shaped({s.b, s.hq, s.n, s.dv}, 3, canary);
    auto weights = owned<E>::shaped({s.b, s.hq, s.n, s.m}, 3, canary);
    auto lse = owned<float>::shaped({s.b, s.hq, s.n}, 3, -77.0f);
    auto const outputs = problem::outputs<E>::make(instance, {o.out(), lse.out(), weights.out()}).value();
    RC_ASSERT(fast::attention(instance, outputs, {.threads = threads}));
    auto const rounded = [&](owned<E> const& got, owned<float> const& wanted) {
      owned<E> expect;
      expect.layout = got.layout, expect.values.assign(got.values.size(), canary);
      auto from = wanted;
      expect.each([&](E& x, auto... at) { x = fast::narrowed<E>(from.at(at...)); });
      return got.values == expect.values;
    };
    RC_ASSERT(rounded(o, expected.o));
    RC_ASSERT(rounded(weights, expected.weights));
    RC_ASSERT(std::memcmp(lse.values.data(), expected.lse.values.data(), lse.values.size() * sizeof(float)) == 0);
  });
}

TEMPLATE_TEST_CASE("weights of more keys than a thread keeps scores for are answered", "[unit]", bf16, f16) {
  using E = TestType;
  // 60 rows of 45,000 scores would take 10 MiB.
  written<float> wide({1, 1, 1, 60, 45'000, 2, 1}, 7);
  auto const narrow = stored<E>(wide);
  auto const instance = narrow.instance();
  auto o = owned<E>::shaped({1, 1, 60, 1}), weights = owned<E>::shaped({1, 1, 60, 45'000});
  auto const outputs = problem::outputs<E>::make(instance, {o.out(), {}, weights.out()}).value();
  REQUIRE(fast::attention(instance, outputs, {.threads = 2}));
  auto expected = answer_to(wide);
  int wrong = 0;
  weights.each([&](E& x, auto... at) { wrong += !(x == fast::narrowed<E>(expected.weights.at(at...))); });
  o.each([&](E& x, auto... at) { wrong += !(x == fast::narrowed<E>(expected.o.at(at...))); });
  CHECK(wrong == 0);
}

TEST_CASE("the subnormal numbers of f16 are not 0", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  f16 const zero{0}, tiny{3};  // 3·2^−24
  f16 q = zero, k = zero, v = tiny, o{0x1234};
  problem::layout const single = problem::layout::compact({1, 1, 1, 1});
  problem::arguments<f16> arguments;
  arguments.q = {&q, single}, arguments.k = {&k, single}, arguments.v = {&v, single};
  auto const instance = problem::instance<f16>::make(arguments).value();
  auto const outputs = problem::outputs<f16>::make(instance, {{&o, single}, {}, {}}).value();
  REQUIRE(fast::attention(instance, outputs));
  CHECK(o == tiny);
}

static_assert(fast::model<bf16>({1, 1, 1, 2, 2, 8, 1}).u_out == 0x1p-8 &&
              fast::model<f16>({1, 1, 1, 2, 2, 8, 1}).u_out == 0x1p-11);
static_assert(fast::model<bf16>({1, 1, 1, 2, 2, 8, 1}).u_p == 0, "weights meet V in f32");
static_assert(fast::model<float>({1, 1, 1, 2, 2, 8, 1}).u_out == 0);

}  // namespace attest::tests::storage_test
