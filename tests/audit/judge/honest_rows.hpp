// Rows that an honest kernel answers.
#pragma once

#include <limits>
#include <random>
#include <vector>

#include "tests/support/known_run.hpp"
#include "tests/support/recorded_row.hpp"

namespace attest::tests {

using problem::element_type;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A sum of twelve uniform numbers.
inline double gaussian(std::mt19937_64& random) {
  double sum = -6;
  for (int n = 0; n < 12; ++n) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return sum;
}

/// A kernel without errors in exp and log but their rounding.
inline known_kernel kernel_of(softmax_form softmax, element_type narrow = element_type::f32) {
  known_kernel kernel;
  kernel.softmax = softmax;
  kernel.how.exp_error = 0;
  kernel.how.narrow = narrow;
  return kernel;
}

/// The kernel's answer to the row; `up` says in which direction exp errs.
inline recorded_row answered(recorded_row row, known_kernel const& kernel, std::size_t block,
                             directions const& up = {1}) {
  written<float> const read = row.row();
  row_answer const answer = known_run(kernel, read, block, up).answer();
  row.o = answer.o, row.lse = {answer.lse}, row.weights = answer.weights;
  return row;
}

/// σ = 1 and one value a key.
inline recorded_row row_of(std::vector<double> const& q, std::vector<double> const& k, std::vector<double> const& v,
                           element_type type = element_type::f32) {
  recorded_row row;
  row.type = type, row.q = q, row.k = k, row.v = v;
  row.scale = 1;
  return row;
}

}  // namespace attest::tests
