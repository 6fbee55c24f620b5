// Dot products of bf16: the instruction is the chain of multiply-adds that it is declared to be, and the bits of a row do
// not depend on its company, as with the other arithmetic.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "fast/algorithm/model.hpp"
#include "fast/attention.hpp"
#include "fast/simd/bf16_pairs.hpp"
#include "tests/support/property.hpp"

using namespace attest;
using problem::bf16;

namespace {

/// The operations; null, and said so, where there is nothing to test.
fast::bf16_pair_operations const* operations() {
  if (fast::bf16_pairs_here() == nullptr) WARN("not tested: this processor has no dot products of bf16");
  return fast::bf16_pairs_here();
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float multiply_add(float a, float b, float s) { return flushed(std::fma(flushed(a), flushed(b), flushed(s))); }

/// s + a·b for pairs, as bf16_pairs.hpp has it.
float add_product(float s, fast::bf16_pair a, fast::bf16_pair b) {
  auto const half = [](fast::bf16_pair pair, int which) {
    return fast::widened(bf16{static_cast<std::uint16_t>(pair >> (16 * which))});
  };
  return multiply_add(half(a, 0), half(b, 0), multiply_add(half(a, 1), half(b, 1), s));
}

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Numbers of every kind: near 1, near the ends of the range, subnormal, 0, ∞, NaN.
class drawn_numbers {
 public:
  explicit drawn_numbers(std::uint64_t seed, bool finite = false) : random_(seed), finite_(finite) {}
  bf16 operator()() {
    std::uint64_t const x = random_();
    auto const bits = static_cast<std::uint16_t>(x);
    int const kind = static_cast<int>(x >> 32 & 63);
    auto const exponent = kind == 0   ? x >> 16 & 0xff          // any
                          : kind == 1 ? x >> 16 & 1             // 0 and subnormal, or the smallest normal
                          : kind == 2 ? 190 + (x >> 16 & 0x1f)  // products overflow
                          : kind < 20 ? 50 + (x >> 16 & 0x1f)   // products underflow
                                      : 120 + (x >> 16 & 0x0f);
    auto const e = finite_ && exponent == 0xff ? 127 : exponent;
    return {static_cast<std::uint16_t>((bits & 0x807f) | e << 7)};
  }
  std::vector<bf16> operator()(std::int64_t count) {
    std::vector<bf16> made(static_cast<std::size_t>(count));
    std::ranges::generate(made, std::ref(*this));
    return made;
  }

 private:
  std::mt19937_64 random_;
  bool finite_;
};

constexpr std::int64_t stride = fast::score_stride<float>, panel = fast::bf16_pair_operations::panel,
                       key_block = fast::blocking_of<float>.keys;

fast::bf16_pair pair_of(bf16 first, bf16 second) { return first.bits | static_cast<std::uint32_t>(second.bits) << 16; }
/// Pair t of a row that begins at `row`.
fast::bf16_pair pair_of(bf16 const* row, std::int64_t t) { return pair_of(row[2 * t], row[2 * t + 1]); }

}  // namespace

TEST_CASE("scores are chains of multiply-adds, packed and in place", "[unit]") {
  auto const* const pairs_of = operations();
  if (pairs_of == nullptr) return;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    drawn_numbers draw(seed);
    auto const pairs = static_cast<std::int64_t>(random() % 41), rows = static_cast<std::int64_t>(1 + random() % 24),
               gap = static_cast<std::int64_t>(random() % 3), width = 2 * pairs + gap;
    float const factor = fast::widened(draw());
    std::vector<bf16> const Q = draw(24 * 2 * pairs + 2), K = draw(key_block * width + 1);
    std::vector<fast::bf16_pair> packed_Q(static_cast<std::size_t>(24 * pairs + 1)),
        packed_K(static_cast<std::size_t>(key_block * pairs + 1));
    for (std::int64_t at = 0; at < 24 * pairs; ++at) packed_Q[static_cast<std::size_t>(at)] = pair_of(Q.data(), at);
    for (std::int64_t j = 0; j < key_block; ++j)
      for (std::int64_t t = 0; t < pairs; ++t)
        packed_K[static_cast<std::size_t>(j / panel * panel * pairs + t * panel + j % panel)] =
            pair_of(K.data() + j * width, t);
    fast::interval const keys{panel * static_cast<std::int64_t>(random() % 3), panel * 4};
    std::vector<float> S(static_cast<std::size_t>(24 * stride), -7.0f), in_place = S, listed = S;
    pairs_of->scores(packed_Q.data(), packed_K.data(), pairs, rows, keys, factor, S.data());
    bool const few = rows <= fast::bf16_pair_operations::few_rows;
    if (few) {
      bool const ahead = seed % 2 == 0;
      bf16 const* const from = K.data() + keys.first * width;
      std::vector<bf16 const*> list;
      for (std::int64_t j = 0; j < keys.size(); ++j) list.push_back(from + j * width);
      pairs_of->few_scores(packed_Q.data(), {from, width}, ahead ? K.data() : nullptr, pairs, rows, keys.size(), factor,
                           in_place.data() + keys.first);
      pairs_of->few_listed_scores(packed_Q.data(), list.data(), ahead ? list.data() : nullptr, pairs, rows, keys.size(),
                                  factor, listed.data() + keys.first);
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < key_block; ++j) {
        float sum = 0;
        for (std::int64_t t = 0; t < pairs; ++t)
          sum = add_product(sum, pair_of(Q.data() + 2 * i * pairs, t), pair_of(K.data() + j * width, t));
        float const expected = keys.contains(j) ? sum * factor : -7.0f;
        auto const at = static_cast<std::size_t>(i * stride + j);
        if (!same(S[at], expected) || (few && !(same(in_place[at], expected) && same(listed[at], expected))))
          FAIL("seed " << seed << ", row " << i << ", key " << j << ": " << S[at] << ", in place " << in_place[at]
                       << ", of a list " << listed[at] << ", expected " << expected);
      }
  }
}

TEST_CASE("weights are rounded to nearest, and subnormal ones become 0", "[unit]") {
  auto const* const pairs_of = operations();
  if (pairs_of == nullptr) return;
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> S(static_cast<std::size_t>(stride));
    for (float& s : S) {
      auto const bits = static_cast<std::uint32_t>(random());
      s = std::bit_cast<float>(random() % 4 == 0 ? bits : (bits & 0x03ffffffu) | 0x3c000000u);
      if (random() % 16 == 0) s = std::bit_cast<float>((bits & 0xffff0000u) | 0x8000u);  // a midpoint
    }
    std::vector<float> const before = S;
    fast::interval const keys{panel * static_cast<std::int64_t>(random() % 3), panel * 4};
    pairs_of->narrow(S.data(), keys);
    for (std::int64_t j = keys.first; j < keys.last; ++j) {
      bf16 got;
      std::memcpy(&got, reinterpret_cast<bf16 const*>(S.data()) + j, sizeof got);
      float const from = before[static_cast<std::size_t>(j)], to = fast::widened(got);
      if (!same(to, fast::widened(fast::narrowed<bf16>(flushed(from))))) FAIL(from << " became " << to);
    }
  }
}

TEST_CASE("sums of values are chains of multiply-adds, packed, in place and of visible keys alone", "[unit]") {
  auto const* const pairs_of = operations();
  if (pairs_of == nullptr) return;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    drawn_numbers draw(seed, seed % 3 == 0);
    auto const rows = static_cast<std::int64_t>(1 + random() % 24), dv = static_cast<std::int64_t>(1 + random() % 160),
               gap = static_cast<std::int64_t>(random() % 3), width = dv + gap,
               padded = fast::rounded_up(dv, panel);
    fast::interval const pairs{static_cast<std::int64_t>(random() % 40), 40 + static_cast<std::int64_t>(random() % 25)};
    std::vector<bf16> const V = draw(key_block * width + 1), P = draw(24 * key_block);
    std::vector<float> S(static_cast<std::size_t>(24 * stride)), factor(24), O(static_cast<std::size_t>(24 * padded));
    for (std::int64_t i = 0; i < 24; ++i) std::memcpy(&S[static_cast<std::size_t>(i * stride)], &P[static_cast<std::size_t>(i * key_block)], key_block * sizeof(bf16));
    for (float& f : factor) f = fast::widened(draw());
    for (float& o : O) o = fast::widened(draw());
    std::vector<fast::bf16_pair> packed(static_cast<std::size_t>(padded * key_block / 2));
    for (std::int64_t p = 0; p < key_block / 2; ++p)
      for (std::int64_t c = 0; c < dv; ++c)
        packed[static_cast<std::size_t>(c / panel * panel * (key_block / 2) + p * panel + c % panel)] =
            pair_of(V[static_cast<std::size_t>(2 * p * width + c)], V[static_cast<std::size_t>((2 * p + 1) * width + c)]);
    std::vector<std::uint8_t> visible(static_cast<std::size_t>(key_block));
    for (auto& shown : visible) shown = random() % 4 != 0;
    auto by_panels = O, in_place = O, listed = O, shown = O;
    pairs_of->values(S.data(), packed.data(), rows, pairs, dv, factor.data(), {by_panels.data(), padded});
    pairs_of->visible_values(S.data(), packed.data(), visible.data(), pairs, dv, factor[0], shown.data());
    bool const few = rows <= fast::bf16_pair_operations::few_rows && dv % panel == 0;
    if (few) {
      bf16 const* const from = V.data() + 2 * pairs.first * width;
      std::vector<bf16 const*> list;
      for (std::int64_t j = 0; j < 2 * pairs.size(); ++j) list.push_back(from + j * width);
      bool const ahead = seed % 2 == 0;
      pairs_of->few_values(S.data(), {from, width}, ahead ? V.data() : nullptr, rows, pairs, dv, factor.data(),
                          {in_place.data(), padded});
      pairs_of->few_listed_values(S.data(), list.data(), ahead ? list.data() : nullptr, rows, pairs, dv, factor.data(),
                                 {listed.data(), padded});
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t c = 0; c < dv; ++c) {
        float sum = 0, of_visible = 0;
        for (std::int64_t p = pairs.first; p < pairs.last; ++p) {
          auto const weights = pair_of(&P[static_cast<std::size_t>(i * key_block)], p);
          auto const at = [&](std::int64_t j) { return V[static_cast<std::size_t>(j * width + c)]; };
          auto const seen = [&](std::int64_t j) { return visible[static_cast<std::size_t>(j)] != 0; };
          sum = add_product(sum, weights, pair_of(at(2 * p), at(2 * p + 1)));
          if (seen(2 * p) || seen(2 * p + 1))
            of_visible = add_product(of_visible, weights, pair_of(seen(2 * p) ? at(2 * p) : bf16{}, seen(2 * p + 1) ? at(2 * p + 1) : bf16{}));
        }
        auto const at = static_cast<std::size_t>(i * padded + c);
        float const expected = std::fma(O[at], factor[static_cast<std::size_t>(i)], sum);
        INFO("seed " << seed << ", row " << i << ", column " << c);
        if (!same(by_panels[at], expected)) FAIL("packed: " << by_panels[at] << ", expected " << expected);
        if (few && !same(in_place[at], expected)) FAIL("in place: " << in_place[at] << ", expected " << expected);
        if (few && !same(listed[at], expected)) FAIL("of a list: " << listed[at] << ", expected " << expected);
        if (i == 0 && !same(shown[at], std::fma(O[at], factor[0], of_visible))) FAIL("of visible keys: " << shown[at]);
      }
  }
}

namespace {

/// Numbers [b, h, rows, d] with `gap` numbers between rows.
struct owned_numbers {
  std::int64_t b, h, rows, d, gap;
  std::vector<bf16> numbers;
  problem::tensor<bf16 const> in() const {
    std::int64_t const row = d + gap;
    return {numbers.data(), {4, {b, h, rows, d}, {h * rows * row, rows * row, row, 1}}};
  }
};

struct answer {
  std::vector<bf16> o;
  std::vector<float> lse;
};

answer answered(problem::arguments<bf16> const& asked, problem::sizes const& s, fast::options how) {
  how.bf16_arithmetic = fast::bf16_arithmetic::dot_products;
  answer made{std::vector<bf16>(static_cast<std::size_t>(s.b * s.hq * s.n * s.dv)),
              std::vector<float>(static_cast<std::size_t>(s.b * s.hq * s.n))};
  auto const instance = problem::instance<bf16>::make(asked);
  REQUIRE(instance);
  using problem::layout;
  auto const outputs = problem::outputs<bf16>::make(
      instance.value(),
      {{made.o.data(), layout::compact({s.b, s.hq, s.n, s.dv})}, {{made.lse.data(), layout::compact({s.b, s.hq, s.n})}}, {}});
  REQUIRE(outputs);
  REQUIRE(fast::attention(instance.value(), outputs.value(), how));
  return made;
}

}  // namespace

TEST_CASE("a row has the same bits alone, among others and on two threads", "[property]") {
  if (operations() == nullptr) return;
  tests::property("rows by dot products", [] {
    using rc::gen::element, rc::gen::inRange;
    std::int64_t const d = *element<std::int64_t>(1, 2, 5, 7, 16, 30, 64), dv = *element<std::int64_t>(1, 5, 32, 64, 96),
                       hk = *inRange<std::int64_t>(1, 3), groups = *inRange<std::int64_t>(1, 4),
                       n = *element<std::int64_t>(1, 2, 3, 5, 9, 23, 30), m = *inRange<std::int64_t>(1, 400),
                       gap = *inRange<std::int64_t>(0, 3);
    problem::sizes const s{1, hk * groups, hk, n, m, d, dv};
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    std::normal_distribution<float> normal;
    auto const drawn = [&](std::int64_t h, std::int64_t rows, std::int64_t width) {
      owned_numbers made{1, h, rows, width, gap, {}};
      for (std::int64_t at = 0; at < h * rows * (width + gap); ++at) made.numbers.push_back(fast::narrowed<bf16>(normal(random)));
      return made;
    };
    auto const q = drawn(s.hq, n, d), k = drawn(hk, m, d);
    auto v = drawn(hk, m, dv);
    if (*inRange(0, 3) == 0) v.numbers[static_cast<std::size_t>(m / 2 * (dv + gap))].bits = problem::format_of<bf16>.infinity();
    problem::arguments<bf16> all;
    all.q = q.in(), all.k = k.in(), all.v = v.in();
    if (*rc::gen::arbitrary<bool>()) all.band.right = *inRange<std::int64_t>(0, 40);
    if (*inRange(0, 3) == 0) all.band.left = *inRange<std::int64_t>(0, 150);
    if (*rc::gen::arbitrary<bool>()) all.scale = *element(1.0, 0.3, 1e-40, 1e40);
    auto const together = answered(all, s, {.threads = 1});
    auto const on_two = answered(all, s, {.threads = 2, .cache = 1});
    auto const differ = [](auto const& x, auto const& y) { return std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) != 0; };
    RC_ASSERT(!differ(together.o, on_two.o) && !differ(together.lse, on_two.lse));
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < n; ++i) {
        problem::arguments<bf16> one = all;
        one.q.data += (h * n + i) * (d + gap), one.q.layout.shape[1] = one.q.layout.shape[2] = 1;
        one.k.data += h / groups * m * (d + gap), one.k.layout.shape[1] = 1;
        one.v.data += h / groups * m * (dv + gap), one.v.layout.shape[1] = 1;
        one.band.diagonal += i;
        auto const alone = answered(one, {1, 1, 1, 1, m, d, dv}, {.threads = 1});
        RC_ASSERT(std::memcmp(alone.o.data(), together.o.data() + (h * n + i) * dv, alone.o.size() * sizeof(bf16)) == 0);
        RC_ASSERT(same(alone.lse[0], together.lse[static_cast<std::size_t>(h * n + i)]));
      }
  });
}

TEST_CASE("a value that another query sees makes no NaN of a row that does not see it", "[unit]") {
  if (operations() == nullptr) return;
  constexpr auto infinity = problem::format_of<bf16>.infinity();
  auto const ones = [](std::int64_t rows, std::int64_t d) {
    return owned_numbers{1, 1, rows, d, 0, std::vector<bf16>(static_cast<std::size_t>(rows * d), fast::narrowed<bf16>(1))};
  };
  auto const is_one_until = [](answer const& of, std::int64_t rows, std::int64_t dv) {
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(of.o.size()); ++at) {
      bool const infinite = at >= rows * dv && at % dv == 0;
      INFO("number " << at);
      CHECK(fast::widened(of.o[static_cast<std::size_t>(at)]) == (infinite ? std::numeric_limits<float>::infinity() : 1));
    }
  };
  for (std::int64_t const dv : {32, 5}) {  // V where it lies, and packed
    // Query i sees the keys up to i + 1; the value of key 3 is infinite.
    auto const q = ones(3, 2), k = ones(4, 2);
    auto v = ones(4, dv);
    v.numbers[static_cast<std::size_t>(3 * dv)].bits = infinity;
    problem::arguments<bf16> asked;
    asked.q = q.in(), asked.k = k.in(), asked.v = v.in(), asked.band = {.diagonal = 1, .left = -1, .right = 0};
    is_one_until(answered(asked, {1, 1, 1, 3, 4, 2, dv}, {.threads = 1}), 2, dv);
  }
  // The first 24 queries, a strip, see the first five keys, all of them, and the others one block of keys more. Key 5 is in a
  // pair with key 4.
  auto const q = ones(48, 2), k = ones(10, 2);
  auto v = ones(10, 3);
  v.numbers[5 * 3].bits = infinity;
  std::vector<std::uint8_t> const blocks{1, 0, 1, 1};
  problem::arguments<bf16> asked;
  asked.q = q.in(), asked.k = k.in(), asked.v = v.in();
  asked.block_mask = {blocks.data(), problem::layout::compact({1, 1, 2, 2})}, asked.block_q = 24, asked.block_k = 5;
  is_one_until(answered(asked, {1, 1, 1, 48, 10, 2, 3}, {.threads = 1}), 24, 3);
}

TEST_CASE("scales beyond the range of f32 are applied", "[unit]") {
  if (operations() == nullptr) return;
  auto const filled = [](std::int64_t rows, float with) {
    return owned_numbers{1, 1, rows, 4, 0, std::vector<bf16>(static_cast<std::size_t>(rows * 4), fast::narrowed<bf16>(with))};
  };
  auto const v = filled(9, 3);
  auto const lse = [&](float size, double scale) {
    auto const q = filled(1, size), k = filled(9, size);
    problem::arguments<bf16> asked;
    asked.q = q.in(), asked.k = k.in(), asked.v = v.in(), asked.scale = scale;
    return answered(asked, {1, 1, 1, 1, 9, 4, 4}, {.threads = 1}).lse[0];
  };
  float const usual = lse(1, 1);
  CHECK(usual == Approx(4 + std::log(9.0)));
  CHECK(lse(0x1p-60f, 0x1p120) == usual);
  CHECK(lse(0x1p60f, 0x1p-120) == usual);
  CHECK(lse(0x1p60f, -0x1p-120) == Approx(-4 + std::log(9.0)));
}

TEST_CASE("dot products are refused for other types, and where the processor lacks them", "[unit]") {
  float const one = 1;
  float o = -7;
  using problem::layout;
  problem::arguments<float> asked;
  asked.q = asked.k = asked.v = {&one, layout::compact({1, 1, 1, 1})};
  auto const instance = problem::instance<float>::make(asked);
  auto const outputs = problem::outputs<float>::make(instance.value(), {{&o, layout::compact({1, 1, 1, 1})}, {}, {}});
  auto const done = fast::attention(instance.value(), outputs.value(),
                                    {.threads = 1, .bf16_arithmetic = fast::bf16_arithmetic::dot_products});
  REQUIRE(!done);
  CHECK(done.why().code == problem::error_code::unsupported);
  CHECK(done.why().message() == "bf16_arithmetic: dot products of bf16 need tensors of bf16");
  CHECK(o == -7);
}
