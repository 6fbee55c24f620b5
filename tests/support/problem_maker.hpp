// Tensors with memory of their own, to ask any question at the door.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "problem/instance.hpp"

namespace attest::tests {

/// The T nearest to x.
template <class T>
T element_from(double x) {
  return audit::nearest_element<T>(x);
}

/// A compact tensor that owns its elements.
template <class T>
struct owned {
  std::vector<T> values;
  problem::layout where{};

  owned() = default;
  owned(std::initializer_list<std::int64_t> shape, T fill = T{}) : where(problem::layout::compact(shape)) {
    std::size_t count = 1;
    for (auto const size : shape) count *= static_cast<std::size_t>(size);
    values.assign(count, fill);
  }
  owned(std::initializer_list<std::int64_t> shape, std::initializer_list<double> numbers) : owned(shape) {
    std::size_t at = 0;
    for (double const x : numbers) values.at(at++) = element_from<T>(x);
  }
  problem::tensor<T const> in() const { return {values.data(), where}; }
  problem::tensor<T> out() { return {values.data(), where}; }
};

/// One row of attention as a test writes it down: q [1, d], k [m, d], v [m, dv].
template <class T>
struct one_row : problem::parameters {
  owned<T> q, k, v;
  std::vector<T> bias;                ///< empty, or m
  std::vector<std::uint8_t> mask;     ///< empty, or m

  one_row(std::int64_t m, std::int64_t d, std::int64_t dv) : q({1, d}), k({m, d}), v({m, dv}) {}

  problem::arguments<T> asked() const {
    problem::arguments<T> made;
    made.q = q.in(), made.k = k.in(), made.v = v.in();
    if (!bias.empty())
      made.bias = problem::tensor<T const>{bias.data(),
                                           problem::layout::compact({static_cast<std::int64_t>(bias.size())})};
    if (!mask.empty())
      made.mask = problem::tensor<std::uint8_t const>{
          mask.data(), problem::layout::compact({static_cast<std::int64_t>(mask.size())})};
    static_cast<problem::parameters&>(made) = *this;
    return made;
  }
  /// Valid while *this lives and is not resized.
  problem::instance<T> instance() const { return problem::instance<T>::make(asked()).value(); }
};

}  // namespace attest::tests
