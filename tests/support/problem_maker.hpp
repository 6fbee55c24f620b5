// Tensors with memory of their own, to ask any question at the door.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

#include "problem/instance.hpp"

namespace attest::tests {

/// The T nearest to x; for bf16 and f16 by truncation of the significand, which is exact for the small numbers that
/// tests write down.
template <class T>
T element_from(double x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x);
  } else if constexpr (std::is_same_v<T, problem::bf16>) {
    return problem::bf16{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16)};
  } else {
    auto const sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000u : 0u);
    double const size = std::fabs(x);
    if (size != size) return {static_cast<std::uint16_t>(sign | 0x7e00u)};
    if (size >= 65536) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
    int exponent = size == 0 ? -14 : std::ilogb(size);
    if (exponent < -14) exponent = -14;
    auto const fraction = static_cast<std::uint16_t>(std::ldexp(size, 10 - exponent));  // with the hidden bit
    return {static_cast<std::uint16_t>(sign | (fraction + ((exponent + 14) << 10)))};
  }
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
