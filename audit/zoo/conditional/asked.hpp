// The facts by which a conditional mutant decides whether to be wrong: the call, its sizes, and the calls before it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include <attest/kernel.h>

namespace attest::zoo {

/// The clock of the mutants that change with time. A test sets another.
inline std::atomic<std::chrono::steady_clock::time_point (*)()> mutant_clock = std::chrono::steady_clock::now;

/// A call with its sizes, named as in docs/semantics.md, and the facts about earlier calls.
struct asked {
  attest_call const& call;
  std::int64_t b, hq, hk, n, m, d, dv;
  std::int64_t calls = 1;       ///< this one included
  std::int64_t earlier_m = -1;  ///< of the call before; −1: there was none
  std::int64_t earlier_n = -1;  ///< likewise
  double seconds = 0;           ///< since the first call

  explicit asked(attest_call const& made)
      : call(made),
        b(made.q->shape[0]),
        hq(made.q->shape[1]),
        hk(made.k->shape[1]),
        n(made.q->shape[2]),
        m(made.k->shape[2]),
        d(made.q->shape[3]),
        dv(made.v->shape[3]) {}

  std::int64_t group() const { return hk > 0 ? hq / hk : 0; }
  bool grouped() const { return group() > 1; }
  std::int64_t threads() const { return call.threads; }
  bool masked() const { return call.mask != nullptr; }
  bool biased() const { return call.bias != nullptr; }
  /// Are the sizes of mask or bias on the axes b, hq and n above 1 exactly on the axes that the arguments name?
  bool mask_is(bool over_b, bool over_h, bool over_n) const { return has_axes(call.mask, over_b, over_h, over_n); }
  bool bias_is(bool over_b, bool over_h, bool over_n) const { return has_axes(call.bias, over_b, over_h, over_n); }
  bool causal() const { return call.right == 0 && call.left < 0; }
  bool windowed() const { return call.left >= 0; }
  bool capped() const { return call.softcap != 0; }
  /// Bottom-right causal, top-left causal: both where n = m.
  bool bottom_right() const { return causal() && call.diagonal == m - n; }
  bool top_left() const { return causal() && call.diagonal == 0; }
  bool default_scale() const { return call.scale != call.scale; }
  /// A number for a random decision: the bits of q's first element and the number of the call, mixed.
  std::uint64_t draw() const;

  /// b·hq·n·m as a double: nothing wraps.
  double scores() const;
  /// The largest offset of an element of q, k, v or out from the start of its memory, in elements and in bytes.
  double farthest_element() const;
  double farthest_byte() const;
  /// Has an input an axis of stride 0 that is longer than 1?
  bool repeats_memory() const;
  /// Do the rows of an input overlap?
  bool has_overlapping_rows() const;
  /// Does the memory of V begin inside the memory of K?
  bool shares_keys_and_values() const;
  /// Do the rows of K lie farther apart than its heads, as in [b, m, h, d]?
  bool has_keys_before_heads() const;

  static bool has_row_gaps(DLTensor const& t);      ///< elements between rows; not in [b, n, h, d]
  static bool has_head_gaps(DLTensor const& t);     ///< elements between heads behind rows without gaps
  static bool has_heads_inside(DLTensor const& t);  ///< [b, n, h, d]

  bool has_a_score() const { return b > 0 && hq > 0 && hk > 0 && n > 0 && m > 0; }
  /// By band, mask and a bias of −∞.
  bool sees(std::int64_t entry, std::int64_t head, std::int64_t query, std::int64_t key) const;
  /// The score of one key: scaled, capped, biased. −∞ where the query does not see it.
  double score(std::int64_t entry, std::int64_t head, std::int64_t query, std::int64_t key) const;
  /// The largest score of the last query of the first head in keys number·block … (number + 1)·block − 1. −∞ if it sees
  /// none of them.
  double highest(std::int64_t block, std::int64_t number) const;
  /// Its largest score of all keys.
  double level() const { return highest(m, 0); }
  /// Are these keys hidden from every query of the first head, which sees another key?
  bool hides_first(std::int64_t count) const { return hides(0, count); }
  bool hides_last(std::int64_t count) const { return hides(m - count, m); }
  double largest_value() const;  ///< the largest |V|; 0 if V has no element

 private:
  static bool has_axes(DLTensor const* t, bool over_b, bool over_h, bool over_n);
  bool hides(std::int64_t from, std::int64_t to) const;
};

/// Counts the calls of one mutant.
class call_history {
 public:
  asked next(attest_call const& call);

 private:
  std::mutex guard_;
  std::int64_t calls_ = 0, m_ = -1, n_ = -1;
  std::chrono::steady_clock::time_point first_{};
};

}  // namespace attest::zoo
