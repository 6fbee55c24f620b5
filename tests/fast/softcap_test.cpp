// The kernel's c·tanh(x/c) against the C library, on every instruction set: every f32 argument in the slow test, a
// stride through them in the quick one; more than 10^7 arguments in f64.
#include "fast/algorithm/softcap.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "fast/algorithm/model.hpp"
#include "tests/fast/case.hpp"

namespace attest::tests::softcap_test {
namespace {

constexpr long double log2_e = 1.4426950408889634073599246810018921L;

/// c·tanh(x/c) of scores in units of log₂, block by block.
template <class T>
class capped {
 public:
  static constexpr std::int64_t most = 4096;

  explicit capped(double c) : cap_(fast::score_cap<T>::of(c)) {}

  T* x() { return s_.data(); }
  T const* of(std::int64_t count) {
    ops_.softcap(s_.data(), cap_, count);
    return s_.data();
  }
  T alone(T value) {
    x()[0] = value;
    return of(1)[0];
  }

 private:
  fast::operations<T> const& ops_ = fast::best_operations<T>();
  fast::score_cap<T> cap_;
  std::vector<T> s_ = std::vector<T>(most + fast::sum_lanes);
};

/// The largest relative error over every `stride`-th f32 from max(1, c)·2^−100 up, below which 2·x/c comes near the
/// underflow range, in units of u. A double tanh errs by 2^−51.
double largest_error_f32(double c, std::uint32_t stride) {
  std::uint32_t const end = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
  capped<float> scores(c);
  double const C = c * static_cast<double>(log2_e);
  double largest = 0;
  std::vector<float> x(capped<float>::most);
  float const first = 0x1p-100f * static_cast<float>(std::max(c, 1.0));
  for (std::uint64_t bits = std::bit_cast<std::uint32_t>(first); bits < end;) {
    std::int64_t count = 0;
    for (; count < capped<float>::most && bits < end; ++count, bits += stride)
      x[static_cast<std::size_t>(count)] = scores.x()[count] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    float const* const got = scores.of(count);
    for (std::int64_t j = 0; j < count; ++j) {
      double const z = static_cast<double>(x[static_cast<std::size_t>(j)]) / C;
      // tanh(z) is z − z³/3 to 2^−52 below 2^−13, and 1 above 20: the C library is for what lies between.
      double const truth = C * (z < 0x1p-13 ? z - z * z * z / 3 : z > 20 ? 1 : std::tanh(z));
      largest = std::max(largest, std::abs(static_cast<double>(got[j]) - truth) / truth);
    }
  }
  return std::ldexp(largest, 24);
}

void require_f32_error(double c, std::uint32_t stride) {
  double const largest = largest_error_f32(c, stride), declared = std::ldexp(fast::softcap_error<float>, 24);
  INFO("largest relative error " << largest << " u, declared " << declared << " u");
  CHECK(largest + 0x1p-25 < declared);
  CHECK(largest > 1);  // it measures something
}

}  // namespace

TEST_CASE("f32 softcap errs by less than declared, on a stride of its domain", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (double const c : {1.0, 50.0, 30.0, 0.1, 1e-9, 1e9}) require_f32_error(c, 1009);
}

TEST_CASE("f32 softcap errs by less than declared, on every argument", "[nightly]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  require_f32_error(30, 1);
}

TEST_CASE("f64 softcap errs by less than declared", "[unit]") {
  if (std::numeric_limits<long double>::digits < 64) return;  // nothing to compare with
  std::string_view const name = GENERATE(from_range(fast::simd_targets()));
  tests::simd_target const set(name);
  std::mt19937_64 random(1);
  long double largest = 0;
  std::vector<double> x(capped<double>::most);
  for (double const c : {50.0, 1.0, 1e-3}) {
    capped<double> scores(c);
    long double const C = static_cast<long double>(c) * log2_e;
    for (int round = 0; round < 900; ++round) {
      for (std::int64_t j = 0; j < scores.most; ++j) {
        double const unit = static_cast<double>(random() >> 11) * 0x1p-53;
        double const z = j % 2 == 0 ? 22 * unit : std::ldexp(1 + unit, static_cast<int>(random() % 60) - 55);
        x[static_cast<std::size_t>(j)] = scores.x()[j] = (j % 3 == 0 ? -1 : 1) * z * static_cast<double>(C);
      }
      double const* const got = scores.of(scores.most);
      for (std::int64_t j = 0; j < scores.most; ++j) {
        long double const truth = C * std::tanh(static_cast<long double>(x[static_cast<std::size_t>(j)]) / C);
        largest = std::max(largest, std::abs((static_cast<long double>(got[j]) - truth) / truth));
      }
    }
  }
  double const measured = static_cast<double>(std::ldexp(largest, 53)),
               declared = std::ldexp(fast::softcap_error<double>, 53);
  INFO(name << ": largest relative error " << measured << " u, declared " << declared << " u");
  CHECK(measured < declared);
}

TEMPLATE_TEST_CASE("softcap is odd, ±c at the ends, NaN for NaN", "[unit]", float, double) {
  using T = TestType;
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  capped<T> scores(30);
  T const end = static_cast<T>(30 * static_cast<double>(log2_e)), infinity = std::numeric_limits<T>::infinity();
  CHECK(scores.alone(infinity) == end);
  CHECK(scores.alone(-infinity) == -end);
  CHECK(scores.alone(std::numeric_limits<T>::max()) == end);
  CHECK(scores.alone(0) == 0);
  CHECK(std::isnan(scores.alone(std::numeric_limits<T>::quiet_NaN())));
  for (T x = T(0x1p-90); x < 1000; x *= T(1.37)) CHECK(scores.alone(-x) == -scores.alone(x));
}

TEMPLATE_TEST_CASE("the coefficients approximate 2^r − 1 to what their comment says", "[unit]", float, double) {
  using T = TestType;
  long double largest = 0;
  for (int k = -20'000; k <= 20'000; ++k) {
    if (k == 0) continue;
    long double const r = static_cast<long double>(k) / 40'000;
    long double sum = 0;
    for (std::size_t c = fast::tanh_format<T>::coefficients.size(); c-- > 0;)
      sum = sum * r + static_cast<long double>(fast::tanh_format<T>::coefficients[c]);
    largest = std::max(largest, std::abs(r * sum / std::expm1(r * 0.69314718055994530941723212145818L) - 1));
  }
  double const in_u = std::ldexp(static_cast<double>(largest), std::numeric_limits<T>::digits);
  INFO("relative error " << in_u << " u");
  CHECK(in_u < 0.45);
}

TEMPLATE_TEST_CASE("a cap of any size is that number", "[unit]", float, double) {
  using T = TestType;
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  // One query, two keys with scores x and 0: LSE = ln(e^(c·tanh(x/c)) + 1).
  auto const lse = [](double c, T x) {
    tests::written<T> problem({1, 1, 1, 1, 2, 1, 1}, 1);
    problem.softcap = c, problem.scale = 1;
    problem.q.at(0, 0, 0, 0) = 1, problem.k.at(0, 0, 0, 0) = x, problem.k.at(0, 0, 1, 0) = 0;
    return static_cast<double>(answer_to(problem).lse.at(0, 0, 0));
  };
  auto const model = fast::model<T>({1, 1, 1, 1, 2, 1, 1});
  for (double const c : {1e-300, 1e-38, 1e-30, 1e-9, 0.5, 1.0, 30.0, 1e9, 1e30, 3e38, 1e45, 1e300})
    for (T const x : {T(-3), T(0.25), T(2), T(40), std::numeric_limits<T>::max(), std::numeric_limits<T>::infinity()}) {
      long double const cap = c, score = cap * std::tanh(static_cast<long double>(x) / cap);
      if (score > 1e37L) continue;
      long double const truth = std::max(score, 0.0L) + std::log1p(std::exp(-std::abs(score)));
      INFO("c = " << c << ", x = " << x);
      // The largest errors of the score, of the weights and of the logarithm, each moving the LSE by its size at most.
      // What underflows inside tanh(x/c) is worth up to c·2^−126 (2^−1022): the (1 + c)·ω of docs/bound.md.
      auto const size = static_cast<double>(std::abs(score)), sum = static_cast<double>(truth);
      double const allowed = (model.e_c + model.k_x * model.format.u) * size + model.eps +
                             model.eps_log * std::log(2.0) + 2 * model.k_lse * model.format.u * (size + sum) +
                             (1 + c) * static_cast<double>(std::numeric_limits<T>::min());
      CHECK(std::abs(static_cast<double>(static_cast<long double>(lse(c, x)) - truth)) <= allowed);
    }
}

static_assert(fast::model<float>({1, 1, 1, 2, 2, 8, 1}).e_c == 11 * problem::formats::f32.u);
static_assert(fast::model<double>({1, 1, 1, 2, 2, 8, 1}).e_c == 11 * problem::formats::f64.u);
static_assert(fast::model<float>({1, 1, 1, 2, 2, 8, 1}).a_t == 0, "softcap's error is relative");

}  // namespace attest::tests::softcap_test
