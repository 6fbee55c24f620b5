// The kernel's weights 2^x against the C library, on every instruction set: every f32 argument in the slow test, a
// stride through them in the quick one.
#include "fast/exp2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "fast/arithmetic.hpp"
#include "tests/fast_case.hpp"

using namespace attest;

namespace {

/// 2^x_j for each x_j, as operations::weigh makes weights of a row whose maximum is 0.
template <class T>
class weights {
 public:
  static constexpr std::int64_t most = fast::blocking_of<T>.keys;

  T* x() { return S_.data(); }
  T const* of(std::int64_t count) {
    T m = 0, factor = 1;
    std::fill(S_.begin() + count, S_.end(), -std::numeric_limits<T>::infinity());
    does_.weigh(S_.data(), 1, {0, fast::rounded_up(count, fast::sum_lanes)}, {&m, l_.data(), &factor});
    return S_.data();
  }
  T alone(T value) {
    x()[0] = value;
    return of(1)[0];
  }

 private:
  fast::operations<T> const& does_ = fast::best_operations<T>();
  std::vector<T> S_ = std::vector<T>(static_cast<std::size_t>(fast::score_stride<T>));
  std::vector<T> l_ = std::vector<T>(static_cast<std::size_t>(fast::sum_lanes));
};

/// The last argument whose weight is not 0.
template <class T>
constexpr T lowest = fast::lowest_exponent<T> + T(0.5);

/// The largest |weight/2^x − 1| over every `stride`-th f32 in (lowest, 0]. A double 2^x errs by 2^−52 at most.
double largest_error_f32(std::uint32_t stride) {
  std::uint32_t const first = std::bit_cast<std::uint32_t>(-0.0f), end = std::bit_cast<std::uint32_t>(lowest<float>);
  weights<float> made;
  double largest = 0;
  std::vector<float> x(weights<float>::most);
  for (std::uint64_t bits = first; bits < end;) {
    std::int64_t count = 0;
    for (; count < weights<float>::most && bits < end; ++count, bits += stride)
      x[static_cast<std::size_t>(count)] = made.x()[count] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    float const* const got = made.of(count);
    for (std::int64_t j = 0; j < count; ++j) {
      double const truth = std::exp2(static_cast<double>(x[static_cast<std::size_t>(j)]));
      largest = std::max(largest, std::abs(static_cast<double>(got[j]) - truth) / truth);
    }
  }
  return largest;
}

void require_f32_error(std::uint32_t stride) {
  double const largest = largest_error_f32(stride), u = std::ldexp(1.0, -24);
  INFO("largest relative error " << largest / u << " u, declared " << fast::exp_error<float> / u << " u");
  CHECK(largest + std::ldexp(1.0, -52) < fast::exp_error<float>);
}

}  // namespace

TEST_CASE("f32 weights err by less than declared, on a stride of their domain", "[unit]") {
  tests::instruction_set const set(GENERATE(from_range(fast::instruction_sets())));
  require_f32_error(997);
}

TEST_CASE("f32 weights err by less than declared, on every argument", "[slow]") {
  tests::instruction_set const set(GENERATE(from_range(fast::instruction_sets())));
  require_f32_error(1);
}

TEST_CASE("f64 weights err by less than declared", "[unit]") {
  if (std::numeric_limits<long double>::digits < 64) return;  // nothing to compare with
  tests::instruction_set const set(GENERATE(from_range(fast::instruction_sets())));
  std::mt19937_64 random(1);
  weights<double> made;
  long double largest = 0;
  auto const look = [&](double x) {
    if (x <= lowest<double>) return;
    long double const truth = std::exp2(static_cast<long double>(x));
    largest = std::max(largest, std::abs(static_cast<long double>(made.alone(x)) - truth) / truth);
  };
  for (int k = 0; k < 50'000; ++k) {
    double const unit = static_cast<double>(random() >> 11) * 0x1p-53;
    look(lowest<double> * unit);
    look(-unit);                                                        // n = 0 and −1
    look(-std::ldexp(1 + unit, static_cast<int>(random() % 64) - 54));  // every binade from 2^−54 to 2^9
    look(-(std::floor(unit * 1021) + 0.5) * (1 + 0x1p-48 * unit));      // |r| close to 1/2
  }
  double const u = std::ldexp(1.0, -53), measured = static_cast<double>(largest) / u;
  INFO("largest relative error " << measured << " u, declared " << fast::exp_error<double> / u << " u");
  CHECK(measured < fast::exp_error<double> / u);
}

TEMPLATE_TEST_CASE("beyond the cutoff a weight is 0, and no weight is subnormal", "[unit]", float, double) {
  using T = TestType;
  tests::instruction_set const set(GENERATE(from_range(fast::instruction_sets())));
  weights<T> made;
  CHECK(made.alone(std::nextafter(lowest<T>, T(0))) >= std::numeric_limits<T>::min());
  CHECK(static_cast<double>(lowest<T>) * 0.69314718055994530942 < -fast::exp_cutoff<T>);
  CHECK(made.alone(lowest<T>) == 0);
  for (T x = std::nextafter(lowest<T>, T(-1e4)); x > -std::numeric_limits<T>::max() / 4; x *= 3)
    CHECK(made.alone(x) == 0);
  CHECK(made.alone(std::numeric_limits<T>::lowest()) == 0);
  CHECK(made.alone(-std::numeric_limits<T>::infinity()) == 0);
  CHECK(made.alone(-std::numeric_limits<T>::denorm_min()) == 1);
}

TEMPLATE_TEST_CASE("2^0 is 1 exactly, and NaN stays NaN", "[unit]", float, double) {
  tests::instruction_set const set(GENERATE(from_range(fast::instruction_sets())));
  weights<TestType> made;
  CHECK(made.alone(0) == 1);
  CHECK(made.alone(TestType(-0.0)) == 1);
  CHECK(std::isnan(made.alone(std::numeric_limits<TestType>::quiet_NaN())));
  CHECK(std::isnan(made.alone(-std::numeric_limits<TestType>::quiet_NaN())));
}

TEMPLATE_TEST_CASE("the scalar 2^x of merges has the bits of the vector one", "[unit]", float, double) {
  using T = TestType;
  for (auto const name : fast::instruction_sets()) {
    tests::instruction_set const set(name);
    weights<T> made;
    bool const fused = name == "AVX2" || name == "AVX3";
    for (int k = 0; k < 20'000; ++k) {
      T const x = -static_cast<T>(k) * T(0.00931);
      T const one = fast::exp2_of_difference<T>(x), other = made.alone(x);
      if (fused) CHECK(one == other);
      else CHECK(one == Approx(other).epsilon(1e-6));
    }
  }
}

TEMPLATE_TEST_CASE("the coefficients approximate 2^r to what their comment says", "[unit]", float, double) {
  using T = TestType;
  long double largest = 0;
  for (int k = -20'000; k <= 20'000; ++k) {
    long double const r = static_cast<long double>(k) / 40'000;
    long double sum = 0;
    for (std::size_t c = fast::exp2_format<T>::coefficients.size(); c-- > 0;)
      sum = sum * r + static_cast<long double>(fast::exp2_format<T>::coefficients[c]);
    largest = std::max(largest, std::abs((1 + r * sum) / std::exp2(r) - 1));
  }
  double const in_u = std::ldexp(static_cast<double>(largest), std::numeric_limits<T>::digits);
  INFO("relative error " << in_u << " u");
  CHECK(in_u < 0.39);
}
