// Theorem N of docs/rounding.md: sums whose terms cancel to a high order, by exact integers and no large width.
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "audit/cases/random.hpp"
#include "reference/attention/exponential_sum.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::newton_sum_test {
namespace {

using reference::big_integer;
using reference::exact_coefficient;
using reference::exact_scale;
using reference::exponential_sums;
using reference::exponential_term;

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

TEST_CASE("random clusters with vanishing orders have the sign that their moments give", "[nightly]") {
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

TEST_CASE("clusters of biased scores under 1/sqrt(3) are decided as their differences say", "[nightly]") {
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

TEST_CASE("what 1/sqrt(4) and biases make of scores is whole", "[nightly]") {
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

TEST_CASE("orders that cancel each other to 2^-2000 are told apart by a width", "[nightly]") {
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

TEST_CASE("past the budget of exact integers a sign stays open, and is not guessed", "[nightly]") {
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

TEST_CASE("scores that lie apart are cut where they lie apart", "[nightly]") {
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

}  // namespace
}  // namespace attest::tests::newton_sum_test
