// Two normalised parts of a known kernel, and their merge by sigmoids of the difference of their LSEs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/support/kernel_arithmetic.hpp"

namespace attest::tests {

/// A normalised part: O and the LSE, in base 2 where the scores are; and its weights, where the kernel returns them.
template <class F>
struct known_part {
  F lse = 0;
  std::vector<F> o, weights;
};

/// How two parts are merged by a sigmoid.
struct sigmoid_merge {
  bool in_base_2 = false;
  bool both = false;  ///< σ(L_a − L_b)·a + σ(L_b − L_a)·b, L = max + log(1 + e^−|L_a − L_b|); else a − σ(L_b − L_a)(a −
                      ///< b), L_a − log σ

  template <class F>
  F exp(arithmetic<F>& math, F x) const {
    return in_base_2 ? math.exp2(x) : math.exp(x);
  }
  template <class F>
  F sigmoid(arithmetic<F>& math, F x) const {
    return math.div(1, math.add(F(1), exp(math, -x)));
  }

  template <class F>
  known_part<F> of(arithmetic<F>& math, known_part<F> const& a, known_part<F> const& b) const {
    F const of_b = sigmoid(math, math.add(b.lse, -a.lse)), ahead = math.add(a.lse, -b.lse);
    F const gap = -std::abs(ahead), other = math.add(1, gap == 0 ? 1 : exp(math, gap));
    F const rest = in_base_2 ? math.log2(other) : math.log(other);
    F const of_a = sigmoid(math, ahead);
    known_part<F> whole{
        both ? math.add(std::max(a.lse, b.lse), rest) : math.add(a.lse, -math.add(std::min(F(0), ahead), -rest)),
        {},
        {}};
    for (std::size_t c = 0; c < a.o.size(); ++c)
      whole.o.push_back(both ? math.add(math.mul(of_a, a.o[c]), math.mul(of_b, b.o[c]))
                             : math.add(a.o[c], -math.mul(of_b, math.add(a.o[c], -b.o[c]))));
    for (F const w : a.weights) whole.weights.push_back(math.mul(w, of_a));
    for (F const w : b.weights) whole.weights.push_back(math.mul(w, of_b));
    return whole;
  }
};

}  // namespace attest::tests
