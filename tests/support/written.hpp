// Problems as a test writes them down, of one element type, with memory of their own.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "problem/instance.hpp"
#include "tests/support/owned.hpp"

namespace attest::tests {

/// The T nearest to x.
template <class T>
T element_from(double x) {
  return audit::nearest_element<T>(x);
}

/// A problem whose further tensors are absent until they have elements or a shape.
template <class T>
struct written : problem::parameters {
  owned<T> q, k, v, bias, sink;
  owned<float> bias_f32, sink_f32;
  owned<std::uint8_t> mask, block_mask, keep;
  owned<std::int32_t> q_lengths, k_lengths;
  problem::log_base base = problem::log_base::e;

  written() = default;
  /// One row, of zeros: q [1, d], k [m, d], v [m, dv].
  written(std::int64_t m, std::int64_t d, std::int64_t dv) : q({1, d}), k({m, d}), v({m, dv}) {}
  /// Normal numbers, with gaps of NaN between the rows.
  written(problem::sizes const& s, std::uint64_t seed, std::int64_t gap = 0)
      : q(owned<T>::shaped({s.b, s.hq, s.n, s.d}, gap, nan())),
        k(owned<T>::shaped({s.b, s.hk, s.m, s.d}, gap, nan())),
        v(owned<T>::shaped({s.b, s.hk, s.m, s.dv}, gap, nan())) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (auto* tensor : {&q, &k, &v}) tensor->each([&](T& x, auto...) { x = element_from<T>(normal(random)); });
    if (s.d == 0) scale = 1;
  }

  static T nan() { return element_from<T>(std::nan("")); }

  problem::arguments<T> arguments() const {
    problem::arguments<T> result;
    static_cast<problem::parameters&>(result) = *this;
    result.base = base;
    result.q = q.in(), result.k = k.in(), result.v = v.in();
    auto const give = [](auto const& from, auto& to) {
      if (!from.is_absent()) to = from.in();
    };
    give(bias, result.bias), give(sink, result.sink), give(mask, result.mask), give(keep, result.keep);
    give(bias_f32, result.bias_f32), give(sink_f32, result.sink_f32), give(block_mask, result.block_mask);
    give(q_lengths, result.q_lengths), give(k_lengths, result.k_lengths);
    return result;
  }
  /// Valid while *this lives and is not resized.
  problem::instance<T> instance() const { return problem::instance<T>::make(arguments()).value(); }
};

/// d = 1, σ = 1, q = 1: the keys are the scores.
inline written<float> with_scores(std::vector<float> const& scores, std::vector<float> const& values) {
  written<float> problem(static_cast<std::int64_t>(scores.size()), 1, 1);
  problem.q.values = {1};
  problem.k.values = scores;
  problem.v.values = values;
  return problem;
}

}  // namespace attest::tests
