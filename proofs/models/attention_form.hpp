// The form of a small problem of attention, and its tensors as polynomials: what models of the backward pass share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proofs/models/polynomial.hpp"

namespace attest::proofs {

/// Which dimensions a bias has; along the others it is broadcast.
struct bias_shape {
  bool heads = true, rows = true, keys = true;
};

/// `heads` query heads that share one key head, n queries a head, m keys. Row r is query r mod n of head ⌊r/n⌋.
struct attention_form {
  std::size_t heads = 1, n = 1, m = 1, d = 1, dv = 1;
  std::optional<bias_shape> bias{};
  bool softcap = false, sink = false, dropout = false;
  std::uint64_t mask = ~std::uint64_t{0};  ///< bit r·m + j: does row r see key j?

  constexpr std::size_t rows() const noexcept { return heads * n; }
  constexpr std::uint64_t masks() const noexcept { return std::uint64_t{1} << (rows() * m); }
  constexpr bool visible(std::size_t r, std::size_t j) const noexcept { return (mask >> (r * m + j) & 1) != 0; }
  constexpr bool row_is_empty(std::size_t r) const noexcept {
    for (std::size_t j = 0; j < m; ++j)
      if (visible(r, j)) return false;
    return true;
  }
  constexpr bool key_is_unseen(std::size_t j) const noexcept {
    for (std::size_t r = 0; r < rows(); ++r)
      if (visible(r, j)) return false;
    return true;
  }
  constexpr std::size_t bias_size() const noexcept {
    return bias ? (bias->heads ? heads : 1) * (bias->rows ? n : 1) * (bias->keys ? m : 1) : 0;
  }
  /// Where the bias of a pair lies. Requires a bias.
  constexpr std::size_t bias_at(std::size_t r, std::size_t j) const noexcept {
    std::size_t const h = bias->heads ? r / n : 0, i = bias->rows ? r % n : 0;
    return (h * (bias->rows ? n : 1) + i) * (bias->keys ? m : 1) + (bias->keys ? j : 0);
  }
};

/// The tensors of a call, row-major.
struct formal_tensors {
  std::vector<polynomial> q{}, dO{}, O{};  ///< [rows, d], [rows, dv], [rows, dv]
  std::vector<polynomial> k{}, v{};        ///< [m, d], [m, dv]
  std::vector<polynomial> bias{};          ///< of its shape
  std::vector<polynomial> kept{};          ///< [rows, m], with dropout: 1/(1 − p) where a weight is kept, 0 elsewhere
};

struct formal_gradients {
  std::vector<polynomial> dQ{}, dK{}, dV{}, dBias{}, dSink{};  ///< as the tensors; dSink [heads]

  constexpr formal_gradients() = default;
  constexpr explicit formal_gradients(attention_form const& form)
      : dQ(form.rows() * form.d),
        dK(form.m * form.d),
        dV(form.m * form.dv),
        dBias(form.bias_size()),
        dSink(form.sink ? form.heads : 0) {}
  friend constexpr bool operator==(formal_gradients const&, formal_gradients const&) = default;
};

}  // namespace attest::proofs
