// One tile of the backward pass: a query block beside a key block.
//
//   for each strip of the query block:
//     S ← Q·Kᵀ, softcap, bias                       operations::scores, finish_scores()
//     dP ← dO·Vᵀ, dropped where `keep` says so      operations::scores
//     P ← 2^(S − LSE), dS ← P·(dP − Δ)              gradient_operations::weights
//     dS ← dS·(1 − tanh²)                           with a softcap
//     P, dS ← 0 where a key is invisible            clear_invisible()
//     dQ ← dQ + dS·K                                operations::values
//   dV ← dV + Pᵀ·dO, dK ← dK + dSᵀ·Q                gradient_operations::transposed_values
#pragma once

#include <algorithm>
#include <cstdint>

#include "fast/key_side.hpp"
#include "fast/query_side.hpp"

namespace attest::fast {

/// What a task forms of a tile.
struct tile_results {
  bool dQ = false, dK_dV = false;  ///< neither: dS, without the derivative of the softcap, stays in the workspace
};

template <class E>
class backward_tile {
 public:
  using T = working<E>;

  backward_tile(backward_context<E> const& call, gradient_workspace<T> const& space, query_side<E> const& queries,
                key_side<E> const& keys) noexcept
      : call_(call),
        space_(space),
        queries_(queries),
        keys_(keys),
        ops_(call.ops),
        size_(call.instance.size()),
        has_blocks_(bool(call.instance.block_mask())) {}

  /// Adds the tile to dQ (whose row 0 is the first row of the query block), dK and dV. The strips have looked at the
  /// key block; `seen` is what they see of it, and not empty.
  void add(tile_results const& form, interval const& seen, matrix<T> const& dQ) const noexcept {
    for (query_strip<T> const& strip : queries_.strips()) {
      interval const rows = strip.rows;
      T *const S = score_row(space_.S, rows.first), *const dS = score_row(space_.dS, rows.first);
      interval computed{};
      if (!strip.seen.empty()) {
        interval const visible = relative(strip.seen);
        computed = keys_.whole_panels(visible);
        form_strip(strip, visible, computed, form.dQ || form.dK_dV);
        if (form.dQ && size_.d > 0) add_to_queries(strip, visible, dQ.from(rows.first));
        if (form.dK_dV) drop(S, strip, visible);
      }
      clear_outside(S, rows.size(), computed), clear_outside(dS, rows.size(), computed);
    }
    if (!form.dK_dV) return;
    if (size_.dv > 0) add_to_keys(space_.S, space_.dO_rows, queries_.has_finite_dO(), size_.dv, seen, space_.dV);
    if (size_.d > 0) add_to_keys(space_.dS, space_.Q_rows, queries_.has_finite_queries(), size_.d, seen, space_.dK);
  }

 private:
  static constexpr std::int64_t key_block = blocking_of<T>.keys;

  static T* score_row(T* of, std::int64_t i) noexcept { return of + i * score_stride<T>; }
  interval relative(interval const& keys) const noexcept {
    return {keys.first - keys_.keys().first, keys.last - keys_.keys().first};
  }
  query_rules<E> const& rules(std::int64_t r) const noexcept { return queries_.rules()[r]; }

  /// S ← P and dP ← dS of a strip, 0 where a key is invisible.
  void form_strip(query_strip<T> const& strip, interval const& visible, interval const& computed,
                  bool with_slope) const noexcept {
    interval const& rows = strip.rows;
    std::int64_t const first = keys_.keys().first;
    T *const S = score_row(space_.S, rows.first), *const dS = score_row(space_.dS, rows.first);
    ops_.scores(strip.Q, space_.K, size_.d, rows.size(), computed, S);
    ops_.scores(space_.dO + rows.first * size_.dv, space_.V, size_.dv, rows.size(), computed, dS);
    if (call_.cap || call_.instance.has_bias() || queries_.has_exponents())
      for (std::int64_t i = 0; i < rows.size(); ++i) finish_scores(i, rows.first + i, computed, visible);
    drop(dS, strip, visible);
    call_.gradient_ops.weights(S, dS, rows.size(), computed, space_.lse + rows.first, space_.delta + rows.first);
    // Before invisible keys become 0, since their slope can be NaN.
    for (std::int64_t i = 0; i < rows.size() && call_.cap && with_slope; ++i)
      call_.gradient_ops.multiply_by(score_row(dS, i) + visible.first, score_row(space_.slope, i) + visible.first,
                                     visible.size());
    bool const full = contains(strip.view.all, {computed.first + first, computed.last + first}) &&
                      (!has_blocks_ || (strip.whole && computed == visible));
    for (std::int64_t i = 0; i < rows.size() && !full; ++i) {
      clear_invisible(rules(rows.first + i), score_row(S, i), computed, visible);
      clear_invisible(rules(rows.first + i), score_row(dS, i), computed, visible);
    }
  }

  /// The rest of σ, softcap and bias, for row i of the strip, which is row r of the query block: as in the forward
  /// pass.
  void finish_scores(std::int64_t i, std::int64_t r, interval const& computed, interval const& visible) const noexcept {
    T* const s = score_row(space_.S, r) + computed.first;
    score_cap<T> const& cap = call_.cap;
    multiply_by_power(ops_, s, rules(r).exponent - cap.exponent, computed.size());
    if (cap) call_.gradient_ops.softcap(s, cap, computed.size(), score_row(space_.slope, i) + computed.first);
    multiply_by_power(ops_, s, cap.exponent, computed.size());
    rules(r).add_bias(ops_, score_row(space_.S, r) + visible.first,
                      {keys_.keys().first + visible.first, keys_.keys().first + visible.last});
  }

  /// x_ij ← x_ij/(1 − p), or 0 where dropout drops the weight, for the rows of a strip.
  void drop(T* x, query_strip<T> const& strip, interval const& visible) const noexcept {
    auto const& keep = call_.instance.keep();
    if (!keep) return;
    query_place place = queries_.place_of(strip.rows.first);
    for (std::int64_t i = 0; i < strip.rows.size(); ++i, queries_.advance(place))
      call_.gradient_ops.drop(score_row(x, i) + visible.first,
                              keep.row(queries_.entry(), place.h, place.i) + keys_.keys().first + visible.first,
                              call_.kept_factor, visible.size());
  }

  /// x_j ← 0 at every invisible key of the columns `computed`, whatever x_j was.
  void clear_invisible(query_rules<E> const& row, T* x, interval const& computed,
                       interval const& visible) const noexcept {
    interval const seen = intersection(relative(row.visible), visible);
    if (seen.empty()) return void(std::fill(x + computed.first, x + computed.last, T(0)));
    std::fill(x + computed.first, x + seen.first, T(0)), std::fill(x + seen.last, x + computed.last, T(0));
    std::int64_t const first = keys_.keys().first;
    if (row.mask != nullptr)
      call_.gradient_ops.clear_masked(x + seen.first, row.mask + first + seen.first, seen.size());
    row.blocks.each_hidden({first + seen.first, first + seen.last},
                           [&](interval const& some) { std::fill_n(x + (some.first - first), some.size(), T(0)); });
  }

  /// Rows ← 0 in the columns that were not computed.
  void clear_outside(T* x, std::int64_t rows, interval const& computed) const noexcept {
    std::int64_t const columns = keys_.keys().size();
    if (computed.first == 0 && computed.last >= columns) return;
    for (std::int64_t i = 0; i < rows; ++i) {
      std::fill_n(score_row(x, i), std::min(computed.first, columns), T(0));
      if (computed.last < columns) std::fill(score_row(x, i) + computed.last, score_row(x, i) + columns, T(0));
    }
  }

  /// dQ ← dQ + dS·K for the rows of a strip.
  void add_to_queries(query_strip<T> const& strip, interval const& visible, matrix<T> const& dQ) const noexcept {
    std::int64_t const rows = strip.rows.size();
    T const* const dS = score_row(space_.dS, strip.rows.first);
    if (keys_.has_finite_keys() || strip.whole)
      return ops_.values(dS, space_.keys.V, rows, visible, size_.d, space_.ones, dQ);
    // As in the forward pass: 0·NaN of a key that only other rows see would be NaN.
    for (std::int64_t i = 0; i < rows; ++i) {
      std::uint8_t shown[key_block];
      for (std::int64_t j = visible.first; j < visible.last; ++j)
        shown[j] = rules(strip.rows.first + i).shows(keys_.keys().first + j);
      ops_.visible_values(score_row(const_cast<T*>(dS), i), space_.keys.V, shown, visible, size_.d, T(1), dQ.row(i));
    }
  }

  /// C ← C + Aᵀ·B for the keys `seen`; A is P or dS, B the packed rows of dO or Q.
  void add_to_keys(T const* A, T const* B, bool finite, std::int64_t width, interval const& seen,
                   matrix<T> const& C) const noexcept {
    auto const& strips = queries_.strips();
    interval const columns = relative(seen);
    bool const whole = std::all_of(strips.begin(), strips.end(),
                                   [&](query_strip<T> const& strip) { return strip.whole && strip.seen == seen; });
    if (whole) return call_.gradient_ops.transposed_values(A, B, {0, strips.rows}, columns, width, C);
    if (!finite) return add_shown(A, B, width, columns, C);
    // Strips that see none of a group of keys are left out: their weights are 0.
    for (std::int64_t j = columns.first; j < columns.last; j += strip_rows) {
      interval const group{j, std::min(j + strip_rows, columns.last)};
      interval rows{};
      for (query_strip<T> const& strip : strips)
        if (!intersection(relative(strip.seen), group).empty()) rows = hull(rows, strip.rows);
      if (!rows.empty()) call_.gradient_ops.transposed_values(A, B, rows, group, width, C);
    }
  }

  /// The same, key by key, without the rows that do not see the key: 0·NaN would be NaN.
  void add_shown(T const* A, T const* B, std::int64_t width, interval const& columns,
                 matrix<T> const& C) const noexcept {
    static_assert(gradient_rows<T> == key_block, "visible_values() reads panels of so many rows");
    std::int64_t const rows = queries_.strips().rows;
    for (std::int64_t j = columns.first; j < columns.last; ++j) {
      std::uint8_t shown[gradient_rows<T>];
      T column[gradient_rows<T>];
      for (std::int64_t i = 0; i < rows; ++i) {
        shown[i] = rules(i).shows(keys_.keys().first + j);
        column[i] = A[i * score_stride<T> + j];
      }
      ops_.visible_values(column, B, shown, {0, rows}, width, T(1), C.row(j));
    }
  }

  backward_context<E> const& call_;
  gradient_workspace<T> const& space_;
  query_side<E> const& queries_;
  key_side<E> const& keys_;
  operations<T> const& ops_;
  problem::sizes const& size_;
  bool has_blocks_;
};

}  // namespace attest::fast
