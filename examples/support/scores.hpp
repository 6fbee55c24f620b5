// The score functions of a query and a key as plain loops over any numbers: floats to be timed, counted ones to count.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "examples/support/certified.hpp"
#include "reference/real/tanh.hpp"

namespace attest::examples {

/// A number that counts what is done with it.
struct counted {
  number value{};

  static inline std::int64_t multiplications = 0, tanhs = 0;

  friend counted operator+(counted const& a, counted const& b) { return {a.value + b.value}; }
  friend counted operator*(counted const& a, counted const& b) {
    ++multiplications;
    return {a.value * b.value};
  }
  friend counted tanh(counted const& a) {
    ++tanhs;
    return {reference::tanh(a.value)};
  }
};

/// q·k. Cost d multiplications
template <class T>
T dot_score(std::span<T const> q, std::span<T const> k) {
  T sum{};
  for (std::size_t t = 0; t < q.size(); ++t) sum = sum + q[t] * k[t];
  return sum;
}

/// σ·(q·k) with σ = 1/√d. Cost d + 1 multiplications
template <class T>
T scaled_dot_score(T const& scale, std::span<T const> q, std::span<T const> k) {
  return scale * dot_score(q, k);
}

/// wᵀ tanh(q' + k') of q' = W_q·q and k' = W_k·k, both computed before. Shapes w, q', k' [a]
/// Cost a multiplications, a tanhs
template <class T>
T additive_score_of_projections(std::span<T const> w, std::span<T const> q, std::span<T const> k) {
  using std::tanh;
  T score{};
  for (std::size_t r = 0; r < w.size(); ++r) score = score + w[r] * tanh(q[r] + k[r]);
  return score;
}

/// wᵀ tanh(W_q·q + W_k·k). Shapes w [a], W_q and W_k [a, d], q and k [d]
/// Cost a·(2d + 1) multiplications, a tanhs
template <class T>
T additive_score(std::span<T const> w, std::span<T const> W_q, std::span<T const> q, std::span<T const> W_k,
                 std::span<T const> k) {
  using std::tanh;
  T score{};
  std::size_t const d = q.size();
  for (std::size_t r = 0; r < w.size(); ++r)
    score = score + w[r] * tanh(dot_score(W_q.subspan(r * d, d), q) + dot_score(W_k.subspan(r * d, d), k));
  return score;
}

/// qᵀ·W·k. Shapes q, k [d], W [d, d]
/// Cost d·(d + 1) multiplications
template <class T>
T bilinear_score(std::span<T const> q, std::span<T const> W, std::span<T const> k) {
  T score{};
  std::size_t const d = q.size();
  for (std::size_t s = 0; s < d; ++s) score = score + q[s] * dot_score(W.subspan(s * d, d), k);
  return score;
}

}  // namespace attest::examples
