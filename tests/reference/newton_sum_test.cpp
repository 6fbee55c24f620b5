// Theorem N of docs/rounding.md: sums whose terms cancel to a high order, by exact integers and no large width.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audit/cases/random.hpp"
#include "reference/attention/exponential_sum.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {
namespace {

using reference::ball;
using reference::big_integer;
using reference::exact_coefficient;
using reference::exact_scale;
using reference::exponential_sums;
using reference::exponential_term;
using reference::integer;

/// One query of one number, `keys` keys k_j = j·unit whose values are t ± C(keys − 1, j)·step, the signs alternating
/// from key to key: O − t is step·(1 − e^(σ·q·unit))^(keys − 1) over the sum of the weights.
template <class T>
struct binomial_row {
  std::int64_t order;
  T q;
  std::vector<T> k{}, v{};
  std::optional<double> scale;

  binomial_row(std::int64_t order_of_vanishing, T query, double unit, double t, double step,
               std::optional<double> given_scale)
      : order(order_of_vanishing), q(query), scale(given_scale) {
    double binomial = 1;
    for (std::int64_t j = 0; j <= order; ++j) {
      k.push_back(static_cast<T>(static_cast<double>(j) * unit));
      v.push_back(static_cast<T>(t + (j % 2 ? -binomial : binomial) * step));
      binomial = binomial * static_cast<double>(order - j) / static_cast<double>(j + 1);
    }
  }
  problem::instance<T> instance() const {
    problem::arguments<T> arguments;
    std::int64_t const m = order + 1;
    arguments.q = {&q, problem::layout::compact({1, 1})};
    arguments.k = {k.data(), problem::layout::compact({m, 1})};
    arguments.v = {v.data(), problem::layout::compact({m, 1})};
    arguments.scale = scale;
    return problem::instance<T>::make(arguments).value();
  }
};

template <class Target, class T>
std::optional<Target> rounded_o(binomial_row<T> const& row) {
  reference::enclosed_row<128, T> enclosed;
  auto const instance = row.instance();
  reference::compiled::enclose_row(instance, 0, 0, 0, enclosed);
  return reference::compiled::rounded_output<Target>(instance, enclosed, 0);
}

TEST_CASE("binomial differences about a boundary are rounded, whatever the order and however near the scores",
          "[unit]") {
  // All scores rise, so O − t has the sign (−1)^order.
  for (std::int64_t const order : {1, 2, 3, 4, 5, 8}) {
    CAPTURE(order);
    binomial_row<double> const row(order, 0x1p-700, 0x1p-700, 1 + 0x1p-24, 0x1p-30, 1.0);
    CHECK(rounded_o<float>(row) == (order % 2 ? 1.0f : 1 + 0x1p-23f));
    binomial_row<double> moved = row;
    moved.v[0] += 0x1p-52;
    CHECK(rounded_o<float>(moved) == 1 + 0x1p-23f);
    moved.v[0] = row.v[0] - 0x1p-52;
    CHECK(rounded_o<float>(moved) == 1.0f);
  }
  auto const bf16_bits = [](std::int64_t order) { return order % 2 ? 0x3f80 : 0x3f81; };
  for (std::int64_t const order : {14, 15, 16, 17}) {
    CAPTURE(order);
    auto const found =
        rounded_o<problem::bf16>(binomial_row<float>(order, 0x1p-140f, 0x1p-140, 1 + 0x1p-8, 0x1p-23, {}));
    REQUIRE(found.has_value());
    CHECK(found->bits == bf16_bits(order));
  }
  for (std::int64_t const order : {3, 4, 5}) {
    CAPTURE(order);
    auto const found =
        rounded_o<problem::bf16>(binomial_row<float>(order, 0x1p-140f, 0x1p-140, 1 + 0x1p-8, 0x1p-20, 0x1p-1000));
    REQUIRE(found.has_value());
    CHECK(found->bits == bf16_bits(order));
  }
}

/// A term whose score is σ·dot·2^−(2·1074) + bias.
exponential_term<double> term_of(big_integer const& dot, reference::element const& bias,
                                 big_integer const& coefficient) {
  exponential_term<double> term;
  auto const copied = [](big_integer const& from, auto& to) {
    std::int64_t constexpr chunk = 32;
    big_integer rest = from.sign() < 0 ? -from : from;
    for (std::int64_t at = 0; rest.sign() != 0; at += chunk) {
      big_integer const above = rest.shifted_down(chunk), low = rest - above.shifted_up(chunk);
      std::int64_t value = 0;
      for (std::int64_t bit = 0; bit < chunk; ++bit)
        if ((low.shifted_down(bit) - low.shifted_down(bit + 1).shifted_up(1)).sign() != 0)
          value |= std::int64_t{1} << bit;
      auto part = std::remove_cvref_t<decltype(to)>(value);
      part <<= static_cast<unsigned>(at);
      to += part;
      rest = above;
    }
    if (from.sign() < 0) to = -to;
  };
  copied(dot, term.exponent.dot);
  copied(coefficient, term.coefficient.value);
  term.exponent.bias = bias;
  return term;
}

std::optional<int> sign_of(exact_scale const& scale, std::vector<exponential_term<double>> const& terms) {
  std::vector<reference::exact_score<double>> scores;
  for (auto const& term : terms) scores.push_back(term.exponent);
  exponential_sums<double> sums({scale, {}}, scores);
  return sums.sign([&](std::size_t n) { return terms[n].coefficient.value; });
}

/// 2^-300 apart, and the third difference: by the compiler too.
static_assert([] {
  std::vector<reference::exact_score<float>> scores(4);
  for (unsigned j = 0; j < 4; ++j) {
    scores[j].dot = static_cast<std::int64_t>(j);  // j·2^-298
  }
  std::int64_t const binomials[] = {1, -3, 3, -1};
  exponential_sums<float> sums({{reference::value_of(0.25), 1}, {}}, scores);
  return *sums.sign(
      [&](std::size_t n) { return exact_coefficient::at_unit({reference::number_class::finite, binomials[n], 0}); });
}() == -1);

/// Coefficients of `order + 1` nodes whose first `order` moments vanish: ±L/Π_{h≠g} (x_g − x_h), L the product of all
/// differences.
std::vector<big_integer> vanishing(std::vector<std::int64_t> const& x) {
  std::vector<big_integer> coefficients;
  for (std::size_t g = 0; g < x.size(); ++g) {
    // L/Π_{h≠g} (x_g − x_h) is, up to its sign, the product of the differences that do not concern g.
    big_integer product(g % 2 ? -1 : 1);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t h = 0; h < i; ++h)
        if (i != g && h != g) product = product * big_integer(x[i] - x[h]);
    coefficients.push_back(product);
  }
  return coefficients;
}

/// The sign of Σ c_g·e^(x_g·2^exponent) by moments: Σ_k 2^(k·exponent)/k!·Σ_g c_g·x_g^k, exactly, to the first k whose
/// remainder is smaller than the sum. |x_g|·2^exponent ≤ 1/2.
int sign_by_moments(std::vector<std::int64_t> const& x, std::vector<big_integer> const& c, std::int64_t exponent) {
  std::vector<big_integer> powers = c;  // c_g·x_g^k
  big_integer sum, factorial(1);        // sum·2^(k·exponent)/k!
  std::int64_t largest = 1;
  for (std::int64_t const node : x) largest = std::max(largest, std::abs(node));
  big_integer sizes, next_sizes;
  for (big_integer const& coefficient : c) sizes += coefficient.sign() < 0 ? -coefficient : coefficient;
  for (std::int64_t k = 0; k < 400; ++k) {
    big_integer moment;
    for (big_integer const& power : powers) moment += power;
    if (k > 0) sum = (sum * big_integer(k)).shifted_up(-exponent);
    sum += moment;
    // The rest is at most 2·Σ|c|·(largest·2^exponent)^(k+1)/(k+1)!, below 2·Σ|c|·largest^(k+1)·2^exponent in sum's
    // unit.
    sizes = sizes * big_integer(largest);
    big_integer const size = sum.sign() < 0 ? -sum : sum;
    if ((size.shifted_up(-exponent) - sizes.shifted_up(1)).sign() > 0) return sum.sign();
    for (std::size_t g = 0; g < powers.size(); ++g) powers[g] = powers[g] * big_integer(x[g]);
  }
  return 0;
}

TEST_CASE("random clusters with vanishing orders have the sign that their moments give", "[unit]") {
  audit::random_stream random(1, "vanishing orders");
  std::int64_t wrong = 0, undecided = 0;
  for (int n = 0; n < 300; ++n) {
    std::int64_t const order = 1 + random.below(8), more = random.below(3), apart = 3 + random.below(1000);
    std::vector<std::int64_t> x;
    for (std::int64_t at = random.below(5); std::ssize(x) < order + 1 + more; at += 1 + random.below(4))
      x.push_back(at);
    // Windows of order + 1 nodes, each with a coefficient of its own: the first `order` moments vanish.
    std::vector<big_integer> c(x.size());
    for (std::int64_t window = 0; window <= more; ++window) {
      auto const first = x.begin() + window;
      auto const part = vanishing({first, first + order + 1});
      big_integer const by(random.below(2) ? 1 + random.below(1000) : -1 - random.below(1000));
      for (std::size_t g = 0; g < part.size(); ++g) c[static_cast<std::size_t>(window) + g] += part[g] * by;
    }
    std::int64_t const exponent = -apart - 60;  // of the scores; the dot products are at 2^-2148
    std::vector<exponential_term<double>> terms;
    for (std::size_t g = 0; g < x.size(); ++g)
      terms.push_back(term_of(big_integer(x[g]).shifted_up(exponent + 2148), {}, c[g]));
    exact_scale const one{reference::value_of(1.0), 1};
    auto const found = sign_of(one, terms);
    undecided += !found;
    wrong += found && *found != sign_by_moments(x, c, exponent);
  }
  CHECK(wrong == 0);
  CHECK(undecided == 0);
}

TEST_CASE("clusters of biased scores under 1/sqrt(3) are decided as their differences say", "[unit]") {
  // s = a/√3 + b: pairs (a, b) = j·(p, −q) with p/q a convergent of √3, so that s = j·(p − q·√3)/√3 is tiny.
  for (auto const& [p, q] : {std::pair{26.0, 15.0}, {5042.0, 2911.0}, {978122.0, 564719.0}, {189750626.0, 109552575.0}})
    for (std::int64_t const order : {1, 2, 3, 4, 6}) {
      std::vector<exponential_term<double>> terms;
      std::int64_t binomial = 1;
      for (std::int64_t j = 0; j <= order; ++j) {
        double const bias = -static_cast<double>(j) * q;
        terms.push_back(term_of(big_integer(j * static_cast<std::int64_t>(p)).shifted_up(2148),
                                reference::value_of(bias), big_integer(j % 2 ? -binomial : binomial)));
        binomial = binomial * (order - j) / (j + 1);
      }
      CAPTURE(p, order);
      // p² − 3q² = 1: the scores rise with j, and (1 − e^δ)^order has the sign (−1)^order.
      CHECK(sign_of({{}, 3}, terms) == (order % 2 ? -1 : 1));
      // At a product of 2^100 more the scores are far apart: the last term decides.
      for (auto& term : terms) {
        term.exponent.dot <<= 100u;
        term.exponent.bias.exponent += 100;
      }
      CHECK(sign_of({{}, 3}, terms) == (order % 2 ? -1 : 1));
    }
}

TEST_CASE("what 1/sqrt(4) and biases make of scores is whole", "[unit]") {
  // σ = 1/2: s = a/2 + b with a = −2b + j·2^-600: rational, though σ is not given.
  std::vector<exponential_term<double>> terms;
  for (std::int64_t j = 0; j < 4; ++j) {
    double const bias = static_cast<double>(3 * j);
    std::int64_t const binomials[] = {1, -3, 3, -1};
    terms.push_back(term_of(big_integer(-6 * j).shifted_up(2148) + big_integer(j).shifted_up(1548),
                            reference::value_of(bias), big_integer(binomials[j])));
  }
  CHECK(sign_of({{}, 4}, terms) == -1);
}

TEST_CASE("orders that cancel each other to 2^-2000 are told apart by a width", "[unit]") {
  // δ = 2^-1000, N = 2^2100, M = 2^100 = N·δ². Scores 0, δ, 2δ with coefficients N, −2N, N: N·(e^δ − 1)² = M·(1 + δ +
  // 7δ²/12 + …). −M at 0 and −M·(e^δ − 1) leave M·δ²/12; with M + 1 for the second M, less than −δ/2.
  for (std::int64_t const more : {0, 1}) {
    big_integer const n = big_integer(1).shifted_up(2100), m = big_integer(1).shifted_up(100),
                      rise = m + big_integer(more);
    std::array const c{n - m + rise, -n.shifted_up(1) - rise, n};
    std::vector<exponential_term<double>> terms;
    for (std::int64_t j = 0; j < 3; ++j)
      terms.push_back(term_of(big_integer(j).shifted_up(2148 - 1000), {}, c[static_cast<std::size_t>(j)]));
    CHECK(sign_of({reference::value_of(1.0), 1}, terms) == (more ? -1 : 1));
  }
}

TEST_CASE("past the budget of exact integers a sign stays open, and is not guessed", "[unit]") {
  // 90 scores j·M·2^-3222 with an odd M of 3,100 bits, and binomial coefficients: 89 orders vanish.
  std::vector<exponential_term<double>> terms;
  big_integer const odd = big_integer(1).shifted_up(3100) + big_integer(1);
  std::int64_t const order = 89;
  std::vector<big_integer> row{big_integer(1)};
  for (std::int64_t n = 1; n <= order; ++n) {
    std::vector<big_integer> next{big_integer(1)};
    for (std::size_t j = 1; j < row.size(); ++j) next.push_back(row[j - 1] + row[j]);
    next.push_back(big_integer(1));
    row = next;
  }
  for (std::int64_t j = 0; j <= order; ++j) {
    auto const at = static_cast<std::size_t>(j);
    terms.push_back(term_of(big_integer(j) * odd, {}, j % 2 ? -row[at] : row[at]));
  }
  exact_scale const tiny{reference::value_of(0x1p-1074), 1};
  CHECK_FALSE(sign_of(tiny, terms).has_value());
  terms.resize(30);  // the difference no longer vanishes to a high order
  CHECK(sign_of(tiny, terms).has_value());
}

TEST_CASE("scores that lie apart are cut where they lie apart", "[unit]") {
  // Two binomial differences of order 3 at 0 and at −1/8 − 2^-20, δ = 2^-700: each has the sign −; the second, a
  // thousand times larger, is turned around.
  for (int const second : {-1000, 1000}) {
    std::vector<exponential_term<double>> terms;
    std::int64_t const binomials[] = {1, -3, 3, -1};
    for (std::int64_t j = 0; j < 4; ++j) {
      big_integer const near = big_integer(j).shifted_up(2148 - 700);
      big_integer const away = big_integer((1 << 17) + 1).shifted_up(2148 - 20);
      terms.push_back(term_of(near, {}, big_integer(binomials[j])));
      terms.push_back(term_of(near - away, {}, big_integer(second * binomials[j])));
    }
    CHECK(sign_of({reference::value_of(1.0), 1}, terms) == (second > 0 ? -1 : 1));
  }
}

TEST_CASE("integers without a fixed width agree with those of a fixed one", "[unit]") {
  audit::random_stream random(3, "big integers");
  using wide = integer<4096>;
  for (int n = 0; n < 3000; ++n) {
    auto const drawn = [&] {
      wide x = 0;
      for (std::int64_t limbs = random.below(12); limbs > 0; --limbs) {
        std::uint64_t const limb = random.below(4) == 0 ? 0 : random.below(4) == 0 ? ~std::uint64_t{0} : random.bits();
        x <<= 64u;
        x += limb;
      }
      x >>= static_cast<unsigned>(random.below(64));
      return random.below(2) ? wide(-x) : x;
    };
    wide const a = drawn(), b = drawn();
    big_integer const x = big_integer::from(a), y = big_integer::from(b);
    auto const by = random.below(200);
    REQUIRE(x + y == big_integer::from(wide(a + b)));
    REQUIRE(x - y == big_integer::from(wide(a - b)));
    REQUIRE(x * y == big_integer::from(wide(a * b)));
    REQUIRE(x.shifted_up(by) == big_integer::from(reference::shifted(a, by)));
    REQUIRE(x.shifted_down(by) == big_integer::from(reference::shifted(a, -by)));
    REQUIRE(x.sign() == a.sign());
    REQUIRE(x.bit_length() == reference::bit_length(a));
    REQUIRE(x.trailing_zeros() == reference::trailing_zeros(a));
    auto const enclosed = x.enclosure<64>(by);
    auto const gap = ball<1024>::from(a, by) - reference::widened<1024>(enclosed);
    REQUIRE((gap.is_exact() ? gap.mid.sign() == 0 : reference::certain_sign(gap) == 0));
  }
}

TEST_CASE("a + b·√d is enclosed to relative precision where it nearly vanishes", "[unit]") {
  // (2 − √3)^n, by multiplication: 2^(−1.9n), from integers of 1.9n bits.
  reference::quadratic_integer power{big_integer(1), {}};
  reference::quadratic_integer const step{big_integer(2), big_integer(-1)};
  for (int n = 1; n <= 600; ++n) power = product(power, step, 3);
  ball<128> const found = reference::enclosure<128>(power, 3);
  ball<128> const base = ball<128>(2) - reference::inverse_sqrt<128>(3) * ball<128>(3);
  ball<128> expected(1);
  for (int n = 1; n <= 600; ++n) expected = expected * base;
  CHECK(reference::certain_sign(found) == 1);
  CHECK(reference::overlap(found, expected));
  CHECK(found.radius <= found.upper_size().scaled(-120));
}

}  // namespace
}  // namespace attest::tests
