// The kernel's own absorb_block and merge, run over exact arithmetic by the compiler with the row steps of
// proofs/models/online_softmax.hpp: however the keys are cut into blocks or partial rows, the answer is softmax. And
// the kernel's vector loops, held to those row steps.
#include "fast/algorithm/online_softmax.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "fast/algorithm/arithmetic.hpp"
#include "proofs/models/online_softmax.hpp"
#include "tests/fast/case.hpp"

namespace attest::tests::online_softmax_test {
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
  rational m = hidden, factor;
  std::array<rational, fast::sum_lanes> l{};
  row O;

  constexpr fast::row_states<rational> state() { return {&m, l.data(), &factor}; }
};

constexpr row answer(partial const& state) {
  row result;
  auto const sum = [](rational const& a, rational const& b) { return a + b; };
  rational const l = proofs::reduce(state.l.data(), fast::sum_lanes, rational{}, sum);
  proofs::finish<exact_arithmetic>(l, state.O.data(), width, result.data());
  return result;
}

/// Absorbs keys first … last − 1 as one block.
constexpr void absorb(partial& to, std::size_t first, std::size_t last) {
  std::array<rational, keys> S = scores;
  fast::interval const block{static_cast<std::int64_t>(first), static_cast<std::int64_t>(last)};
  proofs::plain_rows<exact_arithmetic> const operations{keys};
  fast::absorb_block(operations, S.data(), 1, block, to.state(), [&] {
    for (std::size_t c = 0; c < width; ++c) {
      rational sum;
      for (std::size_t j = first; j < last; ++j) sum = sum + S[j] * values[j][c];
      to.O[c] = to.O[c] * to.factor + sum;
    }
  });
}

/// Bit j of `cuts`: a new block starts at key j + 1.
constexpr row blocked(unsigned cuts) {
  partial all;
  std::size_t first = 0;
  for (std::size_t j = 0; j < keys; ++j)
    if (j + 1 == keys || (cuts >> j & 1) != 0) absorb(all, first, j + 1), first = j + 1;
  return answer(all);
}

/// Two partial rows, [0, middle) and [middle, keys), merged.
constexpr row merged(std::size_t middle) {
  partial left, right;
  if (middle > 0) absorb(left, 0, middle);
  if (middle < keys) absorb(right, middle, keys);
  fast::merge<exact_arithmetic>(left.state(), left.O.data(), right.state(), right.O.data(), width);
  return answer(left);
}

static_assert(
    [] {
      for (unsigned cuts = 0; cuts < 1u << (keys - 1); ++cuts)
        if (blocked(cuts) != plain()) return false;
      return true;
    }(),
    "every way of cutting the keys into blocks gives softmax");

static_assert(
    [] {
      for (std::size_t middle = 0; middle <= keys; ++middle)
        if (merged(middle) != plain()) return false;
      return true;
    }(),
    "every split into two partial rows, one of them empty or not, merges to softmax");

static_assert(
    [] {
      partial nothing;
      absorb(nothing, 1, 2);
      return nothing.m == hidden && answer(nothing) == row{};
    }(),
    "a row without a visible key is 0");

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
  CHECK(machine::weight(3, 3) == 1);
  CHECK(machine::weight(-4, 3) == 0x1p-7f);
  CHECK(machine::log_sum_exp(-infinity, 0) == -infinity);
  CHECK(machine::log_sum_exp(0, 1) == 0);
  CHECK(std::isnan(machine::log_sum_exp(infinity, nan)));
}

TEMPLATE_TEST_CASE("the vector loops do what the plain algorithm says, on every instruction set", "[unit]", float,
                   double) {
  using T = TestType;
  using machine = fast::machine_arithmetic<T>;
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  auto const& ops = fast::best_operations<T>();
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr std::int64_t rows = 7, stride = fast::score_stride<T>, all = rows + 2 * fast::sum_lanes;
  std::mt19937 random(3);
  std::vector<T> S(static_cast<std::size_t>(fast::strip_rows * stride));
  for (T& s : S) s = random() % 5 == 0 ? -infinity : static_cast<T>(random() % 4096) / 64 - 32;
  for (std::int64_t j = 0; j < stride; ++j) S[static_cast<std::size_t>(2 * stride + j)] = -infinity;
  struct states {
    std::vector<T> m, l, factor;
    fast::row_states<T> view() { return {m.data(), l.data(), factor.data()}; }
  };
  states simd{std::vector<T>(all, T(1)), std::vector<T>(all * fast::sum_lanes, T(3)), std::vector<T>(all)};
  simd.m[1] = simd.m[2] = -infinity;
  states modelled = simd;
  auto plain = S;
  std::int64_t const together = std::max(ops.panel, fast::sum_lanes);
  fast::interval const block{together, 4 * together};
  REQUIRE(block.last <= fast::blocking_of<T>.keys);
  ops.update_max(S.data(), rows, block, simd.view());
  ops.exponentiate(S.data(), rows, block, simd.view());
  proofs::plain_rows<machine> const operations{stride};
  operations.update_max(plain.data(), rows, block, modelled.view());
  operations.exponentiate(plain.data(), rows, block, modelled.view());
  CHECK(simd.m == modelled.m);
  auto const close = [](T a, T b) { return a == b || std::abs(a - b) <= 8 * std::numeric_limits<T>::epsilon() * b; };
  for (std::size_t i = 0; i < rows; ++i) CHECK(close(simd.factor[i], modelled.factor[i]));
  for (std::size_t k = 0; k < rows * fast::sum_lanes; ++k) CHECK(close(simd.l[k], modelled.l[k]));
  for (std::size_t k = 0; k < S.size(); ++k) CHECK(close(S[k], plain[k]));
  // finish() folds the lanes as the model does, addition by addition.
  for (std::int64_t i = 0; i < rows; ++i) {
    T const* const l = simd.l.data() + i * fast::sum_lanes;
    std::array<T, 2 * fast::sum_lanes> O{}, answer{};
    T const sum = proofs::reduce(l, fast::sum_lanes, T(0), [](T a, T b) { return a + b; });
    CHECK(ops.finish(O.data(), l, 1, answer.data()) == sum);
  }
}

}  // namespace attest::tests::online_softmax_test
