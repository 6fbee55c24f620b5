// Gradients of a worked example, for a gradient dO of the outputs that is given: enclosed by the formulas of a backward
// pass, and held to differences of the loss Σ dO·O, which know nothing of these formulas.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "proofs/worked_example.hpp"
#include "reference/real/sqrt.hpp"
#include "reference/textbook/softmax.hpp"

namespace attest::proofs {

/// A float, exactly.
constexpr number exact(float x) noexcept { return number::from(reference::value_of(x)); }

/// The gradients of Σ_ic dO_ic·O_ic by Q, K, V, with 1/√D as the scale.
///
/// Why  O = P·V and P = softmax(S), so dV = Pᵀ·dO and, with W = dO·Vᵀ, dS_ij = P_ij·(W_ij − Δ_i) for
///      Δ_i = Σ_c dO_ic·O_ic; S = Q·Kᵀ/√D gives dQ = dS·K/√D and dK = dSᵀ·Q/√D
template <std::size_t N, std::size_t M, std::size_t D, std::size_t DV>
struct worked_gradients {
  std::array<float, N * D> q{};
  std::array<float, M * D> k{};
  std::array<float, M * DV> v{};
  std::array<float, N * DV> dO{};
  typename worked_example<N, M, D, DV>::solution solved{};

  /// Requires  of to have no scale of its own
  constexpr worked_gradients(worked_example<N, M, D, DV> const& of, std::array<float, N * DV> const& d_o)
      : q(of.q), k(of.k), v(of.v), dO(d_o), solved(of.solve()) {}

  constexpr number W(std::size_t i, std::size_t j) const noexcept {
    number sum{};
    for (std::size_t c = 0; c < DV; ++c) sum = sum + exact(dO[i * DV + c]) * exact(v[j * DV + c]);
    return sum;
  }
  constexpr number delta(std::size_t i) const noexcept {
    number sum{};
    for (std::size_t c = 0; c < DV; ++c) sum = sum + exact(dO[i * DV + c]) * solved.O[i][c];
    return sum;
  }
  constexpr std::array<number, M> dS(std::size_t i) const noexcept {
    std::array<number, M> row{};
    number const mean = delta(i);
    for (std::size_t j = 0; j < M; ++j) row[j] = solved.A[i][j] * (W(i, j) - mean);
    return row;
  }
  constexpr std::array<number, D> dQ(std::size_t i) const noexcept {
    auto const slopes = dS(i);
    std::array<number, D> row{};
    for (std::size_t t = 0; t < D; ++t)
      for (std::size_t j = 0; j < M; ++j) row[t] = row[t] + slopes[j] * slope_by_q(j, t);
    return row;
  }
  constexpr std::array<number, D> dK(std::size_t j) const noexcept {
    std::array<number, D> row{};
    for (std::size_t i = 0; i < N; ++i) {
      number const slope = dS(i)[j];
      for (std::size_t t = 0; t < D; ++t) row[t] = row[t] + slope * slope_by_k(i, t);
    }
    return row;
  }
  constexpr std::array<number, DV> dV(std::size_t j) const noexcept {
    std::array<number, DV> row{};
    for (std::size_t c = 0; c < DV; ++c)
      for (std::size_t i = 0; i < N; ++i) row[c] = row[c] + solved.A[i][j] * exact(dO[i * DV + c]);
    return row;
  }

  /// Is each number of dQ and dK as near to a central difference of the loss as Taylor says that the derivative is?
  ///
  /// Why   move the scores of a row along a line, to s + h·a. The loss of the row is E[W] under softmax weights. Let w
  ///       and α be W and a less their means: the third derivative is E[wα³] − 3·E[wα]·E[α²]. So
  ///       |(L(h) − L(−h))/(2h) − L′(0)| ≤ h²/6·4·(max W − min W)·(max a − min a)³ ≤ h²·2/3·(2·max|W|)·(2·max|a|)³
  constexpr bool meet_differences() const noexcept {
    for (std::size_t i = 0; i < N; ++i) {
      auto const formed = dQ(i);
      for (std::size_t t = 0; t < D; ++t) {
        std::array<number, M> along{};
        for (std::size_t j = 0; j < M; ++j) along[j] = slope_by_q(j, t);
        if (!below(absolute(difference_quotient(i, along) - formed[t]), remainder(i, along))) return false;
      }
    }
    for (std::size_t j = 0; j < M; ++j) {
      auto const formed = dK(j);
      for (std::size_t t = 0; t < D; ++t) {
        number quotients{}, remainders{};
        for (std::size_t i = 0; i < N; ++i) {
          std::array<number, M> along{};
          along[j] = slope_by_k(i, t);
          quotients = quotients + difference_quotient(i, along), remainders = remainders + remainder(i, along);
        }
        if (!below(absolute(quotients - formed[t]), remainders)) return false;
      }
    }
    return true;
  }

 private:
  /// ∂S_ij/∂q_it and ∂S_ij/∂k_jt
  constexpr number slope_by_q(std::size_t j, std::size_t t) const noexcept { return scale * exact(k[j * D + t]); }
  constexpr number slope_by_k(std::size_t i, std::size_t t) const noexcept { return scale * exact(q[i * D + t]); }

  static constexpr number scale = reference::inverse_sqrt<width>(D);
  static constexpr std::int64_t log2_of_step = -32;

  /// Row i's part of the loss, its scores moved by `step` times `along`.
  constexpr number loss(std::size_t i, std::array<number, M> const& along, number const& step) const noexcept {
    std::array<number, M> s{};
    for (std::size_t j = 0; j < M; ++j) s[j] = solved.S[i][j] + step * along[j];
    auto const weights = reference::softmax(s);
    number sum{};
    for (std::size_t j = 0; j < M; ++j) sum = sum + weights[j] * W(i, j);
    return sum;
  }
  constexpr number difference_quotient(std::size_t i, std::array<number, M> const& along) const noexcept {
    number const h = number(1).scaled_by_power_of_two(log2_of_step);
    return (loss(i, along, h) - loss(i, along, -h)).scaled_by_power_of_two(-log2_of_step - 1);
  }
  constexpr number remainder(std::size_t i, std::array<number, M> const& along) const noexcept {
    number W_most{}, a_most{};
    for (std::size_t j = 0; j < M; ++j) {
      if (below(W_most, absolute(W(i, j)))) W_most = absolute(W(i, j));
      if (below(a_most, absolute(along[j]))) a_most = absolute(along[j]);
    }
    number const a = number(2) * a_most;
    return (number(4) * W_most * a * a * a / number(3)).scaled_by_power_of_two(2 * log2_of_step);
  }
};

}  // namespace attest::proofs
