// Compiled alone with -O3 -march=native, without fast-math (bench/CMakeLists.txt).
#include "bench/oracle_plain.hpp"

#include <cmath>
#include <vector>

namespace attest::bench {

void plain_attention(float const* q, float const* k, float const* v, std::int64_t n, std::int64_t m, std::int64_t d,
                     std::int64_t dv, double* o) {
  double const scale = 1 / std::sqrt(static_cast<double>(d));
  std::vector<double> weights(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < n; ++i) {
    double largest = -HUGE_VAL;
    for (std::int64_t j = 0; j < m; ++j) {
      double dot = 0;
      for (std::int64_t t = 0; t < d; ++t) dot += static_cast<double>(q[i * d + t]) * static_cast<double>(k[j * d + t]);
      weights[static_cast<std::size_t>(j)] = dot * scale;
      largest = std::fmax(largest, dot * scale);
    }
    double sum = 0;
    for (std::int64_t c = 0; c < dv; ++c) o[i * dv + c] = 0;
    for (std::int64_t j = 0; j < m; ++j) {
      double const weight = std::exp(weights[static_cast<std::size_t>(j)] - largest);
      sum += weight;
      for (std::int64_t c = 0; c < dv; ++c) o[i * dv + c] += weight * static_cast<double>(v[j * dv + c]);
    }
    for (std::int64_t c = 0; c < dv; ++c) o[i * dv + c] /= sum;
  }
}

}  // namespace attest::bench
