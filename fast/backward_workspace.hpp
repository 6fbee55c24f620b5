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

/// Key blocks that one visit of a query block meets, at most. No result depends on how many they are.
inline constexpr std::int64_t most_key_blocks = 4;

/// The sizes of a task that decide its arrays.
struct gradient_shape {
  std::int64_t dQ_rows = 0, d = 0, dv = 0;
  std::int64_t key_blocks = 1;  ///< that one visit of a query block meets
};

/// The arrays of a query block and a key block, in the form of array_layout.
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
  static gradient_workspace in(scratch& memory, gradient_shape const& of) {
    gradient_workspace space;
    space.lay_out(memory.at_least(space.lay_out(nullptr, of)), of);
    std::fill_n(space.ones, gradient_rows<T>, T(1));
    return space;
  }
  /// The bytes that this takes.
  static std::int64_t bytes(gradient_shape const& of) noexcept {
    return static_cast<std::int64_t>(gradient_workspace().lay_out(nullptr, of));
  }

  /// The same arrays, but with the arrays of key block `at` of a visit.
  gradient_workspace with_key_block(std::int64_t at) const noexcept {
    gradient_workspace other = *this;
    other.K += at * each_.K, other.V += at * each_.V, other.keys.V += at * each_.K_rows;
    other.dK.data += at * each_.dK, other.dV.data += at * each_.dV;
    return other;
  }

 private:
  /// Numbers of one key block.
  struct key_block_sizes {
    std::int64_t K = 0, V = 0, K_rows = 0, dK = 0, dV = 0;
  };

  std::size_t lay_out(std::byte* base, gradient_shape const& of) noexcept {
    constexpr std::int64_t widest = workspace<T>::widest_panel, key_block = blocking_of<T>.keys;
    std::int64_t const block = gradient_rows<T>, wide_d = rounded_up(of.d, widest), wide_dv = rounded_up(of.dv, widest);
    array_layout<T> arrays(base);
    auto const take = [&](std::int64_t count) { return arrays.take(count); };
    std::int64_t const padded_d = workspace<T>::padded(of.d), padded_dv = workspace<T>::padded(of.dv);
    each_ = {key_block * of.d + 2 * sum_lanes, key_block * of.dv + 2 * sum_lanes, key_block * wide_d,
             key_block * padded_d, key_block * padded_dv};
    K = take(of.key_blocks * each_.K), V = take(of.key_blocks * each_.V);
    keys.V = take(of.key_blocks * each_.K_rows), keys.wide = take(widest * std::max(wide_d, wide_dv));
    dK = {take(of.key_blocks * each_.dK), padded_d}, dV = {take(of.key_blocks * each_.dV), padded_dv};
    Q = take(block * of.d), dO = take(block * of.dv), Q_rows = take(block * wide_d), dO_rows = take(block * wide_dv);
    lse = take(block), delta = take(block), ones = take(block);
    S = take(block * score_stride<T>), dS = take(block * score_stride<T>), slope = take(strip_rows * score_stride<T>);
    row = take(std::max({of.d, of.dv, key_block}));
    dQ = {take(of.dQ_rows * padded_d), padded_d};
    return arrays.bytes();
  }

  key_block_sizes each_{};
};

/// As many key blocks a visit as fill `cache` bytes and a half more, so that packing a query block costs little beside
/// them.
template <class T>
constexpr std::int64_t key_blocks_a_visit(std::int64_t d, std::int64_t dv, std::int64_t cache) noexcept {
  std::int64_t const bytes = blocking_of<T>.keys * (3 * d + 2 * dv + 1) * static_cast<std::int64_t>(sizeof(T));
  return std::clamp<std::int64_t>((cache + cache / 2) / bytes, 1, most_key_blocks);
}

}  // namespace attest::fast
