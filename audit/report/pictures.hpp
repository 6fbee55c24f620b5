// The pictures of a finding as data: the expected weights, the weights that the kernel applied, the errors in units of
// the bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attest::audit {

/// A part of a matrix, row-major, from row first_row and column first_column on.
struct matrix_picture {
  std::int64_t first_row = 0, first_column = 0, rows = 0, columns = 0;
  std::vector<double> values;

  double& at(std::int64_t row, std::int64_t column) { return values[static_cast<std::size_t>(row * columns + column)]; }
  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// All elements of one tensor of a small problem.
struct input_listing {
  std::string name;
  std::vector<std::int64_t> shape;  ///< one axis (a sink, lengths) to five (the parts of a merge)
  std::vector<double> values;       ///< row-major; as many as the shape has places
};

/// A part of one head of the case that failed, around the element that failed.
struct finding_pictures {
  std::int64_t b = 0, h = 0;
  bool keys_only = false;    ///< the visibility probe: 1 for a key that is read, 0 for another, instead of weights
  matrix_picture expected;   ///< queries × keys: the true weights; NaN where they are NaN
  std::vector<bool> masked;  ///< the cells of `expected` whose key is not visible
  std::optional<matrix_picture> applied;
  std::string applied_by;  ///< how `applied` was found, or why it was not
  std::string output;      ///< the output whose errors are shown: "o", "lse" or "weights"
  std::optional<matrix_picture>
      errors;  ///< |got − truth|/bound; ∞ if an exact rule is broken, NaN if nothing is judged
};

}  // namespace attest::audit
