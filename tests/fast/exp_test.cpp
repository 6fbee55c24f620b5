// The kernel's weights 2^x against integers (tests/fast/exp2_fixed.hpp), on every instruction set: every f32 argument
// in the slow test, a stride through them in the quick one; 10^8 f64 arguments and more.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <vector>

#include "fast/algorithm/arithmetic.hpp"
#include "fast/algorithm/exp2.hpp"
#include "fast/algorithm/model.hpp"
#include "reference/real/outward.hpp"
#include "tests/fast/case.hpp"
#include "tests/fast/exp2_sweep.hpp"

namespace attest::tests::exp_test {
using tests::fixed_exp2;

namespace {

/// 2^x_j for each x_j, as operations::exponentiate makes weights of a row whose maximum is 0.
template <class T>
class weights {
 public:
  T alone(T value) {
    T m = 0, factor = 1;
    std::fill(S_.begin(), S_.end(), -std::numeric_limits<T>::infinity());
    S_[0] = value;
    ops_.exponentiate(S_.data(), 1, {0, fast::sum_lanes}, {&m, l_.data(), &factor});
    return S_[0];
  }

 private:
  fast::operations<T> const& ops_ = fast::best_operations<T>();
  std::vector<T> S_ = std::vector<T>(static_cast<std::size_t>(fast::score_stride<T>));
  std::vector<T> l_ = std::vector<T>(static_cast<std::size_t>(fast::sum_lanes));
};

template <class T>
constexpr T lowest = tests::lowest_exp2_argument<T>;

/// error_units relative to the smallest 2^r, in u.
template <class T>
constexpr double judge_in_u = fixed_exp2::error_units * 0x1p-62 / 0.7071 * (sizeof(T) == 4 ? 0x1p24 : 0x1p53);

template <class T>
void require_declared(std::vector<tests::exp2_errors<T>> const& found, std::uint64_t tried) {
  double const declared = fast::exp_error<T> * (sizeof(T) == 4 ? 0x1p24 : 0x1p53);
  for (auto const& set : found) {
    std::cerr << "2^x of " << tried << (sizeof(T) == 4 ? " f32" : " f64") << " arguments on " << set.name
              << ": at most " << set.in_u << " u (declared " << declared << "), " << set.in_ulps << " ulp, at "
              << std::hexfloat << static_cast<double>(set.worst) << std::defaultfloat << "\n";
    INFO(set.name);
    CHECK(set.wrong == 0);
    CHECK(set.in_u + judge_in_u<T> < declared);
    CHECK(set.in_u > 1);  // arguments that find nothing show nothing
  }
}

/// Every `stride`-th f32 from −0 to −∞, both included.
void sweep_f32(std::uint64_t stride) {
  constexpr auto first = std::bit_cast<std::uint32_t>(-0.0f);
  constexpr auto last = std::bit_cast<std::uint32_t>(-std::numeric_limits<float>::infinity());
  std::uint64_t const count = (last - first) / stride + 1;
  require_declared(
      tests::sweep_exp2<float>(
          count,
          [=](std::uint64_t at) { return std::bit_cast<float>(static_cast<std::uint32_t>(first + at * stride)); }),
      count);
}

/// splitmix64: number `index` of a sequence.
constexpr std::uint64_t scrambled(std::uint64_t index) noexcept {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Families of arguments, one after the other: anywhere; n = 0 and −1; every binade from 2^−54 to 2^9; |r| close to
/// 1/2, where 2^r is smallest relative to its errors; |r| close to where the coefficients are worst.
double argument_f64(std::uint64_t at) noexcept {
  std::uint64_t const random = scrambled(at);
  double const unit = static_cast<double>(random >> 11) * 0x1p-53;
  auto const n = static_cast<double>(random % 1021);
  switch (at % 5) {
    case 0: return lowest<double> * unit;
    case 1: return -unit;
    case 2: return -std::min(std::ldexp(1 + unit, static_cast<int>(random % 64) - 54), -lowest<double>);
    case 3: return -(n + 0.5) * (1 + 0x1p-30 * (unit - 0.5));
    default: return -n - 0.48 + 0.02 * (unit - 0.5);
  }
}

void sweep_f64(std::uint64_t count) {
  auto const found = tests::sweep_exp2<double>(count, argument_f64);
  require_declared(found, count);
  // The neighbours of the worst, with other n as well.
  for (auto const& set : found) {
    double const r = set.worst - std::nearbyint(set.worst);
    std::uint64_t const near = count / 64;
    require_declared(tests::sweep_exp2<double>(near,
                                               [=](std::uint64_t at) {
                                                 double const step = 0x1p-53 * (static_cast<double>(at / 8) -
                                                                                static_cast<double>(near / 16));
                                                 return std::min(0.0, r + step - static_cast<double>(at % 8));
                                               }),
                     near);
  }
}

}  // namespace

TEST_CASE("the integers that judge 2^r are within their own error of it", "[unit]") {
  using number = reference::ball<128>;
  fixed_exp2 const power;
  number const ln2 = log(number(2));
  auto const half = std::int64_t{1} << (fixed_exp2::places - 1);
  double largest = 0;
  for (std::int64_t k = 0; k < 20'000; ++k) {
    std::int64_t r = static_cast<std::int64_t>(scrambled(static_cast<std::uint64_t>(k))) >> 2;  // |r| ≤ 2^61
    if (k <= 512) r = half / 256 * (k - 256) + k % 3 - 1;  // where the table's entries meet
    r = std::clamp(r, -half, half);
    number const exact = exp((number(r) * ln2).scaled_by_power_of_two(-fixed_exp2::places));
    number const off = number(power(r)) - exact.scaled_by_power_of_two(fixed_exp2::places);
    largest = std::max(largest, reference::upper_size(off));
  }
  INFO("off by " << largest << " units");
  CHECK(largest < static_cast<double>(fixed_exp2::error_units) - 0.99);  // r is exact here
}

TEST_CASE("f32 weights err by less than declared, on a stride of their domain", "[unit]") { sweep_f32(997); }
TEST_CASE("f32 weights err by less than declared, on every argument", "[nightly]") { sweep_f32(1); }
TEST_CASE("f64 weights err by less than declared", "[unit]") { sweep_f64(std::uint64_t{1} << 20); }
TEST_CASE("f64 weights err by less than declared, on 2.7e8 arguments", "[nightly]") {
  sweep_f64(std::uint64_t{1} << 28);
}

TEMPLATE_TEST_CASE("beyond the cutoff a weight is 0, and no weight is subnormal", "[unit]", float, double) {
  using T = TestType;
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  weights<T> weight;
  CHECK(weight.alone(std::nextafter(lowest<T>, T(0))) >= std::numeric_limits<T>::min());
  CHECK(static_cast<double>(lowest<T>) * 0.69314718055994530942 < -fast::exp_cutoff<T>);
  CHECK(weight.alone(lowest<T>) == 0);
  for (T x = std::nextafter(lowest<T>, T(-1e4)); x > -std::numeric_limits<T>::max() / 4; x *= 3)
    CHECK(weight.alone(x) == 0);
  CHECK(weight.alone(std::numeric_limits<T>::lowest()) == 0);
  CHECK(weight.alone(-std::numeric_limits<T>::infinity()) == 0);
  CHECK(weight.alone(-std::numeric_limits<T>::denorm_min()) == 1);
}

TEMPLATE_TEST_CASE("2^0 is 1 exactly, and NaN stays NaN", "[unit]", float, double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  weights<TestType> weight;
  CHECK(weight.alone(0) == 1);
  CHECK(weight.alone(TestType(-0.0)) == 1);
  CHECK(std::isnan(weight.alone(std::numeric_limits<TestType>::quiet_NaN())));
  CHECK(std::isnan(weight.alone(-std::numeric_limits<TestType>::quiet_NaN())));
}

TEMPLATE_TEST_CASE("the scalar 2^x of merges has the bits of the vector one", "[unit]", float, double) {
  using T = TestType;
  constexpr double eps = fast::exp_error<T>;  // of either, relative
  for (auto const name : fast::simd_targets()) {
    tests::simd_target const set(name);
    weights<T> weight;
    bool const fused = name == "AVX2" || name == "AVX3";
    for (int k = 0; k < 20'000; ++k) {
      T const x = -static_cast<T>(k) * T(0.00931);
      T const scalar = fast::exp2_of_difference<T>(x), lane = weight.alone(x);
      if (fused) CHECK(scalar == lane);
      else
        CHECK(std::abs(static_cast<double>(scalar) - static_cast<double>(lane)) <=
              2 * eps * static_cast<double>(std::max(scalar, lane)));
    }
  }
}

}  // namespace attest::tests::exp_test
