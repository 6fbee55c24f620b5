// finish() divides by l without a division where it can: the quotient is the same, bit for bit, on every instruction
// set.
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/fast/case.hpp"

namespace attest::tests::quotient_test {
namespace {

/// Sums as they are spread over lanes: all of l in one.
template <class T>
void divide_and_compare(std::vector<T> const& x, T l) {
  std::vector<T> O = x, answer(x.size());
  O.resize(x.size() + 64);
  T lanes[fast::sum_lanes]{};
  lanes[0] = l;
  fast::best_operations<T>().finish(O.data(), lanes, static_cast<std::int64_t>(x.size()), answer.data());
  std::size_t different = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    T const expected = (x[c] + 0) / l;
    different += std::isnan(expected) ? !std::isnan(answer[c])
                                      : answer[c] != expected || std::signbit(answer[c]) != std::signbit(expected);
  }
  INFO("l = " << l);
  REQUIRE(different == 0);
}

template <class T>
void quotients(int rounds) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<T> significand(1, 2);
  auto const power = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  constexpr int low = std::numeric_limits<T>::min_exponent, high = std::numeric_limits<T>::max_exponent - 1;
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (int round = 0; round < rounds; ++round) {
    T const l =
        round % 8 == 0 ? T(1 + power(0, 4096)) : std::ldexp(significand(random), power(0, round % 3 == 0 ? 40 : 12));
    std::vector<T> x;
    bool const extreme = round % 4 == 1;
    for (int c = 0; c < 512; ++c) {
      T const size = std::ldexp(significand(random), extreme ? power(low, high) : power(-30, 10));
      // Quotients near a midpoint of two numbers, where a wrong rounding would show.
      T const near = std::nextafter(l * static_cast<T>(1 + 2 * power(0, 4095)), infinity);
      x.push_back((random() & 1 ? -1 : 1) * (c % 4 == 0 ? near : size));
    }
    if (round % 16 == 5) x[3] = infinity, x[40] = nan, x[77] = 0, x[78] = -T(0), x[100] = std::numeric_limits<T>::max();
    divide_and_compare(x, l);
  }
}

}  // namespace

TEST_CASE("finish() divides every f32 significand as division does", "[unit]") {
  // A quotient without correction is wrong in more than one of four. The second correction is for the proof: where the
  // first guess is faithful the first one is enough, and no quotient is known that needs both.
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  std::mt19937 random(5);
  std::uniform_real_distribution<float> size(1, 4096);
  std::vector<float> x(1 << 15);
  for (int n = 0; n < 6; ++n) {
    float const l = size(random);
    for (std::int64_t first = 1 << 23; first < 1 << 24; first += 1 << 15) {
      for (std::size_t c = 0; c < x.size(); ++c) x[c] = static_cast<float>(first + static_cast<std::int64_t>(c));
      divide_and_compare(x, l);
    }
  }
}

TEST_CASE("finish() divides as division does", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  quotients<float>(4000);
  quotients<double>(4000);
}

}  // namespace attest::tests::quotient_test
