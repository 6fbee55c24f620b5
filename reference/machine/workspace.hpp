// Memory of the machine tier, one object for each thread, reused from block to block: 8·(34 + 2·block_rows) bytes a
// key, with double words 8·(39 + 3·block_rows).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/bound/bound.hpp"
#include "reference/bound/records.hpp"

namespace attest::reference::machine {

inline constexpr std::size_t block_rows = 16;  ///< query rows that share one pass over the keys
inline constexpr std::size_t tile_keys = 64;   ///< keys that are converted to doubles at a time

/// The visible keys of the current row, one array for each quantity.
struct key_columns {
  std::vector<std::int64_t> j;               ///< its index
  std::vector<void const*> value;            ///< its row of V
  std::vector<double> score, score_error;    ///< ŝ_j and ρ_j ≥ |ŝ_j − s_j|
  std::vector<double> weight, weight_error;  ///< ŵ_j and η_j: e^(s_j − M) ∈ ŵ_j·(1 ± η_j)
  std::vector<double> x_lower, x_upper, score_upper, product_upper, key_norm, bias, weight_lower, weight_upper;
  std::vector<double> E, R, z, P, reference_error, group, variance, lse_error;  ///< reference/bound/formulas-inl.hpp
  std::vector<double> near, far, in_J, eta, shared_gamma;                       ///< flags are 0 or 1
  std::vector<double> weight_bound, weight_by_theorem;
  std::vector<double> score_low, weight_low, share, share_low,
      share_radius;  ///< double_word/: ŝ_j, ŵ_j and π_j as double words

  void reserve(std::size_t m, bool double_words) {
    if (double_words)
      for (auto* column : {&score_low, &weight_low, &share, &share_low, &share_radius}) column->resize(m);
    j.resize(m), value.resize(m);
    for (auto* column : {&score,
                         &score_error,
                         &weight,
                         &weight_error,
                         &x_lower,
                         &x_upper,
                         &score_upper,
                         &product_upper,
                         &key_norm,
                         &bias,
                         &weight_lower,
                         &weight_upper,
                         &E,
                         &R,
                         &z,
                         &P,
                         &reference_error,
                         &group,
                         &variance,
                         &lse_error,
                         &near,
                         &far,
                         &in_J,
                         &eta,
                         &shared_gamma,
                         &weight_bound,
                         &weight_by_theorem})
      column->resize(m);
  }
};

/// Memory of ranks_of (rank.hpp).
struct rank_memory {
  std::vector<double> above, sorted;
  std::vector<std::uint32_t> bucket, first;
  std::vector<double> lowest, records;  ///< of records_of (reference/bound/records.hpp)
  record_memory met;
};

/// The row without its sink, for Theorem T2 of docs/bound.md (keys_alone-inl.hpp).
struct row_alone {
  row_terms terms;
  double lse = 0, lse_low = 0, lse_radius = 0;
  std::vector<double> bound, warning, o_size, judged, by_theorem;     ///< dv; flags are 0 or 1
  std::vector<double> weight_upper, weight_bound, weight_by_theorem;  ///< of the keys
  row_facts facts;                                                    ///< for tests, as row_bound takes them
  double above_lower = 0, above_upper = 0;                            ///< t − LSE_K
};

struct workspace {
  std::vector<double> q;          ///< block_rows × d
  std::vector<double> k_tile;     ///< d × tile_keys, transposed
  std::vector<double> key_norm;   ///< m: ‖k_j‖₁
  std::vector<double> dot, size;  ///< block_rows × m: q·k and Σ|q_t·k_t|, computed
  std::vector<double> dot_low;    ///< block_rows × m: q·k = dot + dot_low, double_word/
  key_columns keys;
  rank_memory ranks;
  known_weights known;
  row_alone alone;
  std::vector<double> o, o_low, o_radius, o_bound, o_warning, o_known, o_known_bound, lowest, highest;  ///< dv
  std::vector<judged_by> o_by;
  std::vector<std::uint8_t> o_dull;  ///< dv: 0 or 1
  std::vector<double> value_sum, value_total,
      value_largest;  ///< dv: Σ_j|v_jc|, Σ_j v_jc, max_j|v_jc| of the head below
  std::int64_t measured_b = -1, measured_head = -1;
  std::vector<std::byte> zeros;             ///< a row of V of zeros, in any element type
  std::vector<std::uint8_t> finite_values;  ///< m, with dropout: is the row of V finite, of the head below
  std::int64_t finite_b = -1, finite_head = -1;
  std::vector<double> kept_o, kept_low, kept_radius;  ///< dv where dropout divides: o/(1 − p)

  void reserve(std::int64_t m, std::int64_t d, std::int64_t dv, bool double_words) {
    auto const keys_ = static_cast<std::size_t>(m), d_ = static_cast<std::size_t>(d);
    auto const dv_ = static_cast<std::size_t>(dv);
    q.resize(block_rows * d_);
    k_tile.resize(std::max<std::size_t>(d_, 1) * tile_keys);  // d = 0 has an address too
    key_norm.resize(keys_ + tile_keys);
    for (auto* array : {&dot, &size}) array->resize(block_rows * (keys_ + tile_keys));
    if (double_words) dot_low.resize(block_rows * (keys_ + tile_keys));
    keys.reserve(keys_ + 1, double_words);  // and a sink
    zeros.resize(dv_ * sizeof(double));
    for (auto* array : {&o, &o_low, &o_radius, &o_bound, &o_warning, &o_known, &o_known_bound, &lowest, &highest,
                        &value_sum, &value_total, &value_largest})
      array->resize(dv_);
    o_by.resize(dv_);
    o_dull.resize(dv_);
  }
};

}  // namespace attest::reference::machine
