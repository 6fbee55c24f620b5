// The memory of gradient_source: the group in hand, its sums over rows, and the sums over groups.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "reference/gradient/gradients.hpp"
#include "reference/gradient/products.hpp"
#include "reference/gradient/row_reader.hpp"
#include "reference/gradient/sums.hpp"

namespace attest::reference::gradient_detail {

/// One element of dBias or dSink as it is summed (Lemma 13).
struct shared_sum {
  double mid = 0, off = 0;     ///< the exact sum, of its terms' radii
  double error = 0, size = 0;  ///< Σe^S, Σ|dS|
  double count = 0;            ///< terms
  value_kind kind = value_kind::finite;
  bool judged = true;

  void add(enclosure const& term, double bound, bool row_is_judged) noexcept {
    mid += term.mid, off += term.off, error += bound, size += term.size(), count += 1;
    judged = judged && row_is_judged;
  }
  void add(shared_sum const& other) noexcept {
    mid += other.mid, off += other.off, error += other.error, size += other.size, count += other.count;
    kind = sum_of_kinds(kind, other.kind), judged = judged && other.judged;
  }
};

/// The sums over rows that belong to one key.
struct key_totals {
  double visible = 0;           ///< rows that see the key: n_j or more
  double live = 0;              ///< rows in which it has a weight so far
  double weights = 0;           ///< ΣP⁺_ij
  double terms_of_dX = 0;       ///< Σ(|dX_ij| + e^X_ij)
  double off_V = 0, off_K = 0;  ///< the largest radius of a term over its bound: of dV, of dK
  bool judged = true;
  path_terms path_V{}, path_K{};
};

/// Two sums over rows for each key and column, their sizes head by head (Lemma 12), and kinds.
struct column_sums {
  std::vector<double> mid, bound, head, head_sizes;  ///< [keys, padded columns]
  std::vector<value_kind> kind;                      ///< [keys, columns]
};

/// Consecutive rows of one query head, i0 ≤ i < i0 + count.
struct row_run {
  std::int64_t h = 0, i0 = 0, count = 0;
};

template <class T>
struct source_state {
  problem::instance<T> const* p = nullptr;
  gradient_inputs<T> inputs{};
  gradient_terms terms{};
  std::optional<machine::row_source<T>> rows;
  ball_row_reader<T> balls;
  group_gradients found;
  std::vector<shared_sum> dbias, dsink;
  std::array<std::int64_t, 4> dbias_shape{}, dsink_shape{};

  // The group: K, V as doubles; what of them is not finite.
  std::size_t keys = 0, key_stride = 0, d = 0, d_stride = 0, dv = 0, dv_stride = 0;
  std::vector<double> k, v_transposed, value_norm, largest_k;
  std::vector<char> k_is_finite, v_is_finite;
  double largest_q = 0, largest_dO = 0;
  // What of the group is wanted; null: all. The place of a key among the results, −1: it has none.
  wanted_rows const* wanted = nullptr;
  std::vector<std::ptrdiff_t> place_of_key;
  std::size_t kept_keys = 0;       ///< keys that have one
  double runs = 0;                 ///< blocks of rows of the group, over all heads, if not all are needed
  std::int64_t first_row = 0;      ///< of the block
  std::vector<key_totals> totals;  // by the place of the key, as the sums and the weights
  column_sums sums_K, sums_V;

  // A block of rows.
  std::vector<double> q, dO, dO_compact, dO_V, dO_V_size;
  std::vector<double> weight_V, error_V, weight_K, error_K;      // [keys, block_of_rows]
  std::vector<double> row_dX, row_slope, row_bound, row_common;  // [keys]
  std::vector<double> row_centred, row_beside;                   // [keys]: form (c), its factors of |k − μ| and of |k|
  std::vector<double> sum_dX, sum_slope, sum_bound, sum_common;  // [columns]
  std::array<bool, block_of_rows> plain{};
  std::size_t first_key = 0, last_key = 0;  ///< of the places of keys with a weight in the block: first ≤ at < last
  gradient_row row;
  std::function<void(gradient_row const&)> observe;
  // Of the row in hand: the largest radius of a term of dQ over its bound by (a), by (b), Σ(|dX_j| + e^X_j), Σ of the
  // radii of π_jg′_j, Σπ_jg′_j.
  double sum_off = 0, common_off = 0, total_dX = 0, slope_off = 0, slope_sum = 0;

  void begin_group(std::int64_t b, std::int64_t g, wanted_rows const* some);
  std::int64_t kept_key(std::size_t place) const {
    return wanted ? wanted->keys[place] : static_cast<std::int64_t>(place);
  }
  /// Where the results of a row of dQ lie; null: they are not wanted.
  gradient_element* result_of_row(std::int64_t h, std::int64_t i);
  void count_rows(std::int64_t b, std::int64_t g);
  std::vector<row_run> needed_runs() const;
  void block(std::int64_t b, std::int64_t h, std::int64_t i0, std::size_t rows_of_block);
  void load_rows(std::int64_t b, std::int64_t h, std::int64_t i0, std::size_t rows_of_block);
  bool sees_only_finite(std::int64_t b, std::int64_t h, std::int64_t i) const;
  void finish_row(std::size_t at);
  void add_key(std::size_t at, gradient_key const& key, std::size_t of_key, double rows_h);
  void add_row(std::size_t at);
  void add_kinds();
  void write_dQ();
  double centred_bound(std::size_t t, double mean, double off) const;
  void add_shared();
  void end_head();
  void write_keys();
  std::size_t dbias_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
};

}  // namespace attest::reference::gradient_detail
