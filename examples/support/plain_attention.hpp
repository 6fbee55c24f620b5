// Attention in three steps that keep their matrices, as plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/support/random.hpp"
#include "examples/support/scores.hpp"

namespace attest::examples {

/// Attention as the documents write it, in float32, with the bytes of every array that it makes.
struct plain_attention {
  std::int64_t n = 0, d = 0;
  std::vector<float> Q{}, K{}, V{}, S{}, A{}, O{};

  plain_attention(std::int64_t length, std::int64_t width) : n(length), d(width) {
    normal_draws random(4);
    Q = random.normals(n * d), K = random.normals(n * d), V = random.normals(n * d);
  }
  std::span<float const> row(std::vector<float> const& X, std::int64_t i, std::int64_t width) const {
    return {X.data() + i * width, static_cast<std::size_t>(width)};
  }

  /// S = QKᵀ/√d [n, n]. Cost n²·d multiplications
  void score() {
    S.resize(static_cast<std::size_t>(n * n));
    float const scale = 1 / std::sqrt(static_cast<float>(d));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        S[static_cast<std::size_t>(i * n + j)] = scaled_dot_score(scale, row(Q, i, d), row(K, j, d));
  }
  /// A = softmax of the rows of S [n, n]. Cost n² exps
  void normalise() {
    A.resize(S.size());
    for (std::int64_t i = 0; i < n; ++i) {
      auto const s = row(S, i, n);
      float const largest = *std::max_element(s.begin(), s.end());
      float* const weights = A.data() + i * n;
      float sum = 0;
      for (std::size_t j = 0; j < s.size(); ++j) sum += weights[j] = std::exp(s[j] - largest);
      for (std::size_t j = 0; j < s.size(); ++j) weights[j] /= sum;
    }
  }
  /// O = A·V [n, d]. Cost n²·d multiplications
  void average() {
    O.assign(static_cast<std::size_t>(n * d), 0.0f);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float const weight = A[static_cast<std::size_t>(i * n + j)];
        for (std::int64_t c = 0; c < d; ++c)
          O[static_cast<std::size_t>(i * d + c)] += weight * V[static_cast<std::size_t>(j * d + c)];
      }
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>((S.size() + A.size() + O.size()) * sizeof(float)); }
};

}  // namespace attest::examples
