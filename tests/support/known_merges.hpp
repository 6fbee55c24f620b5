// Two normalised parts of a known kernel, and their merge by sigmoids of the difference of their LSEs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/support/kernel_arithmetic.hpp"

namespace attest::tests {

/// A normalised part: O and the LSE, in base 2 where the scores are; and its weights, where the kernel returns them.
struct known_part {
  float lse = 0;
  std::vector<float> o, weights;
};

/// How two parts are merged by a sigmoid.
struct sigmoid_merge {
  bool in_base_2 = false;
  bool both = false;  ///< σ(L_a − L_b)·a + σ(L_b − L_a)·b, L = max + log(1 + e^−|L_a − L_b|); else a − σ(L_b − L_a)(a −
                      ///< b), L_a − log σ

  float exp(arithmetic& math, float x) const { return in_base_2 ? math.exp2(x) : math.exp(x); }
  float sigmoid(arithmetic& math, float x) const { return math.div(1, math.add(1, exp(math, -x))); }

  known_part of(arithmetic& math, known_part const& a, known_part const& b) const {
    float const of_b = sigmoid(math, math.add(b.lse, -a.lse)), ahead = math.add(a.lse, -b.lse);
    float const gap = -std::abs(ahead), other = math.add(1, gap == 0 ? 1 : exp(math, gap));
    float const rest = in_base_2 ? math.log2(other) : math.log(other);
    float const of_a = sigmoid(math, ahead);
    known_part whole{
        both ? math.add(std::max(a.lse, b.lse), rest) : math.add(a.lse, -math.add(std::min(0.0f, ahead), -rest)),
        {},
        {}};
    for (std::size_t c = 0; c < a.o.size(); ++c)
      whole.o.push_back(both ? math.add(math.mul(of_a, a.o[c]), math.mul(of_b, b.o[c]))
                             : math.add(a.o[c], -math.mul(of_b, math.add(a.o[c], -b.o[c]))));
    for (float const w : a.weights) whole.weights.push_back(math.mul(w, of_a));
    for (float const w : b.weights) whole.weights.push_back(math.mul(w, of_b));
    return whole;
  }
};

}  // namespace attest::tests
