// Rows that try to break the error bound: the adversarial families of docs/bound.md, section 11, and a climb from one
// of them towards larger error/bound.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

using generator = std::mt19937_64;

inline double uniform(generator& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }
inline double gaussian(generator& random) {
  double sum = -6;
  for (int n = 0; n < 12; ++n) sum += uniform(random);
  return sum;
}

inline constexpr int families = 14;

/// One row of a family. Every family has a reason to break a careless bound.
template <class F>
written<F> attacked_row(int family, generator& random) {
  auto const size = static_cast<std::int64_t>(random() >> 1);
  std::int64_t const m = family == 0 ? 1 + (size & 63) : family == 3 || family == 9 ? 2 : 1 + (size & 15);
  std::int64_t const d = family == 9 || family == 12 ? 1 : 1 + ((size >> 8) & 7);
  written<F> problem(m, d, 2);
  double score_size = 1, value_offset = 0, value_size = 1;
  switch (family) {
    case 2: score_size = 6; break;                                                         // peaked
    case 4: score_size = 1e-4; break;                                                      // nearly uniform
    case 5: value_offset = 1e4; break;                                                     // offset V
    case 6: score_size = std::ldexp(1.0, 8 + static_cast<int>((size >> 16) % 40)); break;  // huge scores: dominance
    case 7: value_size = static_cast<double>(std::numeric_limits<F>::denorm_min()) * 8; break;  // underflow is absolute
    case 8: score_size = 30; break;                                                             // far keys
    default: break;
  }
  for (auto& x : problem.q.values) x = static_cast<F>(gaussian(random) * score_size);
  for (auto& x : problem.k.values) x = static_cast<F>(gaussian(random));
  for (auto& x : problem.v.values) x = static_cast<F>(value_offset + gaussian(random) * value_size);
  auto const width = static_cast<std::size_t>(d);
  switch (family) {
    case 1:  // cancelling products
      for (std::size_t t = 0; t < width; ++t) problem.q.values[t] = static_cast<F>((t % 2 ? -1.0 : 1.0) * 40);
      for (auto& x : problem.k.values) x = static_cast<F>(1 + gaussian(random) * 1e-3);
      break;
    case 9:  // two keys, one column 0 and 1: the sigmoid
      problem.v.values = {0, 1, 1, 0};
      problem.q.values[0] = static_cast<F>(std::ldexp(1 + uniform(random), static_cast<int>(random() % 6) - 2));
      break;
    case 10:  // an exact bias that dwarfs the scores still rounds
      for (std::int64_t j = 0; j < m; ++j) problem.bias.values.push_back(static_cast<F>(1e4));
      break;
    case 11:  // biases of every size
      for (std::int64_t j = 0; j < m; ++j)
        problem.bias.values.push_back(
            static_cast<F>(std::ldexp(gaussian(random), static_cast<int>(random() % 12) - 4)));
      break;
    case 12: {  // scores rise along the keys: every block rescales
      problem.q.values = {1};
      for (std::size_t j = 0; j < problem.k.values.size(); ++j)
        problem.k.values[j] = static_cast<F>(0.37 * static_cast<double>(j) + uniform(random));
      break;
    }
    case 13: {  // one key at 0, the others just above the weight that a sum of 1 still feels
      problem.q.values.assign(width, 0), problem.q.values[0] = 1;
      double const edge = std::log(static_cast<double>(std::numeric_limits<F>::epsilon()) / 2);
      for (std::int64_t j = 0; j < m; ++j)
        problem.k.values[static_cast<std::size_t>(j) * width] =
            static_cast<F>(j == 0 ? 0 : edge + 1e-6 * uniform(random));
      for (std::size_t j = 0; j < problem.v.values.size(); ++j)
        problem.v.values[j] = static_cast<F>(j < 2 ? 1 : 0.9999 + 1e-4 * uniform(random));
      break;
    }
    default: break;
  }
  if (random() % 3 != 0) problem.scale = family == 9 || random() % 2 ? 1.0 : static_cast<double>(static_cast<F>(0.1));
  return problem;
}

/// Changes one number of q, k or v at a time, by a few places or by a tenth, and keeps what does not lower error/bound.
/// ratios_of(row) judges a kernel's answer to the row. Returns the largest ratio of an output.
/// Fails    the surrounding TEST_CASE where any ratio passes 1
template <class F, class RatiosOf>
double climb(written<F> from, int steps, generator& random, RatiosOf&& ratios_of) {
  using bits = std::conditional_t<std::is_same_v<F, float>, std::uint32_t, std::uint64_t>;
  double best = 0;
  for (int step = 0; step < steps; ++step) {
    auto next = from;
    auto const which = random() % 6;
    auto& values = which < 2 ? next.q.values : which < 5 ? next.k.values : next.v.values;
    F& x = values[random() % values.size()];
    x = random() % 2 ? std::bit_cast<F>(std::bit_cast<bits>(x) + static_cast<bits>(random() % 65) - 32)
                     : x * static_cast<F>(1 + 0.1 * gaussian(random));
    if (!std::isfinite(x) || std::abs(x) > 40) continue;
    ratios const found = ratios_of(next);
    REQUIRE(found.worst() <= 1);
    if (found.output >= best) best = found.output, from = next;
  }
  return best;
}

}  // namespace attest::tests
