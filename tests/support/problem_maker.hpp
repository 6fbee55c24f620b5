// Problems with memory of their own, as a test writes them down.
#pragma once

#include <cstdint>
#include <optional>
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

/// One row of attention as a test writes it down: q [1, d], k [m, d], v [m, dv].
template <class T>
struct one_row : problem::parameters {
  owned<T> q, k, v;
  std::vector<T> bias;             ///< empty, or m
  std::vector<std::uint8_t> mask;  ///< empty, or m
  std::vector<T> sink;             ///< empty, or 1
  std::vector<std::uint8_t> keep;  ///< empty, or m
  problem::log_base base = problem::log_base::e;

  one_row(std::int64_t m, std::int64_t d, std::int64_t dv) : q({1, d}), k({m, d}), v({m, dv}) {}

  problem::arguments<T> arguments() const {
    problem::arguments<T> result;
    result.q = q.in(), result.k = k.in(), result.v = v.in();
    if (!bias.empty())
      result.bias =
          problem::tensor<T const>{bias.data(), problem::layout::compact({static_cast<std::int64_t>(bias.size())})};
    if (!mask.empty())
      result.mask = problem::tensor<std::uint8_t const>{
          mask.data(), problem::layout::compact({static_cast<std::int64_t>(mask.size())})};
    if (!sink.empty()) result.sink = problem::tensor<T const>{sink.data(), problem::layout::compact({1})};
    if (!keep.empty())
      result.keep = problem::tensor<std::uint8_t const>{
          keep.data(), problem::layout::compact({static_cast<std::int64_t>(keep.size())})};
    static_cast<problem::parameters&>(result) = *this;
    result.base = base;
    return result;
  }
  /// Valid while *this lives and is not resized.
  problem::instance<T> instance() const { return problem::instance<T>::make(arguments()).value(); }
};

/// d = 1, σ = 1, q = 1: the keys are the scores.
inline one_row<float> with_scores(std::vector<float> const& scores, std::vector<float> const& values) {
  one_row<float> problem(static_cast<std::int64_t>(scores.size()), 1, 1);
  problem.q.values = {1};
  problem.k.values = scores;
  problem.v.values = values;
  return problem;
}

}  // namespace attest::tests
