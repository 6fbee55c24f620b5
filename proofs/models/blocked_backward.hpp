// The blocked backward of attention (FlashAttention-2) over polynomials. The forward leaves O and, of each row, the LSE
// L. P is formed again, tile by tile:
//
//   Δ_i = Σ_c dO_ic·O_ic
//   P_ij = e^{s_ij − L_i},  dS_ij = P_ij·(Σ_c dO_ic·v_jc − Δ_i),  dX_ij = dS_ij·g′_ij
//   over the query blocks:  dV_j += P_ij·dO_i,  dK_j += dX_ij·q_i
//   over the key blocks:    dQ_i += dX_ij·k_j
//   at the end:             dQ and dK times σ
//
// Query blocks are cut from the rows of all heads of a group, one after the other, so that a block may reach from one
// head into the next. A model: it stands for kernels of this form, and is no code that runs in fast/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proofs/models/attention_form.hpp"
#include "proofs/models/formal_attention.hpp"

namespace attest::proofs {

struct index_block {
  std::size_t first = 0, last = 0;  ///< first ≤ index < last
};

/// Up to 8 indices, cut into blocks.
class cutting {
 public:
  /// Bit g of `cuts`: do index g and index g + 1 lie in different blocks?
  constexpr cutting(std::size_t size, std::uint64_t cuts) {
    std::size_t first = 0;
    for (std::size_t at = 1; at <= size; ++at)
      if (at == size || (cuts >> (at - 1) & 1) != 0) blocks_[count_++] = {first, at}, first = at;
  }
  constexpr index_block const* begin() const noexcept { return blocks_.data(); }
  constexpr index_block const* end() const noexcept { return blocks_.data() + count_; }

 private:
  std::array<index_block, 8> blocks_{};
  std::size_t count_ = 0;
};

/// In which order tiles are visited, and where their sums wait.
enum class schedule : std::uint8_t {
  one_pass,    ///< key blocks outside, query blocks inside; all gradients are added to where they lie
  parts,       ///< the same, with a dQ of its own for each key block, and a dK and dV of its own for each query block,
               ///< which are added afterwards
  two_passes,  ///< dQ with query blocks outside, then dK and dV with key blocks outside: each tile is formed twice
};

class blocked_backward {
 public:
  constexpr blocked_backward(formal_attention const& arithmetic, formal_tensors const& given)
      : arithmetic_(arithmetic), form_(arithmetic.form()), given_(given), delta_(form_.rows()) {
    for (std::size_t r = 0; r < form_.rows(); ++r) {
      if (form_.row_is_empty(r)) continue;  // its LSE says so: Q and dO are not read
      for (std::size_t c = 0; c < form_.dv; ++c) delta_[r] += given.dO[r * form_.dv + c] * given.O[r * form_.dv + c];
    }
  }

  constexpr formal_gradients run(cutting const& queries, cutting const& keys, schedule how) const {
    formal_gradients all(form_);
    if (how == schedule::two_passes)
      for (index_block const& rows : queries)
        for (index_block const& columns : keys) add_to_queries(tile(rows, columns), all);
    std::vector<formal_gradients> of_rows(form_.rows(), formal_gradients(form_));
    for (index_block const& columns : keys) {
      formal_gradients of_keys(form_);
      for (index_block const& rows : queries) {
        auto const formed = tile(rows, columns);
        if (how != schedule::two_passes) add_to_queries(formed, how == schedule::parts ? of_keys : all);
        add_to_keys(formed, how == schedule::parts ? of_rows[rows.first] : all);
      }
      if (how == schedule::parts) add(of_keys.dQ, all.dQ), add(of_keys.dBias, all.dBias);
    }
    if (how == schedule::parts)
      for (index_block const& rows : queries) add(of_rows[rows.first].dK, all.dK), add(of_rows[rows.first].dV, all.dV);
    for (polynomial& x : all.dQ) x = arithmetic_.scale() * x;
    for (polynomial& x : all.dK) x = arithmetic_.scale() * x;
    for (std::size_t r = 0; form_.sink && r < form_.rows(); ++r) all.dSink[r / form_.n] += sink_gradient(r);
    return all;
  }

  /// Δ_r, formed from O.
  constexpr polynomial const& delta(std::size_t r) const { return delta_[r]; }
  /// Δ_r, as a kernel may form it from the weights: Σ_j P_rj·W_rj over the visible keys.
  constexpr polynomial delta_of_weights(std::size_t r) const {
    polynomial sum;
    for (pair const& at : tile_of_row(r)) sum += at.P * at.W;
    return sum;
  }
  /// Σ_j dS_rj over the visible keys, and the sink.
  constexpr polynomial row_sum(std::size_t r) const {
    polynomial sum = sink_gradient(r);
    for (pair const& at : tile_of_row(r)) sum += at.dS;
    return sum;
  }

 private:
  /// A visible pair of a tile.
  struct pair {
    std::size_t r = 0, j = 0;
    polynomial P{}, W{}, dS{}, dX{};
  };

  constexpr polynomial kept(std::size_t r, std::size_t j) const {
    return form_.dropout ? given_.kept[r * form_.m + j] : polynomial(1);
  }
  /// dS of the sink, −P_r,sink·Δ_r.
  constexpr polynomial sink_gradient(std::size_t r) const {
    return polynomial(-1) * arithmetic_.sink_probability(r) * delta_[r];
  }
  /// s_ij of a visible pair; g′ is its slope in the score before the softcap.
  constexpr polynomial score(std::size_t r, std::size_t j, polynomial& slope) const {
    polynomial s;
    for (std::size_t t = 0; t < form_.d; ++t) s += given_.q[r * form_.d + t] * given_.k[j * form_.d + t];
    s = arithmetic_.scale() * s;
    if (form_.softcap) {
      polynomial const t = arithmetic_.capped_tanh(s);
      s = arithmetic_.times_cap(t);
      slope = polynomial(1) - t * t;
    }
    if (form_.bias) s += given_.bias[form_.bias_at(r, j)];
    return s;
  }
  constexpr std::vector<pair> tile(index_block const& rows, index_block const& columns) const {
    std::vector<pair> formed;
    for (std::size_t r = rows.first; r < rows.last; ++r)
      for (std::size_t j = columns.first; j < columns.last; ++j) {
        if (!form_.visible(r, j)) continue;
        pair at{.r = r, .j = j};
        polynomial slope(1);
        at.P = arithmetic_.probability(score(r, j, slope), r);
        for (std::size_t c = 0; c < form_.dv; ++c) at.W += given_.dO[r * form_.dv + c] * given_.v[j * form_.dv + c];
        at.W = kept(r, j) * at.W;
        at.dS = at.P * (at.W - delta_[r]);
        at.dX = at.dS * slope;
        formed.push_back(at);
      }
    return formed;
  }
  constexpr std::vector<pair> tile_of_row(std::size_t r) const { return tile({r, r + 1}, {0, form_.m}); }

  /// What a tile adds to dQ and dBias.
  constexpr void add_to_queries(std::vector<pair> const& tile, formal_gradients& to) const {
    for (pair const& at : tile) {
      for (std::size_t t = 0; t < form_.d; ++t) to.dQ[at.r * form_.d + t] += at.dX * given_.k[at.j * form_.d + t];
      if (form_.bias) to.dBias[form_.bias_at(at.r, at.j)] += at.dS;
    }
  }
  /// What a tile adds to dK and dV.
  constexpr void add_to_keys(std::vector<pair> const& tile, formal_gradients& to) const {
    for (pair const& at : tile) {
      for (std::size_t t = 0; t < form_.d; ++t) to.dK[at.j * form_.d + t] += at.dX * given_.q[at.r * form_.d + t];
      for (std::size_t c = 0; c < form_.dv; ++c)
        to.dV[at.j * form_.dv + c] += kept(at.r, at.j) * at.P * given_.dO[at.r * form_.dv + c];
    }
  }
  static constexpr void add(std::vector<polynomial> const& part, std::vector<polynomial>& to) {
    for (std::size_t at = 0; at < to.size(); ++at) to[at] += part[at];
  }

  formal_attention const& arithmetic_;
  attention_form form_;
  formal_tensors given_;
  std::vector<polynomial> delta_;
};

}  // namespace attest::proofs
