// Functions of vectors and matrices in balls.
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/decimal.hpp"
#include "reference/real/tanh.hpp"
#include "reference/textbook/cosine.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "reference/textbook/memory.hpp"
#include "reference/textbook/projection.hpp"
#include "reference/textbook/scoring/additive.hpp"
#include "reference/textbook/scoring/bilinear.hpp"
#include "reference/textbook/scoring/scaled_dot.hpp"
#include "reference/textbook/softmax_axis.hpp"
#include "reference/textbook/softmax_jacobian.hpp"
#include "reference/textbook/variance.hpp"
#include "tests/reference/drawn_numbers.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::vector_functions_test {
using namespace attest::reference;

namespace {

std::vector<number> drawn_vector(std::size_t count) {
  std::vector<number> numbers;
  for (std::size_t n = 0; n < count; ++n) numbers.push_back(drawn_number());
  return numbers;
}

}  // namespace

TEST_CASE("softmax: sums to 1, ignores a shift, keeps the order, follows a permutation", "[property]") {
  tests::property("softmax", [] {
    auto const count = static_cast<std::size_t>(*rc::gen::inRange(1, 7));
    auto const x = drawn_vector(count);
    auto const p = softmax(x);
    number sum{};
    for (auto const& weight : p) {
      RC_ASSERT(certain_sign(weight) > 0);
      sum = sum + weight;
    }
    RC_ASSERT(overlap(sum, number(1)));
    number const by = drawn_number();
    auto shifted_scores = x;
    for (auto& score : shifted_scores) score = score + by;
    auto const same = softmax(shifted_scores);
    std::vector<number> const backwards(x.rbegin(), x.rend());
    auto const mirrored = softmax(backwards);
    for (std::size_t n = 0; n < count; ++n) {
      RC_ASSERT(overlap(p[n], same[n]));
      RC_ASSERT(overlap(p[n], mirrored[count - 1 - n]));
      for (std::size_t k = 0; k < count; ++k)
        if (certain_sign(x[n] - x[k]) > 0) RC_ASSERT(certain_sign(p[n] - p[k]) >= 0);
    }
  });
}

TEST_CASE("softmax at temperature T is softmax of x/T", "[property]") {
  tests::property("temperature", [] {
    auto const x = drawn_vector(4);
    number const T = dyadic(*rc::gen::inRange<std::int64_t>(1, 1000), -4);
    auto cooled = x;
    for (auto& score : cooled) score = score / T;
    auto const p = softmax(x, T), q = softmax(cooled);
    for (std::size_t n = 0; n < x.size(); ++n) RC_ASSERT(overlap(p[n], q[n]));
  });
}

TEST_CASE("softmax along an axis is softmax of its lines", "[property]") {
  tests::property("softmax_along", [] {
    std::array<std::int64_t, 4> const shape{*rc::gen::inRange(1, 4), *rc::gen::inRange(1, 4), *rc::gen::inRange(1, 4),
                                            *rc::gen::inRange(1, 4)};
    auto const where = problem::layout::compact({shape[0], shape[1], shape[2], shape[3]});
    auto const x = drawn_vector(static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
    int const axis = *rc::gen::inRange(-4, 4);
    auto const a = static_cast<std::size_t>(axis < 0 ? axis + 4 : axis);
    auto const p = softmax_along(x, where, axis);
    std::int64_t const step = where.stride[a];
    for (std::size_t start = 0; start < x.size(); ++start) {
      if (static_cast<std::int64_t>(start) / step % shape[a] != 0) continue;
      std::vector<number> line;
      for (std::int64_t n = 0; n < shape[a]; ++n) line.push_back(at(x, static_cast<std::int64_t>(start) + n * step));
      line = softmax(line);
      for (std::int64_t n = 0; n < shape[a]; ++n) {
        number const& found = at(p, static_cast<std::int64_t>(start) + n * step);
        RC_ASSERT(found.mid == at(line, n).mid && found.exponent == at(line, n).exponent);
      }
    }
  });
}

TEST_CASE("the softmax Jacobian is symmetric and its rows sum to 0", "[property]") {
  tests::property("softmax_jacobian", [] {
    auto const p = softmax(drawn_vector(4));
    for (std::int64_t i = 0; i < 4; ++i) {
      number sum{};
      for (std::int64_t j = 0; j < 4; ++j) {
        sum = sum + softmax_jacobian(p, i, j);
        RC_ASSERT(overlap(softmax_jacobian(p, i, j), softmax_jacobian(p, j, i)));
      }
      RC_ASSERT(overlap(sum, number(0)));
      RC_ASSERT(overlap(softmax_jacobian(p, i, i), at(p, i) * (number(1) - at(p, i))));
    }
  });
}

TEST_CASE("entropy: 0 for certainty, ln n for uniform, 0·ln 0 = 0", "[unit]") {
  CHECK(is_exactly(entropy(std::array<number, 3>{1, 0, 0}), 0));
  number const third = number(1) / number(3);
  CHECK(overlap(entropy(std::array<number, 3>{third, third, third}), log(number(3))));
  for (std::int64_t const size : {-2000, -40, -3, -1}) {  // a ball that reaches 0 contains both ends
    number touching = dyadic(1, size);
    touching.radius = magnitude::power_of_two(size);
    CHECK(overlap(surprise(touching), number(0)));
    CHECK(overlap(surprise(touching), surprise(dyadic(1, size))));
    CHECK(overlap(surprise(touching), surprise(dyadic(1, size + 1))));
    CHECK(overlap(surprise(touching), surprise(dyadic(1, size - 2))));
  }
}

TEST_CASE("mean and variance: exact, enclosed, shifted, scaled", "[property]") {
  tests::property("variance", [] {
    auto const count = static_cast<std::size_t>(*rc::gen::inRange(2, 9));
    std::vector<float> x, tripled, moved;
    std::vector<number> balls;
    for (std::size_t n = 0; n < count; ++n) {
      x.push_back(static_cast<float>(*rc::gen::inRange(-4000, 4001)) / 16);
      tripled.push_back(3 * x.back());
      moved.push_back(x.back() + 1000);
      balls.push_back(number::from(value_of(x.back())));
    }
    auto const v = population_variance(x);
    RC_ASSERT(population_variance(tripled).numerator == 9 * v.numerator);
    RC_ASSERT(population_variance(moved).numerator == v.numerator);
    RC_ASSERT(overlap(v.enclosure<128>(), population_variance(balls)));
    RC_ASSERT(overlap(sample_variance(x).enclosure<128>(), sample_variance(balls)));
    RC_ASSERT(overlap(mean(x).enclosure<128>(), mean(balls)));
    auto const n = static_cast<std::int64_t>(count);
    RC_ASSERT(overlap(sample_variance(balls) * number(n - 1), population_variance(balls) * number(n)));
  });
}

TEST_CASE("cosine: parallel, opposite, orthogonal, and q·k = |q||k|cos", "[unit]") {
  using two = std::array<number, 2>;
  CHECK(is_exactly(cosine(two{3, 4}, two{6, 8}), 1));
  CHECK(is_exactly(cosine(two{3, 4}, two{-3, -4}), -1));
  CHECK(is_exactly(cosine(two{1, 0}, two{0, 7}), 0));
  two const q{1, 2}, k{5, -3};
  CHECK(overlap(dot(q, k), norm(q) * norm(k) * cosine(q, k)));
}

TEST_CASE("X·W and X·Wᵀ are exact, also for infinities and NaN", "[unit]") {
  constexpr std::array<float, 6> X{1, 2, 3, 4, 5, 0x1p-148f};
  constexpr std::array<float, 6> W{1, 0, 0, 1, 0x1p127f, 0x1p-149f};  // [3, 2]; its transpose below
  constexpr std::array<float, 6> transposed{1, 0, 0x1p127f, 0, 1, 0x1p-149f};
  auto const a = project<float>(X, W, 2, 3, 2), b = project_transposed<float>(X, transposed, 2, 3, 2);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 2; ++j) CHECK(a(i, j).dot == b(i, j).dot);
  CHECK(a.is(1, 0, 4 + 0x1p-21f));
  CHECK_FALSE(a.is(1, 1, 5));  // 5 + 2^-297
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::array<float, 2> row{infinity, 0}, column{1, infinity};
  CHECK(project<float>(row, column, 1, 2, 1)(0, 0).kind == number_class::not_a_number);
  CHECK_FALSE(project<float>(row, column, 1, 2, 1).is(0, 0, infinity));
}

TEST_CASE("scores: bilinear with I is dot, additive without matrices is 0, scaled dot divides", "[unit]") {
  using two = std::array<number, 2>;
  using four = std::array<number, 4>;
  two const q{3, -1}, k{2, 5};
  CHECK(is_exactly(dot(q, k), 1));
  CHECK(is_exactly(bilinear(q, four{1, 0, 0, 1}, k), 1));
  CHECK(is_exactly(bilinear(q, four{0, 1, 1, 0}, k), 13));
  CHECK(is_exactly(additive(two{1, 1}, four{}, q, four{}, k), 0));
  four const I{1, 0, 0, 1};
  CHECK(overlap(additive(two{1, 2}, I, q, I, k), tanh(number(5)) + number(2) * tanh(number(4))));
  CHECK(overlap(scaled_dot(q, k) * scaled_dot(q, k) * number(2), number(1)));
  CHECK(is_exactly(scaled_dot(std::array<number, 4>{1, 1, 1, 1}, std::array<number, 4>{1, 2, 3, 4}), 5));
}

TEST_CASE("memory: orthonormal keys return their values, a normalised read is attention", "[unit]") {
  using two = std::array<number, 2>;
  auto const by_dot = [](auto const& q, auto const& k) { return dot(q, k); };
  auto const by_exp = [](auto const& q, auto const& k) { return exp(scaled_dot(q, k)); };
  memory<128> store{.d = 2, .dv = 2};
  write(store, two{1, 0}, two{5, 6});
  write(store, two{0, 1}, two{7, 8});
  REQUIRE(store.pairs() == 2);
  auto const first = read(store, two{1, 0}, by_dot);
  CHECK((is_exactly(first[0], 5) && is_exactly(first[1], 6)));
  auto const both = read(store, two{1, 1}, by_dot);
  CHECK((is_exactly(both[0], 12) && is_exactly(both[1], 14)));

  write(store, two{2, -1}, two{-4, 0});
  constexpr std::array<float, 2> q{1, 3};
  constexpr std::array<float, 6> k{1, 0, 0, 1, 2, -1}, v{5, 6, 7, 8, -4, 0};
  problem::arguments<float> arguments;
  arguments.q = {q.data(), problem::layout::compact({1, 2})};
  arguments.k = {k.data(), problem::layout::compact({3, 2})};
  arguments.v = {v.data(), problem::layout::compact({3, 2})};
  auto const instance = problem::instance<float>::make(arguments).value();
  enclosed_row<128, float> row;
  attest::reference::compiled::enclose_row(instance, 0, 0, 0, row);
  auto const answered = read_normalised(store, two{1, 3}, by_exp);
  for (std::int64_t c = 0; c < 2; ++c) {
    CHECK(overlap(at(answered, c), attest::reference::compiled::output(instance, row, c).value));
    CHECK(radius_within(at(answered, c), -110));
  }
}

}  // namespace attest::tests::vector_functions_test
