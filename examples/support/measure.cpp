#include "examples/support/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attest::examples {
double seconds_of(std::function<void()> const& call, double batch_seconds, int batches) {
  using clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) {
    auto const start = clock::now();
    double passed = 0;
    std::int64_t calls = 0;
    do {
      call();
      ++calls;
      passed = std::chrono::duration<double>(clock::now() - start).count();
    } while (passed < batch_seconds);
    least = std::min(least, passed / static_cast<double>(calls));
  }
  return least;
}

double fitted_exponent(std::vector<double> const& x, std::vector<double> const& y) {
  double mean_x = 0, mean_y = 0, products = 0, squares = 0;
  auto const count = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += std::log(x[i]) / count, mean_y += std::log(y[i]) / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    squares += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return products / squares;
}

}  // namespace attest::examples
