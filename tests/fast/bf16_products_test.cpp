// Calls with products of bf16, in each arithmetic that is here: the bits of a row do not depend on its company.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "fast/algorithm/model.hpp"
#include "fast/attention.hpp"
#include "tests/fast/bf16_numbers.hpp"
#include "tests/support/bf16_arithmetics.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::bf16_products_test {
using fast::bf16_arithmetic;

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

answer answered(problem::arguments<bf16> const& asked, problem::sizes const& s, fast::options const& how) {
  answer made{std::vector<bf16>(static_cast<std::size_t>(s.b * s.hq * s.n * s.dv)),
              std::vector<float>(static_cast<std::size_t>(s.b * s.hq * s.n))};
  auto const instance = problem::instance<bf16>::make(asked);
  REQUIRE(instance);
  using problem::layout;
  auto const outputs =
      problem::outputs<bf16>::make(instance.value(), {{made.o.data(), layout::compact({s.b, s.hq, s.n, s.dv})},
                                                      {{made.lse.data(), layout::compact({s.b, s.hq, s.n})}},
                                                      {}});
  REQUIRE(outputs);
  REQUIRE(fast::attention(instance.value(), outputs.value(), how));
  return made;
}

}  // namespace

TEST_CASE("a row has the same bits alone, among others and on two threads", "[property]") {
  property("rows by products of bf16", [] {
    using rc::gen::element, rc::gen::inRange;
    std::int64_t const d = *element<std::int64_t>(1, 2, 5, 7, 16, 30, 64),
                       dv = *element<std::int64_t>(1, 5, 32, 64, 96), hk = *inRange<std::int64_t>(1, 3),
                       groups = *inRange<std::int64_t>(1, 4), n = *element<std::int64_t>(1, 2, 3, 5, 9, 23, 30),
                       m = *inRange<std::int64_t>(1, 400), gap = *inRange<std::int64_t>(0, 3);
    problem::sizes const s{1, hk * groups, hk, n, m, d, dv};
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    std::normal_distribution<float> normal;
    auto const drawn = [&](std::int64_t h, std::int64_t rows, std::int64_t width) {
      owned_numbers made{1, h, rows, width, gap, {}};
      for (std::int64_t at = 0; at < h * rows * (width + gap); ++at)
        made.numbers.push_back(fast::narrowed<bf16>(normal(random)));
      return made;
    };
    auto const q = drawn(s.hq, n, d), k = drawn(hk, m, d);
    auto v = drawn(hk, m, dv);
    if (*inRange(0, 3) == 0)
      v.numbers[static_cast<std::size_t>(m / 2 * (dv + gap))].bits = problem::format_of<bf16>.infinity();
    problem::arguments<bf16> all;
    all.q = q.in(), all.k = k.in(), all.v = v.in();
    if (*rc::gen::arbitrary<bool>()) all.band.right = *inRange<std::int64_t>(0, 40);
    if (*inRange(0, 3) == 0) all.band.left = *inRange<std::int64_t>(0, 150);
    if (*rc::gen::arbitrary<bool>()) all.scale = *element(1.0, 0.3, 1e-40, 1e40);
    static auto const here = bf16_arithmetics();
    if (here.empty()) return;
    auto const by = *rc::gen::elementOf(here);
    auto const together = answered(all, s, {.threads = 1, .bf16_arithmetic = by});
    auto const on_two = answered(all, s, {.threads = 2, .cache = 1, .bf16_arithmetic = by});
    auto const differ = [](auto const& x, auto const& y) {
      return std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) != 0;
    };
    RC_ASSERT(!differ(together.o, on_two.o) && !differ(together.lse, on_two.lse));
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < n; ++i) {
        problem::arguments<bf16> one = all;
        one.q.data += (h * n + i) * (d + gap), one.q.layout.shape[1] = one.q.layout.shape[2] = 1;
        one.k.data += h / groups * m * (d + gap), one.k.layout.shape[1] = 1;
        one.v.data += h / groups * m * (dv + gap), one.v.layout.shape[1] = 1;
        one.band.diagonal += i;
        auto const alone = answered(one, {1, 1, 1, 1, m, d, dv}, {.threads = 1, .bf16_arithmetic = by});
        RC_ASSERT(std::memcmp(alone.o.data(), together.o.data() + (h * n + i) * dv, alone.o.size() * sizeof(bf16)) ==
                  0);
        RC_ASSERT(same(alone.lse[0], together.lse[static_cast<std::size_t>(h * n + i)]));
      }
  });
}

TEST_CASE("a value that another query sees makes no NaN of a row that does not see it", "[unit]") {
  constexpr auto infinity = problem::format_of<bf16>.infinity();
  auto const ones = [](std::int64_t rows, std::int64_t d) {
    return owned_numbers{1, 1, rows,
                         d, 0, std::vector<bf16>(static_cast<std::size_t>(rows * d), fast::narrowed<bf16>(1))};
  };
  auto const is_one_until = [](answer const& of, std::int64_t rows, std::int64_t dv) {
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(of.o.size()); ++at) {
      bool const infinite = at >= rows * dv && at % dv == 0;
      INFO("number " << at);
      CHECK(fast::widened(of.o[static_cast<std::size_t>(at)]) ==
            (infinite ? std::numeric_limits<float>::infinity() : 1));
    }
  };
  for (std::int64_t const dv : {32, 5}) {  // V where it lies, and packed
    // Query i sees the keys up to i + 1; the value of key 3 is infinite.
    auto const q = ones(3, 2), k = ones(4, 2);
    auto v = ones(4, dv);
    v.numbers[static_cast<std::size_t>(3 * dv)].bits = infinity;
    problem::arguments<bf16> asked;
    asked.q = q.in(), asked.k = k.in(), asked.v = v.in(), asked.band = {.diagonal = 1, .left = -1, .right = 0};
    for (auto const by : bf16_arithmetics())
      is_one_until(answered(asked, {1, 1, 1, 3, 4, 2, dv}, {.threads = 1, .bf16_arithmetic = by}), 2, dv);
  }
  // The first 24 queries, a strip, see the first five keys, all of them, and the others one block of keys more. Key 5
  // is in a pair with key 4.
  auto const q = ones(48, 2), k = ones(10, 2);
  auto v = ones(10, 3);
  v.numbers[5 * 3].bits = infinity;
  std::vector<std::uint8_t> const blocks{1, 0, 1, 1};
  problem::arguments<bf16> asked;
  asked.q = q.in(), asked.k = k.in(), asked.v = v.in();
  asked.block_mask = {blocks.data(), problem::layout::compact({1, 1, 2, 2})}, asked.block_q = 24, asked.block_k = 5;
  for (auto const by : bf16_arithmetics())
    is_one_until(answered(asked, {1, 1, 1, 48, 10, 2, 3}, {.threads = 1, .bf16_arithmetic = by}), 24, 3);
}

TEST_CASE("scales beyond the range of f32 are applied", "[unit]") {
  auto const filled = [](std::int64_t rows, float with) {
    return owned_numbers{1, 1, rows,
                         4, 0, std::vector<bf16>(static_cast<std::size_t>(rows * 4), fast::narrowed<bf16>(with))};
  };
  auto const v = filled(9, 3);
  auto const lse = [&](bf16_arithmetic by, float size, double scale) {
    auto const q = filled(1, size), k = filled(9, size);
    problem::arguments<bf16> asked;
    asked.q = q.in(), asked.k = k.in(), asked.v = v.in(), asked.scale = scale;
    return answered(asked, {1, 1, 1, 1, 9, 4, 4}, {.threads = 1, .bf16_arithmetic = by}).lse[0];
  };
  auto const is_right = [](float found, double scale) {  // all of q and k is 1
    tests::written<bf16> row(9, 4, 4);
    for (auto* tensor : {&row.q, &row.k, &row.v}) std::ranges::fill(tensor->values, fast::narrowed<bf16>(1));
    row.scale = scale;
    tests::bound_check<bf16> const check(row);
    auto const model = fast::dot_product_model(row.instance());
    REQUIRE(check.bound(model).log_sum_exp().by == reference::judged_by::theorem);
    return check.judge(model, {.o = {}, .lse = static_cast<double>(found)}).lse <= 1;
  };
  for (auto const by : bf16_arithmetics()) {
    float const usual = lse(by, 1, 1);
    CHECK(is_right(usual, 1));
    CHECK(lse(by, 0x1p-60f, 0x1p120) == usual);
    CHECK(lse(by, 0x1p60f, 0x1p-120) == usual);
    CHECK(is_right(lse(by, 0x1p60f, -0x1p-120), -1));
  }
}

TEST_CASE("products of bf16 are refused for other types", "[unit]") {
  float const one = 1;
  float o = -7;
  using problem::layout;
  problem::arguments<float> asked;
  asked.q = asked.k = asked.v = {&one, layout::compact({1, 1, 1, 1})};
  auto const instance = problem::instance<float>::make(asked);
  auto const outputs = problem::outputs<float>::make(instance.value(), {{&o, layout::compact({1, 1, 1, 1})}, {}, {}});
  for (auto const by : {bf16_arithmetic::dot_products, bf16_arithmetic::tile_products}) {
    auto const done = fast::attention(instance.value(), outputs.value(), {.threads = 1, .bf16_arithmetic = by});
    REQUIRE(!done);
    CHECK(done.why().code == problem::error_code::unsupported);
    CHECK(done.why().message() == "bf16_arithmetic: products of bf16 need tensors of bf16");
    CHECK(o == -7);
  }
}

}  // namespace attest::tests::bf16_products_test
