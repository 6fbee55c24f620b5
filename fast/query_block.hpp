// One task of the kernel: a query block, which reads one kv head, against some or all of its keys.
//
// This is algorithm 1 of FlashAttention-2 (Dao 2023). The words are those of fast/algorithm/blocking.hpp.
//
//   for each query block i, as a task (attention.cpp):
//     pack Q_i, scaled by σ·log₂ e                                  prepare_queries()
//     for each split of the keys, for each key block j:             absorb_key_blocks()
//       pack K_j and V_j (few rows read them where they lie)        absorb_key_block()
//       for each strip of the query block:                          absorb_strip()
//         S ← Q_i·K_jᵀ                                              operations::scores
//         S ← softcap and bias, and −∞ where a key is invisible     finish_scores()
//         m ← max(m, S), P ← 2^(S − m), l ← l·factor + Σ P          absorb_block() of online_softmax.hpp
//         O ← O·factor + P·V_j                                      operations::values
//     l ← l·factor + 2^(t − m), for a sink t                        absorb_sinks()
//     write O_i = O/l, LSE_i = m·ln 2 + ln l                        write_outputs()
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "fast/algorithm/arithmetic.hpp"
#include "fast/algorithm/band.hpp"
#include "fast/key_panels.hpp"
#include "fast/query_strips.hpp"
#include "fast/rows_in_place.hpp"
#include "fast/scale.hpp"
#include "fast/sink.hpp"
#include "fast/workspace.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

/// Some rows of one kv head of entry b, and some splits of its keys.
struct query_block {
  std::int64_t b = 0, kv_head = 0;
  interval rows{};    ///< row r is query r % n of head kv_head·(hq/hk) + r / n, of the n queries of the entry
  interval splits{};  ///< split c is keys [c·split, (c+1)·split)
};

/// What all tasks of a call share.
template <class E>
struct call_context {
  problem::instance<E> const& instance;
  problem::outputs<E> const& outputs;
  operations<working<E>> const& ops;
  score_scale<working<E>> scale;
  score_cap<working<E>> cap;
};

/// The kernel for one query block, stored as E and computed in T.
template <class E>
class query_block_kernel {
 public:
  using T = working<E>;
  using arithmetic = machine_arithmetic<T>;

  query_block_kernel(call_context<E> const& call, query_block const& block, workspace<T> const& space,
                     query_rules<E>* rules, query_strip<T>* strips) noexcept
      : instance_(call.instance),
        outputs_(call.outputs),
        ops_(call.ops),
        scale_(call.scale),
        cap_(call.cap),
        block_(block),
        space_(space),
        rules_(rules),
        strips_(strips),
        size_(call.instance.size()),
        n_(call.instance.queries(block.b)),
        m_(call.instance.keys(block.b)),
        band_(call.instance.band(block.b)),
        rows_(block.rows.size()),
        panels_(call.ops, space, call.instance.size()) {
    if (size_.d > 0 && m_ > 0) panels_.K.describe(instance_.k(), block.b, block.kv_head);
    if (size_.dv > 0 && m_ > 0) panels_.V.describe(instance_.v(), block.b, block.kv_head);
  }

  /// space.states and space.O ← the partial rows of the splits, merged in order.
  void absorb_key_blocks() noexcept {
    prepare_queries();
    clear(space_.states, space_.O);
    for (std::int64_t c = block_.splits.first; c < block_.splits.last; ++c) {
      interval const keys = intersection({c * split, std::min((c + 1) * split, m_)}, seen_);
      if (keys.empty()) continue;
      bool const first = c == block_.splits.first;
      if (!first) clear(space_.next, space_.next_O);
      auto const& states = first ? space_.states : space_.next;
      auto const& O = first ? space_.O : space_.next_O;
      for (std::int64_t j = keys.first - keys.first % key_block; j < keys.last; j += key_block)
        absorb_key_block({j, std::min(j + key_block, m_)}, states, O);
      if (!first) merge_rows(space_.next, space_.next_O);
    }
  }

  /// Merges the partial rows of later keys into those of absorb_key_blocks().
  void merge_rows(row_states<T> const& other, matrix<T> const& other_O) noexcept {
    for (std::int64_t r = 0; r < rows_; ++r)
      merge<arithmetic>({space_.states.m + r, space_.states.l + r * sum_lanes, nullptr}, space_.O.row(r),
                        {other.m + r, other.l + r * sum_lanes, nullptr}, other_O.row(r), size_.dv);
  }

  /// Writes every element of O, LSE and weights of these queries, and nothing else.
  void write_outputs() noexcept {
    if (instance_.has_sink()) absorb_sinks();
    query_place at = place(0);
    for (std::int64_t r = 0; r < rows_; ++r, advance(at)) {
      T const* const l = space_.states.l + r * sum_lanes;
      T const m = space_.states.m[r];
      T* const o = size_.dv == 0 ? nullptr : output_or_scratch(outputs_.o.row(block_.b, at.h, at.i), space_.wide);
      T const sum = ops_.finish(space_.O.row(r), l, size_.dv, o);
      if (size_.dv > 0) store(o, size_.dv, outputs_.o.row(block_.b, at.h, at.i));
      if (outputs_.lse)
        outputs_.lse(block_.b, at.h, at.i, 0) =
            sum == 0 ? sink_of(instance_, block_.b, at.h) : arithmetic::log_sum_exp(m, sum);
      if (!outputs_.weights || size_.m == 0) continue;
      recompute_weights(m, l, score_row(r));
      store(score_row(r), size_.m, outputs_.weights.row(block_.b, at.h, at.i));
    }
  }

 private:
  static constexpr std::int64_t key_block = blocking_of<T>.keys, split = blocking_of<T>.split;

  /// Where the products of one key block read V.
  enum class values_from : std::uint8_t {
    input,            ///< the caller's memory
    finite_panels,    ///< packed panels, all of whose numbers are finite
    panels_with_nan,  ///< packed panels with a NaN or ∞ somewhere
  };

  query_place place(std::int64_t r) const noexcept {
    std::int64_t const row = block_.rows.first + r;
    return {block_.kv_head * (size_.hq / size_.hk) + row / n_, row % n_};
  }

  /// The place of the next row, without the divisions of place().
  void advance(query_place& at) const noexcept {
    if (++at.i == n_) at.i = 0, ++at.h;
  }

  /// Where to compute a row of output: in place if E is the working type, else in `scratch`.
  static T* output_or_scratch(E* out, T* scratch) noexcept {
    if constexpr (is_narrow<E>) return scratch;
    else return out;
  }

  /// Converts a row computed in scratch to the output type.
  void store(T const* row, std::int64_t count, E* to) const noexcept {
    if constexpr (is_narrow<E>) std::get<row_conversions<E>>(ops_.stored).narrow(row, count, to);
  }

  /// Where the scores of row r are kept until write_outputs() makes weights of them.
  T* score_row(std::int64_t r) const noexcept {
    query_place const at = place(r);
    return output_or_scratch(outputs_.weights.row(block_.b, at.h, at.i),
                             space_.kept + (is_narrow<E> ? r * size_.m : 0));
  }

  /// Cuts the rows into strips, scales and packs the queries, and finds out which keys each of them and each strip sees.
  void prepare_queries() noexcept {
    finishes_every_score_ = cap_ || instance_.has_bias() || outputs_.weights;
    has_blocks_ = bool(instance_.block_mask());
    seen_ = {};
    strip_count_ = 0;
    query_place at = place(0);
    for (std::int64_t first = 0; first < rows_; first = strips_[strip_count_ - 1].rows.last) {
      query_strip<T>& strip = strips_[strip_count_];
      strip.rows = {first, first + std::min(rows_of_strip(alike(at)), rows_ - first)};
      strip.Q = space_.Q + strip_count_++ * strip_rows * size_.d;
      pack_queries(strip, at);
      if (size_.m == 0) continue;
      strip.view = view_of(rules_ + first, strip.rows.size());
      seen_ = hull(seen_, strip.view.any);
      strip.one_block_row = have_one_block_row(rules_, strip.rows);
    }
  }

  /// How many queries from here on have the same blocks of a block mask; 0 where there is none.
  std::int64_t alike(query_place const& at) const noexcept {
    std::int64_t const block_q = instance_.parameters().block_q;
    return has_blocks_ ? std::min(block_q - at.i % block_q, n_ - at.i) : 0;
  }

  /// Q_i·σ·log₂ e and the rules of the queries of a strip, the first of which is `at`; then `at` is the first behind them.
  void pack_queries(query_strip<T> const& strip, query_place& at) noexcept {
    std::int64_t const tile = ops_.tile, packed = rounded_up(tile, sum_lanes);
    for (std::int64_t first = strip.rows.first; first < strip.rows.last; first += tile) {
      for (std::int64_t r = first; r < std::min(first + tile, strip.rows.last); ++r, advance(at)) {
        int left = 0;
        if (size_.d > 0)
          left = scale_.fold(ops_, converted(ops_, instance_.q().row(block_.b, at.h, at.i), size_.d, space_.wide),
                             size_.d, space_.scaled + (r - first) * size_.d);
        if (size_.m == 0) continue;
        rules_[r].describe(instance_, block_.b, band_, at);
        rules_[r].exponent = left;
        finishes_every_score_ = finishes_every_score_ || left != 0;
        if (outputs_.weights) std::fill_n(score_row(r), size_.m, arithmetic::minus_infinity());
      }
      ops_.transpose({space_.scaled, size_.d}, packed, size_.d, tile,
                     {strip.Q + (first - strip.rows.first) * size_.d, tile});
    }
  }

  void clear(row_states<T> const& states, matrix<T> const& O) noexcept {
    std::fill_n(states.m, rows_ + sum_lanes, arithmetic::minus_infinity());
    std::fill_n(states.l, rows_ * sum_lanes, T(0));
    std::fill_n(O.data, rows_ * O.stride, T(0));
  }

  std::span<query_strip<T>> strips() const noexcept { return {strips_, static_cast<std::size_t>(strip_count_)}; }

  /// Absorbs key block j into every strip that sees some of its keys.
  void absorb_key_block(interval const& keys, row_states<T> const& states, matrix<T> const& O) noexcept {
    interval seen{};
    for (query_strip<T>& strip : strips()) look(strip, rules_, keys), seen = hull(seen, strip.seen);
    if (seen.empty()) return;
    panels_.K.enter(keys), panels_.V.enter(keys);
    bool const values_in_place = can_read_values_in_place();
    if (!has_one_strip()) {
      interval const packed = panels_.whole_panels({seen.first - keys.first, seen.last - keys.first});
      panels_.pack_keys(keys, packed, space_.K + packed.first * size_.d);
    }
    auto const values = values_in_place                   ? values_from::input
                        : panels_.pack_values(keys, seen) ? values_from::finite_panels
                                                          : values_from::panels_with_nan;
    interval const next_block{keys.last, std::min(keys.last + key_block, m_)};
    if (has_one_strip())
      panels_.prefetch_pages(panels_.K, next_block), panels_.prefetch_pages(panels_.V, next_block);
    std::int64_t const next = next_block.size();
    for (std::int64_t at = 0; at < strip_count_; ++at) {
      // Each strip prefetches a part of the next key block, so that packing it does not wait for memory.
      interval const ahead{keys.last + next * at / strip_count_, keys.last + next * (at + 1) / strip_count_};
      if (!has_one_strip()) panels_.prefetch(panels_.K, ahead, size_.d), panels_.prefetch(panels_.V, ahead, size_.dv);
      std::int64_t const first = strips_[at].rows.first;
      row_states<T> const strip_states{states.m + first, states.l + first * sum_lanes, states.factor + first};
      absorb_strip(strips_[at], keys, values, strip_states, {O.row(first), O.stride});
    }
  }

  /// As in decoding: then packed copies of K and V would be used only once.
  bool has_one_strip() const noexcept { return strip_count_ == 1; }
  rows_in_place<E> in_place() const noexcept { return {ops_, space_, panels_, size_, rows_, seen_.last}; }

  /// Whether the products can read V in the caller's memory. That gains where few strips read it; it needs numbers of
  /// type T in whole vectors that every query sees, and, for more than one strip, rows that are near enough to share
  /// the first-level cache.
  bool can_read_values_in_place() const noexcept {
    constexpr std::int64_t few = 4, near = 256 / static_cast<std::int64_t>(sizeof(T));
    if ((is_narrow<E> && !in_place().are_few()) || size_.dv % (ops_.panel / 2) != 0) return false;
    if (!has_one_strip() && panels_.V.stride() > near) return false;
    std::int64_t readers = 0;
    for (query_strip<T> const& strip : strips()) {
      if (strip.seen.empty()) continue;
      if (!strip.whole || ++readers > few) return false;
    }
    return true;
  }

  /// Scores of the only strip: of few rows with K where it lies, else each panel of K is used while its copy is in the
  /// first-level cache.
  void score_only_strip(interval const& keys, interval const& computed) noexcept {
    std::int64_t const left = in_place().scores(keys, computed);
    for (std::int64_t j = left; j < computed.last; j += ops_.panel) {
      panels_.pack_keys(keys, {j, j + ops_.panel}, space_.K);
      ops_.scores(space_.Q, space_.K, size_.d, rows_, {0, ops_.panel}, space_.S + j);
    }
  }

  /// Absorbs the keys of a key block that a strip sees.
  void absorb_strip(query_strip<T> const& strip, interval const& keys, values_from values, row_states<T> const& states,
                    matrix<T> const& O) noexcept {
    interval const& rows = strip.rows;
    interval const& seen = strip.seen;
    if (seen.empty()) return;
    // Relative to the key block: the keys that are seen, and those whose scores are computed.
    interval const visible{seen.first - keys.first, seen.last - keys.first}, computed = panels_.whole_panels(visible);
    if (has_one_strip()) score_only_strip(keys, computed);
    else ops_.scores(strip.Q, space_.K, size_.d, rows.size(), computed, space_.S);
    bool const full = contains(strip.view.all, {computed.first + keys.first, computed.last + keys.first}) &&
                      (!has_blocks_ || (strip.whole && computed == visible));
    if (finishes_every_score_ || !full)
      for (std::int64_t i = 0; i < rows.size(); ++i) finish_scores(i, rows.first + i, keys, computed, visible, full);
    absorb_block(ops_, space_.S, rows.size(), computed, states, [&] {
      if (size_.dv == 0) return;
      if (values == values_from::input) return in_place().add_values(rows.size(), seen, visible, states.factor, O);
      if (values == values_from::finite_panels || strip.whole)
        ops_.values(space_.S, space_.V, rows.size(), visible, size_.dv, states.factor, O);
      else
        for (std::int64_t i = 0; i < rows.size(); ++i) add_visible_values(i, rows.first + i, keys, visible, states, O);
    });
  }

  /// The rest of σ, softcap, bias and visibility, for row i of the strip, which is row r of the query block. Keeps a
  /// copy of the scores if weights are an output.
  void finish_scores(std::int64_t i, std::int64_t r, interval const& keys, interval const& computed,
                     interval const& visible, bool full) noexcept {
    T* const s = space_.S + i * score_stride<T>;
    multiply_by_power(ops_, s + computed.first, rules_[r].exponent - cap_.exponent, computed.size());
    if (cap_) ops_.softcap(s + computed.first, cap_, computed.size());
    multiply_by_power(ops_, s + computed.first, cap_.exponent, computed.size());
    interval const present{keys.first + visible.first, keys.first + visible.last};
    rules_[r].add_bias(ops_, s + visible.first, present);
    if (!full)
      rules_[r].hide_invisible(ops_, s + computed.first, {keys.first + computed.first, keys.first + computed.last},
                               present);
    if (outputs_.weights) std::copy(s + visible.first, s + visible.last, score_row(r) + present.first);
  }

  /// P·V_j of one row, over visible keys only. A value of NaN or ∞ may be visible to one query of the strip and not to
  /// another, and in the matrix product of the strip its weight 0 would make NaN of it.
  void add_visible_values(std::int64_t i, std::int64_t r, interval const& keys, interval const& visible,
                          row_states<T> const& states, matrix<T> const& O) noexcept {
    std::uint8_t shown[key_block];
    for (std::int64_t j = visible.first; j < visible.last; ++j) shown[j] = rules_[r].shows(keys.first + j);
    ops_.visible_values(space_.S + i * score_stride<T>, space_.V, shown, visible, size_.dv, states.factor[i], O.row(i));
  }

  /// Absorbs the sink of every row, behind all keys of the row. A row in which it takes no part is left as it was: its
  /// LSE is the sink itself.
  void absorb_sinks() noexcept {
    for (std::int64_t first = 0; first < rows_; first += strip_rows) {
      std::int64_t const rows = std::min(strip_rows, rows_ - first);
      query_place at = place(first);
      for (std::int64_t i = 0; i < rows; ++i, advance(at)) {
        T* const s = space_.S + i * score_stride<T>;
        std::fill_n(s, sum_lanes, arithmetic::minus_infinity());
        if (T const t = sink_of(instance_, block_.b, at.h); takes_part(t, first + i, at)) s[0] = sink_in_log2(t);
      }
      row_states<T> const states{space_.states.m + first, space_.states.l + first * sum_lanes,
                                 space_.states.factor + first};
      absorb_block(ops_, space_.S, rows, {0, sum_lanes}, states, [&] {
        if (std::any_of(states.factor, states.factor + rows, [](T factor) { return factor != 1; }))
          ops_.values(space_.S, space_.V, rows, {0, 0}, size_.dv, states.factor, {space_.O.row(first), space_.O.stride});
      });
    }
  }

  /// Is sink t a term of row r? Not where all scores are −∞, unless t makes a NaN of a row that sees a key.
  bool takes_part(T t, std::int64_t r, query_place const& at) const noexcept {
    T const* const l = space_.states.l + r * sum_lanes;
    if (space_.states.m[r] != arithmetic::minus_infinity() || std::any_of(l, l + sum_lanes, [](T x) { return x != 0; }))
      return true;
    if (t <= std::numeric_limits<T>::max()) return false;
    query_rules<E> rules;
    rules.describe(instance_, block_.b, band_, at);
    return rules.shows_any();
  }

  /// Scores ← weights relative to the final row maximum m, divided by l: a second pass over the scores that l was
  /// summed from.
  void recompute_weights(T m, T const* l, T* row) noexcept {
    T* const s = space_.S;
    T one_m = m, unused_l[sum_lanes]{}, factor = 1;
    for (std::int64_t j = 0; j < size_.m; j += key_block) {
      std::int64_t const count = std::min(key_block, size_.m - j);
      std::copy_n(row + j, count, s);
      std::fill_n(s + count, key_block - count, arithmetic::minus_infinity());
      ops_.exponentiate(s, 1, {0, rounded_up(count, sum_lanes)}, {&one_m, unused_l, &factor});
      ops_.finish(s, l, count, row + j);
    }
  }

  problem::instance<E> const& instance_;
  problem::outputs<E> const& outputs_;
  operations<T> const& ops_;
  score_scale<T> const& scale_;
  score_cap<T> const& cap_;
  query_block const& block_;
  workspace<T> const& space_;
  query_rules<E>* rules_;
  query_strip<T>* strips_;
  std::int64_t strip_count_ = 0;
  problem::sizes const& size_;
  std::int64_t n_, m_;  ///< queries and keys of the entry
  problem::band band_;  ///< that of the entry
  std::int64_t rows_;
  interval seen_{};
  bool finishes_every_score_ = false;  ///< or only those of strips with invisible keys
  bool has_blocks_ = false;            ///< there is a block mask
  key_panels<E> panels_;
};

}  // namespace attest::fast
