// The working memory of one thread in the backward pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fast/workspace.hpp"

namespace attest::fast {

/// Rows of one query block in the backward pass. Blocks lie at absolute rows of the kv head, so that the tree in which
/// dK_j and dV_j are summed is a function of the rows' places alone. As many as keys of a key block: then one number
/// says how long the sums inside a block are (backward_model).
template <std::floating_point T>
inline constexpr std::int64_t gradient_rows = blocking_of<T>.keys;

/// The arrays of a query block and a key block. Behind each is memory for vectors that a loop reads or writes beyond
/// the end.
template <class T>
struct gradient_workspace {
  workspace<T> keys;     ///< of the panels: `wide` and V, which holds the rows of K for dQ
  T* K = nullptr;        ///< [keys/panel, d, panel] K for scores
  T* V = nullptr;        ///< [keys/panel, dv, panel] V for dP
  matrix<T> dK{}, dV{};  ///< [keys, d], [keys, dv]
  T* Q = nullptr;        ///< [rows, d] scaled queries
  T* dO = nullptr;       ///< [rows, dv]
  T* Q_rows = nullptr;   ///< [d/panel, rows, panel] queries
  T* dO_rows = nullptr;  ///< [dv/panel, rows, panel]
  T* lse = nullptr;      ///< [rows] in units of log₂
  T* delta = nullptr;    ///< [rows]
  T* ones = nullptr;     ///< [rows]
  T* S = nullptr;        ///< [rows, score_stride] scores, then P
  T* dS = nullptr;       ///< [rows, score_stride] dP, then dS
  T* slope = nullptr;    ///< [strip_rows, score_stride] the derivative of the softcap
  T* row = nullptr;      ///< [max(d, dv, keys)] one row
  matrix<T> dQ{};        ///< [rows of the task, d]

  /// Lays the arrays out in `memory`, which grows if it is too small.
  static gradient_workspace in(scratch& memory, std::int64_t dQ_rows, std::int64_t d, std::int64_t dv) {
    gradient_workspace space;
    space.lay_out(memory.at_least(space.lay_out(nullptr, dQ_rows, d, dv)), dQ_rows, d, dv);
    std::fill_n(space.ones, gradient_rows<T>, T(1));
    return space;
  }
  /// The bytes that this takes.
  static std::int64_t bytes(std::int64_t dQ_rows, std::int64_t d, std::int64_t dv) noexcept {
    return static_cast<std::int64_t>(gradient_workspace().lay_out(nullptr, dQ_rows, d, dv));
  }

 private:
  std::size_t lay_out(std::byte* base, std::int64_t dQ_rows, std::int64_t d, std::int64_t dv) noexcept {
    constexpr std::int64_t widest = workspace<T>::widest_panel, key_block = blocking_of<T>.keys;
    std::int64_t const block = gradient_rows<T>, wide_d = rounded_up(d, widest), wide_dv = rounded_up(dv, widest);
    std::size_t used = 0;
    auto const take = [&](std::int64_t count) {
      std::byte* const array = base == nullptr ? nullptr : base + used;
      used += (static_cast<std::size_t>(count + 2 * sum_lanes) * sizeof(T) + scratch::line - 1) / scratch::line *
              scratch::line;
      return reinterpret_cast<T*>(array);
    };
    std::int64_t const padded_d = workspace<T>::padded(d), padded_dv = workspace<T>::padded(dv);
    keys.wide = take(widest * std::max(wide_d, wide_dv)), keys.V = take(key_block * wide_d);
    K = take(key_block * d), V = take(key_block * dv);
    dK = {take(key_block * padded_d), padded_d}, dV = {take(key_block * padded_dv), padded_dv};
    Q = take(block * d), dO = take(block * dv), Q_rows = take(block * wide_d), dO_rows = take(block * wide_dv);
    lse = take(block), delta = take(block), ones = take(block);
    S = take(block * score_stride<T>), dS = take(block * score_stride<T>), slope = take(strip_rows * score_stride<T>);
    row = take(std::max({d, dv, key_block}));
    dQ = {take(dQ_rows * padded_d), padded_d};
    return used;
  }
};

}  // namespace attest::fast
