// Numbers and vectors of balls, drawn.
#pragma once

#include <cstdint>

#include "reference/attention/attention.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/decimal.hpp"
#include "reference/real/tanh.hpp"
#include "reference/textbook/cosine.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "reference/textbook/memory.hpp"
#include "reference/textbook/projection.hpp"
#include "reference/textbook/scoring/additive.hpp"
#include "reference/textbook/scoring/bilinear.hpp"
#include "reference/textbook/scoring/scaled_dot.hpp"
#include "reference/textbook/softmax_axis.hpp"
#include "reference/textbook/softmax_jacobian.hpp"
#include "reference/textbook/variance.hpp"
#include "tests/support/property.hpp"

namespace attest::tests {

using namespace attest::reference;
using number = ball<128>;

inline number dyadic(std::int64_t significand, std::int64_t exponent) {
  return number(significand).scaled_by_power_of_two(exponent);
}

/// Exact numbers of every size up to 2^8.
inline number drawn_number() {
  return dyadic(*rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'001), *rc::gen::inRange<std::int64_t>(-60, -12));
}

inline bool is_exactly(number const& x, std::int64_t value) {
  return x.is_exact() && certain_sign(x - number(value)) == 0;
}

/// radius ≤ 2^log2·|mid|
template <unsigned W>
bool radius_within(ball<W> const& x, std::int64_t log2) {
  return x.radius <= x.upper_size_of_mid().scaled(log2);
}

}  // namespace attest::tests
