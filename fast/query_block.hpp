// One task of the kernel: a block of queries that read one kv head, against some or all of their keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fast/algorithm/arithmetic.hpp"
#include "fast/algorithm/band.hpp"
#include "fast/query_rows.hpp"
#include "fast/scale.hpp"
#include "fast/workspace.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

/// Which queries, of which kv head, and which of the keys' splits.
struct query_block {
  std::int64_t b = 0, kv_head = 0;
  interval rows{};    ///< row r is query r % n of head kv_head·(hq/hk) + r / n
  interval splits{};  ///< split c is keys [c·split, (c+1)·split)
};

/// What all tasks of a call share.
template <class E>
struct call_context {
  problem::instance<E> const& asked;
  problem::outputs<E> const& given;
  operations<working<E>> const& does;
  score_scale<working<E>> scale;
  score_cap<working<E>> cap;
};

/// Brings rows of a matrix closer. What is not there is not touched: prefetching never faults.
template <class T>
void fetch_rows(matrix<T const> from, interval const& rows, std::int64_t width) noexcept {
  constexpr auto line = static_cast<std::int64_t>(scratch::line / sizeof(T));
  for (std::int64_t j = rows.first; j < rows.last; ++j)
    for (std::int64_t c = 0; c < width; c += line) __builtin_prefetch(from.row(j) + c, 0, 2);
}

/// The kernel for one block of queries, stored as E, computed in T.
template <class E>
class query_block_kernel {
 public:
  using T = working<E>;
  using arithmetic = machine_arithmetic<T>;

  query_block_kernel(call_context<E> const& call, query_block const& block, workspace<T> const& space,
                     query_rules<E>* rules, strip_view* strips) noexcept
      : asked_(call.asked), given_(call.given), does_(call.does), scale_(call.scale), cap_(call.cap), block_(block),
        space_(space), rules_(rules), strips_(strips), size_(call.asked.size()), rows_(block.rows.size()) {
    if (size_.d > 0 && size_.m > 0) K_ = {asked_.k().row(block.b, block.kv_head, 0), asked_.k().stride[2]};
    if (size_.dv > 0 && size_.m > 0) V_ = {asked_.v().row(block.b, block.kv_head, 0), asked_.v().stride[2]};
  }

  /// space.states and space.O ← the partial rows of the block's splits, merged in order.
  void run() noexcept {
    start();
    clear(space_.states, space_.O);
    for (std::int64_t c = block_.splits.first; c < block_.splits.last; ++c) {
      interval const keys = intersection({c * split, std::min((c + 1) * split, size_.m)}, seen_);
      if (keys.empty()) continue;
      bool const first = c == block_.splits.first;
      if (!first) clear(space_.next, space_.next_O);
      auto const& states = first ? space_.states : space_.next;
      auto const& O = first ? space_.O : space_.next_O;
      for (std::int64_t at = keys.first - keys.first % step; at < keys.last; at += step)
        absorb({at, std::min(at + step, size_.m)}, states, O);
      if (!first) merge_rows(space_.next, space_.next_O);
    }
  }

  /// Adds partial rows of later keys to those of run().
  void merge_rows(row_states<T> const& other, matrix<T> const& other_O) noexcept {
    for (std::int64_t r = 0; r < rows_; ++r)
      merge<arithmetic>({space_.states.m + r, space_.states.l + r * sum_lanes, nullptr}, space_.O.row(r),
                        {other.m + r, other.l + r * sum_lanes, nullptr}, other_O.row(r), size_.dv);
  }

  /// Writes O, LSE and weights of these queries, every element of them and nothing else.
  void answer() noexcept {
    query_place at = place(0);
    for (std::int64_t r = 0; r < rows_; ++r, advance(at)) {
      T const* const l = space_.states.l + r * sum_lanes;
      T const m = space_.states.m[r];
      T* const o = size_.dv == 0 ? nullptr : here(given_.o.row(block_.b, at.h, at.i), space_.wide);
      T const sum = does_.finish(space_.O.row(r), l, size_.dv, o);
      if (size_.dv > 0) store(o, size_.dv, given_.o.row(block_.b, at.h, at.i));
      if (given_.lse) given_.lse(block_.b, at.h, at.i, 0) = arithmetic::log_sum_exp(m, sum);
      if (!given_.weights || size_.m == 0) continue;
      weigh_again(m, l, score_row(r));
      store(score_row(r), size_.m, given_.weights.row(block_.b, at.h, at.i));
    }
  }

 private:
  static constexpr std::int64_t step = blocking_of<T>.keys, split = blocking_of<T>.split;

  query_place place(std::int64_t r) const noexcept {
    std::int64_t const row = block_.rows.first + r;
    return {block_.kv_head * (size_.hq / size_.hk) + row / size_.n, row % size_.n};
  }

  /// From the place of a row to that of the next: without place()'s divisions.
  void advance(query_place& at) const noexcept {
    if (++at.i == size_.n) at.i = 0, ++at.h;
  }

  /// The memory of a stored row itself where numbers are stored as they are computed, else `room`.
  static T* here(E* stored, T* room) noexcept {
    if constexpr (is_narrow<E>) return room;
    else return stored;
  }

  /// What here() made of a row, to where it belongs.
  void store(T const* row, std::int64_t count, E* to) const noexcept {
    if constexpr (is_narrow<E>) std::get<row_conversions<E>>(does_.stored).narrow(row, count, to);
  }

  /// Rows of K or V as numbers: themselves, or a copy of at most widest_panel of them.
  matrix<T const> wide(matrix<E const> const& from, interval const& rows, std::int64_t width) const noexcept {
    if constexpr (is_narrow<E>) {
      for (std::int64_t j = rows.first; j < rows.last; ++j)
        converted(does_, from.row(j), width, space_.wide + (j - rows.first) * width);
      return {space_.wide, width};
    } else {
      return {from.row(rows.first), from.stride};
    }
  }

  /// Where the scores of row r wait for their weights.
  T* score_row(std::int64_t r) const noexcept {
    query_place const at = place(r);
    return here(given_.weights.row(block_.b, at.h, at.i), space_.kept + (is_narrow<E> ? r * size_.m : 0));
  }

  /// Queries scaled and packed, and what each may see.
  void start() noexcept {
    finishes_every_score_ = cap_ || asked_.has_bias() || given_.weights;
    std::int64_t const tile = does_.tile, packed = rounded_up(tile, sum_lanes);
    query_place at = place(0);
    for (std::int64_t first = 0; first < rows_; first += tile) {
      for (std::int64_t a = 0; a < tile && first + a < rows_; ++a, advance(at)) {
        int left = 0;
        if (size_.d > 0)
          left = scale_.fold(does_, converted(does_, asked_.q().row(block_.b, at.h, at.i), size_.d, space_.wide),
                             size_.d, space_.scaled + a * size_.d);
        if (size_.m == 0) continue;
        rules_[first + a] = query_rules<E>::of(asked_, block_.b, at);
        rules_[first + a].exponent = left;
        finishes_every_score_ = finishes_every_score_ || left != 0;
        if (given_.weights) std::fill_n(score_row(first + a), size_.m, arithmetic::minus_infinity());
      }
      does_.transpose({space_.scaled, size_.d}, packed, size_.d, tile, space_.Q + first * size_.d);
    }
    seen_ = {};
    if (size_.m == 0) return;
    for (std::int64_t first = 0; first < rows_; first += strip_rows) {
      strip_view& strip = strips_[first / strip_rows];
      strip = view_of(rules_ + first, std::min(strip_rows, rows_ - first));
      seen_ = hull(seen_, strip.any);
    }
  }

  void clear(row_states<T> const& states, matrix<T> const& O) noexcept {
    std::fill_n(states.m, rows_ + sum_lanes, arithmetic::minus_infinity());
    std::fill_n(states.l, rows_ * sum_lanes, T(0));
    std::fill_n(O.data, rows_ * O.stride, T(0));
  }

  /// One block of keys for all strips that see some of it.
  void absorb(interval const& keys, row_states<T> const& states, matrix<T> const& O) noexcept {
    bool const lies_ready = values_lie_ready(keys);
    if (!alone()) pack_keys(keys, {0, rounded_up(keys.size(), does_.granule)}, space_.K);
    bool const finite = lies_ready || pack_values(keys);
    std::int64_t const strips = ceiling_division(rows_, strip_rows), next = std::min(step, size_.m - keys.last);
    for (std::int64_t first = 0; first < rows_; first += strip_rows) {
      std::int64_t const at = first / strip_rows;
      strip_view const& strip = strips_[at];
      // A part of the next block with each strip, so that packing it does not wait for memory.
      interval const ahead{keys.last + next * at / strips, keys.last + next * (at + 1) / strips};
      if (!alone()) fetch_rows(K_, ahead, size_.d), fetch_rows(V_, ahead, size_.dv);
      interval const seen = intersection(strip.any, keys);
      if (seen.empty()) continue;
      row_states<T> const here{states.m + first, states.l + first * sum_lanes, states.factor + first};
      absorb_strip({first, std::min(first + strip_rows, rows_)}, strip, keys, seen, lies_ready, finite, here,
                   {O.row(first), O.stride});
    }
  }

  /// Decoding: a copy of K and V would serve one strip only.
  bool alone() const noexcept { return rows_ <= strip_rows; }

  /// Whether V can be multiplied where it lies, without a copy: few strips read it, all of it, as numbers of T and in whole
  /// vectors; and where more than one does, its rows are near enough to share the nearest cache.
  bool values_lie_ready(interval const& keys) const noexcept {
    constexpr std::int64_t few = 4, near = 256 / static_cast<std::int64_t>(sizeof(T));
    if (is_narrow<E> || rows_ > few * strip_rows || size_.dv % (does_.panel / 2) != 0) return false;
    if (!alone() && V_.stride > near) return false;
    for (std::int64_t at = 0; at * strip_rows < rows_; ++at)
      if (!contains(strips_[at].all, intersection(strips_[at].any, keys))) return false;
    return true;
  }

  /// Panels of the keys that `some` names, relative to the block.
  void pack_keys(interval const& keys, interval const& some, T* to) noexcept {
    for (std::int64_t j = some.first; j < some.last; j += does_.panel, to += does_.panel * size_.d) {
      interval const panel{std::min(keys.first + j, keys.last), std::min(keys.first + j + does_.panel, keys.last)};
      does_.transpose(wide(K_, panel, size_.d), panel.size(), size_.d, does_.panel, to);
    }
  }

  /// Answers whether all of them are finite.
  bool pack_values(interval const& keys) noexcept {
    bool finite = true;
    std::int64_t const together = is_narrow<E> ? workspace<T>::widest_panel : step;
    for (std::int64_t j = 0; j < keys.size(); j += together) {
      interval const some{keys.first + j, std::min(keys.first + j + together, keys.last)};
      finite = does_.pack_values(wide(V_, some, size_.dv), some.size(), step, size_.dv, space_.V + j * does_.panel) &&
               finite;
    }
    return finite;
  }

  /// Scores of the one strip, each panel of K while its copy is in the nearest cache.
  void score_alone(interval const& keys, interval const& computed) noexcept {
    for (std::int64_t j = computed.first; j < computed.last; j += does_.panel) {
      pack_keys(keys, {j, j + does_.panel}, space_.K);
      does_.scores(space_.Q, space_.K, size_.d, rows_, {0, does_.panel}, space_.S + j);
    }
  }

  void absorb_strip(interval const& rows, strip_view const& strip, interval const& keys, interval const& seen,
                    bool lies_ready, bool finite, row_states<T> const& states, matrix<T> const& O) noexcept {
    std::int64_t const granule = does_.granule;
    // Relative to the block from here on.
    interval const visible{seen.first - keys.first, seen.last - keys.first};
    interval const computed{visible.first / granule * granule, rounded_up(visible.last, granule)};
    interval const absolute{computed.first + keys.first, computed.last + keys.first};
    if (alone()) score_alone(keys, computed);
    else does_.scores(space_.Q + rows.first * size_.d, space_.K, size_.d, rows.size(), computed, space_.S);
    bool const full = contains(strip.all, absolute);
    if (finishes_every_score_ || !full)
      for (std::int64_t i = 0; i < rows.size(); ++i) finish_scores(i, rows.first + i, keys, computed, visible, full);
    absorb_block(does_, space_.S, rows.size(), computed, states, [&] {
      if (size_.dv == 0) return;
      if constexpr (!is_narrow<E>)
        if (lies_ready)
          return does_.values_in_place(space_.S, {V_.row(keys.first), V_.stride}, rows.size(), visible, size_.dv,
                                       states.factor, O);
      if (finite || contains(strip.all, seen))
        does_.values(space_.S, space_.V, rows.size(), visible, size_.dv, states.factor, O);
      else
        for (std::int64_t i = 0; i < rows.size(); ++i) add_visible_values(i, rows.first + i, keys, visible, states, O);
    });
  }

  /// Row i of the strip, r of the block: scale, softcap, bias, visibility; and a copy where weights are wanted.
  void finish_scores(std::int64_t i, std::int64_t r, interval const& keys, interval const& computed,
                     interval const& visible, bool full) noexcept {
    T* const s = space_.S + i * score_stride<T>;
    multiply_by_power(does_, s + computed.first, rules_[r].exponent - cap_.exponent, computed.size());
    if (cap_) does_.softcap(s + computed.first, cap_, computed.size());
    multiply_by_power(does_, s + computed.first, cap_.exponent, computed.size());
    interval const present{keys.first + visible.first, keys.first + visible.last};
    rules_[r].add_bias(does_, s + visible.first, present);
    if (!full)
      rules_[r].hide_invisible(does_, s + computed.first, {keys.first + computed.first, keys.first + computed.last},
                               present);
    if (given_.weights) std::copy(s + visible.first, s + visible.last, score_row(r) + present.first);
  }

  /// A value that one query may see can be NaN for a neighbour that may not, and in a matrix product 0·NaN is NaN.
  void add_visible_values(std::int64_t i, std::int64_t r, interval const& keys, interval const& visible,
                          row_states<T> const& states, matrix<T> const& O) noexcept {
    std::uint8_t shown[step];
    for (std::int64_t j = visible.first; j < visible.last; ++j) shown[j] = rules_[r].shows(keys.first + j);
    does_.visible_values(space_.S + i * score_stride<T>, space_.V, shown, visible, size_.dv, states.factor[i],
                         O.row(i));
  }

  /// Scores ← weights against the final reference, divided by l: a second pass over the very scores that went into l.
  void weigh_again(T m, T const* l, T* row) noexcept {
    T* const s = space_.S;
    T one_m = m, unused_l[sum_lanes]{}, factor = 1;
    for (std::int64_t j = 0; j < size_.m; j += step) {
      std::int64_t const count = std::min(step, size_.m - j);
      std::copy_n(row + j, count, s);
      std::fill_n(s + count, step - count, arithmetic::minus_infinity());
      does_.weigh(s, 1, {0, rounded_up(count, sum_lanes)}, {&one_m, unused_l, &factor});
      does_.finish(s, l, count, row + j);
    }
  }

  problem::instance<E> const& asked_;
  problem::outputs<E> const& given_;
  operations<T> const& does_;
  score_scale<T> const& scale_;
  score_cap<T> const& cap_;
  query_block const& block_;
  workspace<T> const& space_;
  query_rules<E>* rules_;
  strip_view* strips_;
  problem::sizes const& size_;
  std::int64_t rows_;
  interval seen_{};
  bool finishes_every_score_ = false;  ///< or only those of partial tiles
  matrix<E const> K_{}, V_{};
};

}  // namespace attest::fast
