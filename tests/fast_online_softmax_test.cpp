// The very source of the kernel's algorithm, run over exact arithmetic by the compiler: however the keys are cut into
// blocks or partial rows, the answer is softmax.
#include "fast/online_softmax.hpp"

#include <array>
#include <cstdint>
#include <numeric>

#include "fast/arithmetic.hpp"
#include "tests/catch.hpp"

using namespace attest;

namespace {

/// An exact rational, or −∞.
struct rational {
  std::int64_t over = 0, under = 1;
  bool minus_infinity = false;

  friend constexpr rational operator+(rational const& a, rational const& b) {
    return reduced(a.over * b.under + b.over * a.under, a.under * b.under);
  }
  friend constexpr rational operator*(rational const& a, rational const& b) {
    return reduced(a.over * b.over, a.under * b.under);
  }
  friend constexpr bool operator<(rational const& a, rational const& b) {
    if (a.minus_infinity || b.minus_infinity) return a.minus_infinity && !b.minus_infinity;
    return a.over * b.under < b.over * a.under;
  }
  friend constexpr bool operator==(rational const&, rational const&) = default;

  static constexpr rational reduced(std::int64_t over, std::int64_t under) {
    std::int64_t const common = std::gcd(over, under);
    return {over / common, under / common};
  }
};

/// Scores are integers and e is 2, so every weight is a power of two.
struct exact_arithmetic {
  using number = rational;
  static constexpr rational zero() { return {}; }
  static constexpr rational minus_infinity() { return {0, 1, true}; }
  static constexpr rational larger(rational const& a, rational const& b) { return a < b ? b : a; }
  static constexpr rational weight(rational const& s, rational const& m) {
    return s.minus_infinity ? rational{} : rational{1, std::int64_t{1} << (m.over - s.over)};
  }
  static constexpr rational quotient(rational const& x, rational const& l) {
    return rational::reduced(x.over * l.under, x.under * l.over);
  }
};

constexpr std::size_t keys = 5, width = 2;
using row = std::array<rational, width>;
constexpr rational hidden = exact_arithmetic::minus_infinity();
constexpr std::array<rational, keys> scores{{{3}, hidden, {-1}, {5}, {4}}};
constexpr std::array<row, keys> values{{{{{1}, {-2}}}, {{{7}, {9}}}, {{{3}, {5}}}, {{{-4}, {6}}}, {{{2}, {1}}}}};

/// Σ 2^{s_j}·v_j / Σ 2^{s_j}, straight from the definition.
constexpr row plain() {
  rational sum;
  row weighted;
  for (std::size_t j = 0; j < keys; ++j) {
    if (scores[j].minus_infinity) continue;
    rational const weight{std::int64_t{1} << (scores[j].over + 1), 2};
    sum = sum + weight;
    for (std::size_t c = 0; c < width; ++c) weighted[c] = weighted[c] + weight * values[j][c];
  }
  for (std::size_t c = 0; c < width; ++c) weighted[c] = exact_arithmetic::quotient(weighted[c], sum);
  return weighted;
}

struct partial {
  fast::partial_row<exact_arithmetic> state;
  row O;
};

/// Absorbs keys first … last − 1 as one block.
constexpr void absorb(partial& to, std::size_t first, std::size_t last) {
  std::array<rational, keys> block{};
  for (std::size_t j = first; j < last; ++j) block[j - first] = scores[j];
  row block_O;
  auto const count = static_cast<std::int64_t>(last - first);
  fast::absorb_block<exact_arithmetic>(&to.state, to.O.data(), width, block.data(), keys, block_O.data(), 1, count,
                                       [&] {
                                         for (std::size_t c = 0; c < width; ++c)
                                           for (std::size_t j = first; j < last; ++j)
                                             block_O[c] = block_O[c] + block[j - first] * values[j][c];
                                       });
}

/// Bit j of `cuts`: a new block starts at key j + 1.
constexpr row blocked(unsigned cuts) {
  partial all;
  std::size_t first = 0;
  for (std::size_t j = 0; j < keys; ++j)
    if (j + 1 == keys || (cuts >> j & 1) != 0) absorb(all, first, j + 1), first = j + 1;
  fast::finish(all.state, all.O.data(), width, all.O.data());
  return all.O;
}

/// Two partial rows, [0, middle) and [middle, keys), merged.
constexpr row merged(std::size_t middle) {
  partial left, right;
  if (middle > 0) absorb(left, 0, middle);
  if (middle < keys) absorb(right, middle, keys);
  fast::merge(left.state, left.O.data(), right.state, right.O.data(), width);
  fast::finish(left.state, left.O.data(), width, left.O.data());
  return left.O;
}

static_assert([] {
  for (unsigned cuts = 0; cuts < 1u << (keys - 1); ++cuts)
    if (blocked(cuts) != plain()) return false;
  return true;
}(), "every way of cutting the keys into blocks gives softmax");

static_assert([] {
  for (std::size_t middle = 0; middle <= keys; ++middle)
    if (merged(middle) != plain()) return false;
  return true;
}(), "every split into two partial rows, one of them empty or not, merges to softmax");

static_assert([] {
  partial nothing;
  absorb(nothing, 1, 2);
  fast::finish(nothing.state, nothing.O.data(), width, nothing.O.data());
  return nothing.state.m == hidden && nothing.O == row{};
}(), "a row without a visible key is 0");

static_assert([] {
  std::array<rational, 37> x;
  rational sum;
  for (std::int64_t j = 0; j < 37; ++j) x[static_cast<std::size_t>(j)] = {j * j}, sum = sum + rational{j * j};
  for (std::int64_t count = 0; count <= 37; ++count) {
    rational expected;
    for (std::int64_t j = 0; j < count; ++j) expected = expected + rational{j * j};
    if (fast::reduce(x.data(), count, rational{}, [](rational const& a, rational const& b) { return a + b; }) !=
        expected)
      return false;
  }
  return true;
}(), "a reduction in lanes takes every element once");

static_assert([] {
  using machine = fast::machine_arithmetic<float>;
  std::array<float, 3> s{1, machine::minus_infinity(), 1};
  float O = 0, block_O = 0;
  fast::partial_row<machine> state;
  fast::absorb_block<machine>(&state, &O, 1, s.data(), 3, &block_O, 1, 3, [&] { block_O = s[0] * 4 + s[2] * 8; });
  fast::finish(state, &O, 1, &O);
  return state.m == 1 && state.l == 2 && O == 6;
}(), "the same source is constexpr over floats");

}  // namespace

TEST_CASE("online softmax over exact arithmetic equals softmax", "[unit]") {
  CHECK(blocked(0b0101) == plain());  // the static_asserts above are the test
}

TEST_CASE("the maximum of a row passes over NaN, its weights do not", "[unit]") {
  using machine = fast::machine_arithmetic<float>;
  float const nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  CHECK(machine::larger(1, nan) == 1);
  CHECK(std::isnan(machine::weight(nan, 1)));
  CHECK(std::isnan(machine::weight(nan, -infinity)));
  CHECK(std::isnan(machine::weight(infinity, infinity)));
  CHECK(machine::weight(-infinity, -infinity) == 0);
  CHECK(machine::weight(-infinity, infinity) == 0);
  CHECK(machine::plus_log(-infinity, 0) == -infinity);
}
