#include "reference/gradient/products.hpp"

#include <cmath>

namespace attest::reference::gradient_detail {

void multiply_both(double const* left, double const* right, std::size_t rows, std::size_t count, std::size_t columns,
                   double* sum, double* size) {
  for (std::size_t r = 0; r < rows; ++r) {
    double* const s = sum + r * columns;
    double* const a = size + r * columns;
    for (std::size_t j = 0; j < columns; ++j) s[j] = a[j] = 0;
    for (std::size_t c = 0; c < count; ++c)
      for (std::size_t j = 0; j < columns; ++j) {
        double const term = left[r * count + c] * right[c * columns + j];
        s[j] += term, a[j] += std::fabs(term);
      }
  }
}

void multiply_keys(key_sums const& sums, double const* k, std::size_t keys, std::size_t columns) {
  for (std::size_t t = 0; t < columns; ++t)
    sums.of_dX[t] = sums.of_slope[t] = sums.of_bound[t] = sums.of_bound_common[t] = 0;
  for (std::size_t j = 0; j < keys; ++j)
    for (std::size_t t = 0; t < columns; ++t) {
      double const x = k[j * columns + t], size = std::fabs(x);
      sums.of_dX[t] += sums.dX[j] * x, sums.of_slope[t] += sums.slope[j] * x;
      sums.of_bound[t] += sums.bound[j] * size, sums.of_bound_common[t] += sums.bound_common[j] * size;
    }
}

void add_rows(double const* weight, double const* error, double const* x, std::size_t keys, std::size_t columns,
              double* sum, double* bound) {
  for (std::size_t j = 0; j < keys; ++j)
    for (std::size_t t = 0; t < columns; ++t) {
      double s = 0, e = 0;
      for (std::size_t r = 0; r < block_of_rows; ++r) {
        s += weight[j * block_of_rows + r] * x[r * columns + t];
        e += error[j * block_of_rows + r] * std::fabs(x[r * columns + t]);
      }
      sum[j * columns + t] += s, bound[j * columns + t] += e;
    }
}

}  // namespace attest::reference::gradient_detail
