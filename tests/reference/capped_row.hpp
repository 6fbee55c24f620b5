// Rows whose scores are capped, enclosed.
#pragma once

#include <limits>
#include <vector>

#include "reference/attention/exactly.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/exp.hpp"
#include "reference/real/log.hpp"
#include "reference/textbook/softmax_jacobian.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/many.hpp"
#include "tests/support/random_row.hpp"

namespace attest::tests {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// q = 1, the given keys and values, σ = 1.
inline written<float> row_of(std::vector<float> const& keys, std::vector<float> const& values, double softcap) {
  written<float> problem(static_cast<std::int64_t>(keys.size()), 1, 1);
  problem.q.values = {1}, problem.k.values = keys, problem.v.values = values;
  problem.scale = 1, problem.softcap = softcap;
  return problem;
}

template <unsigned W>
reference::enclosed_row<W, float> enclosed(written<float> const& problem) {
  reference::enclosed_row<W, float> row;
  reference::compiled::enclose_row(problem.instance(), 0, 0, 0, row);
  return row;
}

}  // namespace attest::tests
