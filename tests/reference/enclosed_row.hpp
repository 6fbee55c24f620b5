// The enclosed first row of a problem.
#pragma once

#include <limits>

#include "reference/attention/attention.hpp"
#include "reference/attention/exactly.hpp"
#include "reference/compiled/row.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "tests/support/many.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/random_row.hpp"

namespace attest::tests {

using reference::ball;
using reference::enclosed_row;
using reference::value_kind;

inline constexpr float inf = std::numeric_limits<float>::infinity(), NaN = std::numeric_limits<float>::quiet_NaN();

template <unsigned W = 128, class T>
enclosed_row<W, T> row_of(written<T> const& problem) {
  enclosed_row<W, T> row;
  reference::compiled::enclose_row(problem.instance(), 0, 0, 0, row);
  return row;
}
template <unsigned W = 128, class T>
ball<W> output_of(written<T> const& problem, std::int64_t c = 0) {
  auto const found = reference::compiled::output(problem.instance(), row_of<W>(problem), c);
  REQUIRE(found.kind == value_kind::finite);
  return found.value;
}
inline value_kind kind_of(written<float> const& problem, std::int64_t c = 0) {
  return reference::compiled::output(problem.instance(), row_of(problem), c).kind;
}

}  // namespace attest::tests
