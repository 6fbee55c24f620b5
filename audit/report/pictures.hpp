// Matrices to look at beside a finding: the weights asked for and applied, the errors in units of the bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attest::audit {

/// A part of a matrix, row-major: rows first_row …, columns first_column … .
struct matrix_picture {
  std::int64_t first_row = 0, first_column = 0, rows = 0, columns = 0;
  std::vector<double> values;

  double& at(std::int64_t row, std::int64_t column) { return values[static_cast<std::size_t>(row * columns + column)]; }
  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// One tensor of a small problem, whole.
struct input_listing {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;  ///< row-major
};

/// One head of the case that failed, around the element that failed.
struct finding_pictures {
  std::int64_t b = 0, h = 0;
  bool keys_only = false;    ///< 1 where a key is seen, 0 where not (the visibility probe), instead of weights
  matrix_picture asked;      ///< queries × keys: the true weights; NaN where they are NaN
  std::vector<bool> masked;  ///< of `asked`: the key is not visible
  std::optional<matrix_picture> applied;
  std::string applied_by;                ///< how `applied` was seen; or why it was not
  std::string output;                    ///< whose errors: "o", "lse" or "weights"
  std::optional<matrix_picture> errors;  ///< |got − truth|/bound; ∞ where a rule is broken, NaN where nothing is judged
};

}  // namespace attest::audit
