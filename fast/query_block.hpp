// One task of the kernel: a block of queries of one head against all the keys they may see.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "fast/arithmetic.hpp"
#include "fast/blocking.hpp"
#include "fast/scores.hpp"
#include "fast/values.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

/// What one thread needs beside its inputs and outputs: O(block·(d + dv + block)) numbers, allocated once.
template <class T>
struct workspace {
  explicit workspace(problem::sizes const& size)
      : queries(std::min(size.n, blocking_of<T>.queries)), panel(count(size.d, blocking_of<T>.keys)),
        scores(count(queries, blocking_of<T>.keys)), O(count(queries, size.dv)), block_O(O.size()),
        rows(count(queries, 1)), rules(rows.size()) {}

  std::int64_t queries;    ///< at most blocking_of<T>.queries
  std::vector<T> panel;    ///< [d, keys] the key block, transposed
  std::vector<T> scores;   ///< [queries, keys] S, then P
  std::vector<T> O;        ///< [queries, dv] not yet divided by l
  std::vector<T> block_O;  ///< [queries, dv] P·V of one key block
  std::vector<partial_row<machine_arithmetic<T>>> rows;
  std::vector<query_rules<T>> rules;

 private:
  static std::size_t count(std::int64_t a, std::int64_t b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  }
};

/// Which queries: [queries.first, queries.last) of head h in batch entry b. At most blocking_of<T>.queries.
struct query_block {
  std::int64_t b = 0, h = 0;
  interval queries{};
};

/// The kernel for one block of queries.
template <class T>
class query_block_kernel {
 public:
  using arithmetic = machine_arithmetic<T>;

  query_block_kernel(problem::instance<T> const& asked, problem::outputs<T> const& given, score_scale<T> const& scale,
                     query_block const& block, workspace<T>& space) noexcept
      : asked_(asked), given_(given), scale_(scale), block_(block), space_(space), size_(asked.size()),
        queries_(block.queries.size()) {
    std::int64_t const kv_head = block.h / (size_.hq / size_.hk);
    if (size_.d > 0) Q_ = {asked.q().row(block.b, block.h, block.queries.first), asked.q().stride[2]};
    if (size_.d > 0 && size_.m > 0) K_ = {asked.k().row(block.b, kv_head, 0), asked.k().stride[2]};
    if (size_.dv > 0 && size_.m > 0) V_ = {asked.v().row(block.b, kv_head, 0), asked.v().stride[2]};
  }

  /// Writes O, LSE and weights of these queries, every element of them and nothing else.
  void run() noexcept {
    start();
    interval const seen = keys_of_any(asked_.where(), block_.queries, size_.m);
    if (!seen.empty())
      for (std::int64_t first = seen.first - seen.first % step; first < seen.last; first += step)
        absorb({first, std::min(first + step, size_.m)});
    answer();
  }

 private:
  static constexpr std::int64_t step = blocking_of<T>.keys;

  void start() noexcept {
    std::fill(space_.rows.begin(), space_.rows.end(), partial_row<arithmetic>{});
    std::fill(space_.O.begin(), space_.O.end(), T(0));
    for (std::int64_t i = 0; i < queries_; ++i) {
      std::int64_t const query = block_.queries.first + i;
      auto const row_of = [&](auto const& tensor) {
        return tensor && size_.m > 0 ? tensor.row(block_.b, block_.h, query) : nullptr;
      };
      rules(i) = {visible_keys(asked_.where(), query, size_.m), row_of(asked_.mask()), row_of(asked_.bias()),
                  row_of(asked_.bias_f32())};
      if (given_.weights) std::fill_n(weights(i), size_.m, arithmetic::minus_infinity());
    }
  }

  /// One tile: scores, weights, values.
  void absorb(interval const& keys) noexcept {
    bool const all_visible = !asked_.mask() && classify(asked_.where(), block_.queries, keys) == tile_kind::full;
    matrix<T> const S{space_.scores.data(), step};
    matrix<T> const panel{space_.panel.data(), step};
    pack_keys(K_, keys, size_.d, panel);
    product<T>({Q_.data, Q_.stride}, {panel.data, panel.stride}, S, queries_, size_.d, keys.size());
    for (std::int64_t i = 0; i < queries_; ++i) {
      scale_.apply(S.row(i), keys.size());
      rules(i).add_bias(S.row(i), keys);
      if (!all_visible) rules(i).hide_invisible(S.row(i), keys);
      if (given_.weights) std::copy_n(S.row(i), keys.size(), weights(i) + keys.first);
    }
    absorb_block<arithmetic>(space_.rows.data(), space_.O.data(), size_.dv, S.data, S.stride, space_.block_O.data(),
                             queries_, keys.size(), [&] { multiply_values({S.data, S.stride}, keys, all_visible); });
  }

  void multiply_values(matrix<T const> P, interval const& keys, bool all_visible) noexcept {
    if (size_.dv == 0) return;
    matrix<T> const block_O{space_.block_O.data(), size_.dv};
    if (all_visible || all_finite(V_, keys, size_.dv))
      product<T>(P, {V_.row(keys.first), V_.stride}, block_O, queries_, keys.size(), size_.dv);
    else
      product_of_visible<T>(P, V_, block_O, space_.rules.data(), queries_, keys, size_.dv);
  }

  void answer() noexcept {
    for (std::int64_t i = 0; i < queries_; ++i) {
      std::int64_t const query = block_.queries.first + i;
      auto const& row = space_.rows[static_cast<std::size_t>(i)];
      if (size_.dv > 0)
        finish(row, space_.O.data() + i * size_.dv, size_.dv, given_.o.row(block_.b, block_.h, query));
      if (given_.lse) given_.lse(block_.b, block_.h, query, 0) = log_sum_exp(row);
      if (given_.weights) {
        // A second pass: p_j against the final maximum, from the very scores that went into l.
        weigh<arithmetic>(weights(i), size_.m, row.m);
        finish(row, weights(i), size_.m, weights(i));
      }
    }
  }

  query_rules<T>& rules(std::int64_t i) noexcept { return space_.rules[static_cast<std::size_t>(i)]; }
  T* weights(std::int64_t i) noexcept {
    return size_.m > 0 ? given_.weights.row(block_.b, block_.h, block_.queries.first + i) : nullptr;
  }

  problem::instance<T> const& asked_;
  problem::outputs<T> const& given_;
  score_scale<T> const& scale_;
  query_block const& block_;
  workspace<T>& space_;
  problem::sizes const& size_;
  std::int64_t queries_;
  matrix<T const> Q_{}, K_{}, V_{};
};

}  // namespace attest::fast
