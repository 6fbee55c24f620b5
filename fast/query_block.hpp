// One task of the kernel: a query block, which reads one kv head, against some or all of its keys.
//
// This is algorithm 1 of FlashAttention-2 (Dao 2023). fast/algorithm/blocking.hpp defines the words.
//
//   for each query block i, as a task (attention.cpp):
//     pack Q_i                                                      prepare_queries()
//     for each split of the keys, for each key block j:             absorb_key_blocks()
//       pack K_j and V_j (few rows read them where they lie)        Products::enter()
//       for each strip of the query block:                          absorb_strip()
//         S ← Q_i·K_jᵀ                                              Products::score()
//         S ← softcap and bias, and −∞ where a key is invisible     finish_scores()
//         m ← max(m, S), P ← 2^(S − m), l ← l·factor + Σ P          absorb_block() of online_softmax.hpp
//         O ← O·factor + P·V_j                                      Products::add_values()
//     l ← l·factor + 2^(t − m), for a sink t                        absorb_sinks()
//     write O_i = O/l, LSE_i = m·ln 2 + ln l                        write_outputs()
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fast/algorithm/arithmetic.hpp"
#include "fast/algorithm/band.hpp"
#include "fast/call_context.hpp"
#include "fast/query_strips.hpp"
#include "fast/sink.hpp"
#include "fast/workspace.hpp"

namespace attest::fast {

/// The kernel for one query block, stored as E and computed in T. Products forms Q·Kᵀ and P·V: working_products<E> or
/// another class with its functions.
template <class E, class Products>
class query_block_kernel {
 public:
  using T = working<E>;
  using arithmetic = machine_arithmetic<T>;

  query_block_kernel(call_context<E> const& call, query_block const& block, workspace<T> const& space,
                     query_rules<E>* rules, query_strip<T>* strips) noexcept
      : instance_(call.instance),
        outputs_(call.outputs),
        ops_(call.ops),
        cap_(call.cap),
        block_(block),
        space_(space),
        rules_(rules),
        size_(call.instance.size()),
        n_(call.instance.queries(block.b)),
        m_(call.instance.keys(block.b)),
        band_(call.instance.band(block.b)),
        strips_{strips, 0, block.rows.size(), {}},
        products_(call, block, space, strips_) {}

  /// space.states and space.O ← the partial rows of the splits, merged in order.
  void absorb_key_blocks() noexcept {
    prepare_queries();
    clear(space_.states, space_.O);
    for (std::int64_t c = block_.splits.first; c < block_.splits.last; ++c) {
      interval const keys = intersection({c * split, std::min((c + 1) * split, m_)}, strips_.seen);
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

  /// Merges the partial rows of later keys into the rows of absorb_key_blocks().
  void merge_rows(row_states<T> const& other, matrix<T> const& other_O) noexcept {
    for (std::int64_t r = 0; r < strips_.rows; ++r)
      merge<arithmetic>({space_.states.m + r, space_.states.l + r * sum_lanes, nullptr}, space_.O.row(r),
                        {other.m + r, other.l + r * sum_lanes, nullptr}, other_O.row(r), size_.dv);
  }

  /// Writes every element of O, LSE and weights of these queries, and nothing else.
  void write_outputs() noexcept {
    if (instance_.has_sink()) absorb_sinks();
    query_place at = place(0);
    for (std::int64_t r = 0; r < strips_.rows; ++r, advance(at)) {
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

  /// Cuts the rows into strips, packs the queries, and finds out which keys each query and each strip sees.
  void prepare_queries() noexcept {
    finishes_every_score_ = cap_ || instance_.has_bias() || outputs_.weights;
    has_blocks_ = bool(instance_.block_mask());
    query_place at = place(0);
    for (std::int64_t first = 0; first < strips_.rows; first = strips_.back().rows.last) {
      query_strip<T>& strip = strips_.append(space_.Q, space_.packed_dimensions(size_.d));
      strip.rows = {first, first + std::min(rows_of_strip(alike(at)), strips_.rows - first)};
      pack_queries(strip, at);
      if (size_.m == 0) continue;
      strip.view = view_of(rules_ + first, strip.rows.size());
      strips_.seen = hull(strips_.seen, strip.view.any);
      strip.one_block_row = have_one_block_row(rules_, strip.rows);
    }
  }

  /// The number of queries from here on that have the same blocks of a block mask; 0 if there is none.
  std::int64_t alike(query_place const& at) const noexcept {
    std::int64_t const block_q = instance_.parameters().block_q;
    return has_blocks_ ? std::min(block_q - at.i % block_q, n_ - at.i) : 0;
  }

  /// Packs the queries of a strip, from `at` on, and sets their rules. Then moves `at` to the first query behind them.
  void pack_queries(query_strip<T> const& strip, query_place& at) noexcept {
    for (std::int64_t r = strip.rows.first; r < strip.rows.last; ++r, advance(at)) {
      int const left = size_.d == 0 ? 0 : products_.pack_query(strip, r, instance_.q().row(block_.b, at.h, at.i));
      if (size_.m == 0) continue;
      rules_[r].describe(instance_, block_.b, band_, at);
      rules_[r].exponent = left;
      finishes_every_score_ = finishes_every_score_ || left != 0;
      if (outputs_.weights) std::fill_n(score_row(r), size_.m, arithmetic::minus_infinity());
    }
  }

  void clear(row_states<T> const& states, matrix<T> const& O) noexcept {
    std::fill_n(states.m, strips_.rows + sum_lanes, arithmetic::minus_infinity());
    std::fill_n(states.l, strips_.rows * sum_lanes, T(0));
    std::fill_n(O.data, strips_.rows * O.stride, T(0));
  }

  /// Absorbs key block j into every strip that sees some of its keys.
  void absorb_key_block(interval const& keys, row_states<T> const& states, matrix<T> const& O) noexcept {
    interval seen{};
    for (query_strip<T>& strip : strips_) look(strip, rules_, keys), seen = hull(seen, strip.seen);
    if (seen.empty()) return;
    interval const next_block{keys.last, std::min(keys.last + key_block, m_)};
    products_.enter(keys, seen, next_block);
    std::int64_t const next = next_block.size();
    for (std::int64_t at = 0; at < strips_.count; ++at) {
      // Each strip prefetches a part of the next key block, so that packing it does not wait for memory.
      products_.prefetch({keys.last + next * at / strips_.count, keys.last + next * (at + 1) / strips_.count});
      std::int64_t const first = strips_.first[at].rows.first;
      row_states<T> const strip_states{states.m + first, states.l + first * sum_lanes, states.factor + first};
      absorb_strip(strips_.first[at], keys, strip_states, {O.row(first), O.stride});
    }
  }

  /// Absorbs the keys of a key block that a strip sees.
  void absorb_strip(query_strip<T> const& strip, interval const& keys, row_states<T> const& states,
                    matrix<T> const& O) noexcept {
    interval const& rows = strip.rows;
    interval const& seen = strip.seen;
    if (seen.empty()) return;
    // Relative to the key block: the keys that are seen, and the keys whose scores are computed.
    interval const visible{seen.first - keys.first, seen.last - keys.first}, computed = products_.whole_panels(visible);
    products_.score(strip, keys, computed);
    bool const full = contains(strip.view.all, {computed.first + keys.first, computed.last + keys.first}) &&
                      (!has_blocks_ || (strip.whole && computed == visible));
    if (finishes_every_score_ || !full)
      for (std::int64_t i = 0; i < rows.size(); ++i) finish_scores(i, rows.first + i, keys, computed, visible, full);
    absorb_block(ops_, space_.S, rows.size(), computed, states, [&] {
      if (size_.dv > 0)
        products_.add_values(strip, keys, states.factor, O,
                             [&](std::int64_t i, std::int64_t key) { return rules_[rows.first + i].shows(key); });
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

  /// Absorbs the sink of every row, behind all keys of the row. A row in which it takes no part is left as it was: its
  /// LSE is the sink itself.
  void absorb_sinks() noexcept {
    for (std::int64_t first = 0; first < strips_.rows; first += strip_rows) {
      std::int64_t const rows = std::min(strip_rows, strips_.rows - first);
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
          ops_.values(space_.S, space_.V, rows, {0, 0}, size_.dv, states.factor,
                      {space_.O.row(first), space_.O.stride});
      });
    }
  }

  /// Is sink t a term of row r? Not if all scores are −∞, unless t makes a NaN of a row that sees a key.
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
  score_cap<T> const& cap_;
  query_block const& block_;
  workspace<T> const& space_;
  query_rules<E>* rules_;
  problem::sizes const& size_;
  std::int64_t n_, m_;                 ///< queries and keys of the entry
  problem::band band_;                 ///< of the entry
  bool finishes_every_score_ = false;  ///< or only scores of strips with invisible keys
  bool has_blocks_ = false;            ///< there is a block mask
  block_strips<T> strips_;
  Products products_;
};

}  // namespace attest::fast
