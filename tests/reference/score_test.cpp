// reference/attention/score.hpp: exact dot products, classes of infinities and NaN, and the order of scores.
#include "reference/attention/score.hpp"

#include <limits>
#include <vector>

#include "tests/support/many.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/written.hpp"

namespace attest::tests::score_test {
using reference::element;
using reference::exact_scale;
using reference::exact_score;
using reference::number_class;

namespace {

/// Unbounded: knows no widths.
using rational_integer = boost::multiprecision::cpp_int;

template <class T>
T from_bits(std::uint64_t bits) {
  using stored = typename reference::float_format<T>::bits;
  return std::bit_cast<T>(static_cast<stored>(bits));
}

/// Any finite bit pattern: subnormals and the largest numbers as often as ordinary ones.
template <class T>
T drawn_finite() {
  for (;;) {
    T const x = from_bits<T>(*rc::gen::arbitrary<std::uint64_t>());
    if (reference::value_of(x).is_finite()) return x;
  }
}

template <class T>
void dots_are_exact(char const* type) {
  many(5, std::string("q·k is exact in ") + type, [] {
    auto const d = *rc::gen::inRange<std::int64_t>(0, 9);
    std::vector<T> q, k;
    rational_integer expected = 0;
    for (std::int64_t t = 0; t < d; ++t) {
      q.push_back(drawn_finite<T>()), k.push_back(drawn_finite<T>());
      element const x = reference::value_of(q.back()), y = reference::value_of(k.back());
      rational_integer product = rational_integer(x.significand) * y.significand;
      product <<= static_cast<unsigned>(x.exponent + y.exponent - reference::dot_exponent<T>);
      expected += product;
    }
    auto const found = reference::exact_dot(q.data(), k.data(), d);
    RC_ASSERT(found.kind == number_class::finite);
    RC_ASSERT(rational_integer(found.dot) == expected);
  });
}

number_class dot_class(std::vector<float> const& q, std::vector<float> const& k) {
  return reference::exact_dot(q.data(), k.data(), static_cast<std::int64_t>(q.size())).kind;
}

exact_score<float> score(double dot, double bias) {
  float const q = 1, k = static_cast<float>(dot);
  auto result = reference::exact_dot(&q, &k, 1);
  result.bias = reference::value_of(bias);
  return result;
}

int as_sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

/// sign(σ·(x.dot − y.dot) + x.bias − y.bias) in numbers of 3072 bits: exact for rational σ, and for √d no dyadic
/// numbers of these sizes come nearer to each other than 2^−2000 without being equal.
template <class T>
int expected_order(exact_scale const& scale, exact_score<T> const& x, exact_score<T> const& y) {
  real const dots = as_real(x.dot, reference::dot_exponent<T>) - as_real(y.dot, reference::dot_exponent<T>);
  real const biases = as_real(x.bias) - as_real(y.bias);
  real const sigma = scale.given ? as_real(*scale.given) : real(1) / sqrt(real(static_cast<double>(scale.d)));
  // Times √d, so that d = 9 stays exact.
  real const sum = scale.given ? sigma * dots + biases : dots + sqrt(real(static_cast<double>(scale.d))) * biases;
  real const size = abs(dots) + abs(biases);
  return abs(sum) <= scaled(size, -2900) ? 0 : sum.sign();
}

template <class T>
exact_score<T> drawn_score(int d) {
  std::vector<T> q, k;
  for (int t = 0; t < d; ++t) {
    bool const ordinary = *rc::gen::inRange(0, 2) != 0;
    q.push_back(ordinary ? element_from<T>(*rc::gen::inRange(-4, 5)) : drawn_finite<T>());
    k.push_back(ordinary ? element_from<T>(*rc::gen::inRange(-4, 5)) : drawn_finite<T>());
  }
  auto score = reference::exact_dot(q.data(), k.data(), d);
  int const kind = *rc::gen::inRange(0, 3);
  if (kind == 1) score.bias = reference::value_of(*rc::gen::inRange(-9, 10) / 2.0);
  if (kind == 2) score.bias = reference::value_of(drawn_finite<float>());
  return score;
}

exact_scale drawn_scale(int d) {
  switch (*rc::gen::inRange(0, 4)) {
    case 0: return {reference::value_of(*rc::gen::inRange(-3, 4) / 2.0), d};
    case 1: return {reference::value_of(drawn_finite<double>()), d};
    default: return {{}, d};
  }
}

template <class T>
void order_is_exact(char const* type) {
  many(5, std::string("order in ") + type, [] {
    int const d = *rc::gen::element(1, 2, 3, 4, 8, 9, 25);
    exact_scale const scale = drawn_scale(d);
    auto const x = drawn_score<T>(d), y = drawn_score<T>(d);
    RC_ASSERT(as_sign(order(scale, x, y)) == expected_order(scale, x, y));
    RC_ASSERT(as_sign(order(scale, y, x)) == -as_sign(order(scale, x, y)));
    RC_ASSERT(as_sign(order(scale, x, x)) == 0);
  });
}

}  // namespace

TEST_CASE("dot products are exact, from subnormals to the largest numbers", "[property]") {
  dots_are_exact<float>("f32");
  dots_are_exact<double>("f64");
  dots_are_exact<problem::bf16>("bf16");
  dots_are_exact<problem::f16>("f16");
}

TEST_CASE("dot products of 4096 largest numbers do not overflow their integer", "[unit]") {
  std::vector<double> const largest(4096, std::numeric_limits<double>::max());
  auto const found = reference::exact_dot(largest.data(), largest.data(), 4096);
  rational_integer const significand = (rational_integer(1) << 53) - 1;
  CHECK(rational_integer(found.dot) == (significand * significand * 4096)
                                           << (2 * 971 - reference::dot_exponent<double>));
}

TEST_CASE("infinities and NaN in q and k follow arithmetic", "[unit]") {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  using enum number_class;
  CHECK(dot_class({1, inf}, {1, 2}) == plus_infinity);
  CHECK(dot_class({1, inf}, {1, -2}) == minus_infinity);
  CHECK(dot_class({-inf}, {-inf}) == plus_infinity);
  CHECK(dot_class({inf, 1}, {0, 1}) == not_a_number);  // ∞·0
  CHECK(dot_class({inf, 1}, {-0.0f, 1}) == not_a_number);
  CHECK(dot_class({inf, inf}, {1, -1}) == not_a_number);  // ∞ − ∞
  CHECK(dot_class({inf, inf, inf}, {1, -1, 1}) == not_a_number);
  CHECK(dot_class({inf, inf}, {1, 1}) == plus_infinity);
  CHECK(dot_class({nan, 1}, {0, 1}) == not_a_number);
  CHECK(dot_class({1, 1}, {1, nan}) == not_a_number);
  // The largest finite products add to a finite exact number beyond f32.
  CHECK(dot_class({3e38f, 3e38f}, {3e38f, 3e38f}) == finite);
}

TEST_CASE("scale and bias decide the class of a score", "[unit]") {
  using enum number_class;
  auto const of = [](number_class dot, int sign, number_class bias) {
    exact_score<float> result;
    result.kind = dot;
    return reference::class_of(result, sign, element{bias, 0, 0});
  };
  struct row {
    number_class dot;
    int sign;
    number_class bias, expected;
  };
  for (auto const& [dot, sign, bias, expected] :
       std::initializer_list<row>{{finite, 1, finite, finite},
                                  {finite, 0, plus_infinity, plus_infinity},
                                  {finite, 1, minus_infinity, minus_infinity},
                                  {finite, 1, not_a_number, not_a_number},
                                  {plus_infinity, 1, finite, plus_infinity},
                                  {plus_infinity, -1, finite, minus_infinity},
                                  {minus_infinity, -1, finite, plus_infinity},
                                  {plus_infinity, 0, finite, not_a_number},
                                  {plus_infinity, 1, plus_infinity, plus_infinity},
                                  {plus_infinity, 1, minus_infinity, not_a_number},
                                  {plus_infinity, -1, minus_infinity, minus_infinity},
                                  {minus_infinity, 1, plus_infinity, not_a_number},
                                  {not_a_number, 1, minus_infinity, not_a_number},
                                  {not_a_number, 0, finite, not_a_number},
                                  {minus_infinity, 0, minus_infinity, not_a_number}})
    CHECK(of(dot, sign, bias) == expected);
}

TEST_CASE("scores are ordered as their exact values are", "[property]") {
  order_is_exact<float>("f32");
  order_is_exact<double>("f64");
  order_is_exact<problem::bf16>("bf16");
  order_is_exact<problem::f16>("f16");
}

TEST_CASE("near-ties of sqrt(d) are ordered right", "[property]") {
  // Δb nearest to −Δa/√d in a double, and its neighbours: the sum is about 2^−53 of its terms.
  many(10, "σ·Δa + Δb near 0", [] {
    std::int64_t const d = *rc::gen::element(2, 3, 5, 7, 8, 12, 9, 16);
    double const a = *rc::gen::inRange(1, 1 << 24) * std::ldexp(1.0, *rc::gen::inRange(-60, 60));
    double b = -a / std::sqrt(static_cast<double>(d));
    int const step = *rc::gen::inRange(-1, 2);
    if (step != 0) b = std::nextafter(b, step * std::numeric_limits<double>::infinity());
    exact_scale const scale{{}, d};
    auto const x = score(a, b), y = score(0, 0);
    RC_ASSERT(as_sign(order(scale, x, y)) == expected_order(scale, x, y));
  });
}

TEST_CASE("ties are exact for whole roots and impossible for irrational ones", "[unit]") {
  // 3·(1/√9) = 1, but 3·(1/√3) = √3 ≠ 1.732….
  CHECK(as_sign(order({{}, 9}, score(3, -1), score(0, 0))) == 0);
  CHECK(as_sign(order({{}, 9}, score(3, 0), score(0, 1))) == 0);
  CHECK(as_sign(order({{}, 9}, score(3, 5), score(6, 4))) == 0);
  CHECK(as_sign(order({{}, 4}, score(2, 1e-300), score(0, 1))) > 0);
  for (std::int64_t const d : {2, 3, 5, 8}) {
    CHECK(as_sign(order({{}, d}, score(3, 7), score(3, 7))) == 0);
    double const root = std::sqrt(static_cast<double>(d));
    CHECK(as_sign(order({{}, d}, score(static_cast<double>(d), 0), score(0, std::nextafter(root, 0)))) > 0);
    CHECK(as_sign(order({{}, d}, score(static_cast<double>(d), 0), score(0, std::nextafter(root, 9)))) < 0);
    CHECK(as_sign(order({{}, d}, score(static_cast<double>(d), 0), score(0, root))) != 0);
  }
  // An explicit scale is that number exactly: 0.1 is not a tenth.
  CHECK(as_sign(order({reference::value_of(0.1), 1}, score(10, 0), score(0, 1))) > 0);
  CHECK(as_sign(order({reference::value_of(-0.5), 1}, score(2, 0), score(0, -1))) == 0);
  CHECK(as_sign(order({reference::value_of(0.0), 1}, score(2, 0), score(-7, 0))) == 0);
  CHECK(as_sign(order({reference::value_of(0.0), 1}, score(2, 1), score(-7, 0))) > 0);
}

TEST_CASE("order holds at the ends of double: scale 2^-1074, bias near 2^1024", "[unit]") {
  std::vector<double> const q{std::numeric_limits<double>::max()}, k{std::numeric_limits<double>::max()};
  std::vector<double> const small{std::numeric_limits<double>::denorm_min()};
  auto x = reference::exact_dot(q.data(), k.data(), 1), y = reference::exact_dot(small.data(), small.data(), 1);
  x.bias = reference::value_of(-std::numeric_limits<double>::max());
  y.bias = reference::value_of(std::numeric_limits<double>::denorm_min());
  for (double const sigma :
       {std::numeric_limits<double>::denorm_min(), -0x1p-1000, std::numeric_limits<double>::max(), 1.0}) {
    exact_scale const scale{reference::value_of(sigma), 1};
    CHECK(as_sign(order(scale, x, y)) == expected_order(scale, x, y));
    CHECK(as_sign(order(scale, y, x)) == expected_order(scale, y, x));
  }
  // 3072 bits do not hold these sums; the larger term decides them.
  CHECK(as_sign(order({{}, 2}, x, y)) > 0);
}

}  // namespace attest::tests::score_test
