// The products of a query block on pairs of bf16: S = factor·(Q·Kᵀ) and O = P·V with P rounded to bf16, by the
// operations of fast/simd/bf16_pairs.hpp or bf16_tiles.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fast/call_context.hpp"
#include "fast/key_panels.hpp"
#include "fast/query_strips.hpp"
#include "fast/simd/bf16_pairs.hpp"

namespace attest::fast {

/// `here` chooses the operations: it returns a table, or null if there is none.
///
/// Two dimensions of a query or of a key are a pair, and so are two neighbouring keys of a column of V. Keys 2p and 2p
/// + 1 of a key block are pair p, whether visible or not: an invisible key has the weight 0, which adds nothing to a
/// sum. If dimensions or keys do not fill the last chunk of pairs, zeros do.
template <bf16_pair_operations const* (*here)() noexcept>
class bf16_products {
 public:
  using E = problem::bf16;
  using T = float;
  static constexpr std::int64_t key_block = blocking_of<T>.keys, panel = bf16_pair_operations::panel;

  bf16_products(call_context<E> const& call, query_block const& block, workspace<T> const& space,
                block_strips<T> const& strips) noexcept
      : ops_(call.ops),
        pairs_(*here()),
        scale_(call.scale),
        space_(space),
        size_(call.instance.size()),
        strips_(strips),
        depth_(whole_chunks(ceiling_division(size_.d, 2))),
        rows_(call.ops, space, size_) {
    rows_.describe(call.instance, block.b, block.kv_head);
    if (pairs_.begin != nullptr) pairs_.begin();
  }
  ~bf16_products() {
    if (pairs_.end != nullptr) pairs_.end();
  }
  bf16_products(bf16_products const&) = delete;
  bf16_products& operator=(bf16_products const&) = delete;

  /// Packs query r of the query block, which is in `strip`.
  /// Returns  left: its scores still lack the factor 2^left
  int pack_query(query_strip<T> const& strip, std::int64_t r, E const* q) noexcept {
    copy_as_pairs(q, words(strip.Q) + (r - strip.rows.first) * depth_);
    return scale_.fits ? 0 : scale_.exponent;
  }

  /// Packs the rows of key block `keys` that the strips need, except rows that few queries can read where they lie. The
  /// strips see `seen` of the block.
  void enter(interval const& keys, interval const& seen, interval const& next_block) noexcept {
    rows_.K.enter(keys), rows_.V.enter(keys);
    bool const few = strips_.rows <= pairs_.few_rows, whole = strips_.first->whole;
    std::int64_t const numbers = 2 * pairs_.chunk;
    keys_in_place_ = few && size_.d > 0 && size_.d % numbers == 0;
    values_in_place_ = few && whole && size_.dv % panel == 0 && seen.first % numbers == 0 && seen.last % numbers == 0;
    interval const computed = whole_panels({seen.first - keys.first, seen.last - keys.first});
    if (size_.d > 0) pack_keys(keys, {keys_in_place_ ? in_place_until(keys, computed) : computed.first, computed.last});
    values_are_finite_ = size_.dv == 0 || values_in_place_ || pack_values(keys, seen);
    if (keys_in_place_) rows_.prefetch_pages(rows_.K, next_block);
    if (values_in_place_) rows_.prefetch_pages(rows_.V, next_block);
  }

  /// Prefetches rows of K and V of the next key block, where they will be packed.
  void prefetch(interval const& rows) const noexcept {
    if (!keys_in_place_) rows_.prefetch(rows_.K, rows, size_.d);
    if (!values_in_place_) rows_.prefetch(rows_.V, rows, size_.dv);
  }

  /// The columns of S that are computed where `visible` is needed.
  static interval whole_panels(interval const& visible) noexcept {
    return {visible.first / panel * panel, rounded_up(visible.last, panel)};
  }

  /// space.S ← the scores of a strip in units of log₂, for the columns `computed` of the key block that was entered
  /// last.
  void score(query_strip<T> const& strip, interval const& keys, interval const& computed) const noexcept {
    std::int64_t const rows = strip.rows.size(),
                       packed = keys_in_place_ ? in_place_until(keys, computed) : computed.first;
    T const factor = scale_.fits ? scale_.scaled_high : scale_.high;
    if (packed > computed.first)
      score_in_place(strip, {keys.first + computed.first, keys.first + packed}, factor, space_.S + computed.first);
    pairs_.scores(words(strip.Q), words(space_.K), depth_, rows, {packed, computed.last}, factor, space_.S);
  }

  /// Rounds the weights in space.S to bf16, and O ← O·factor + P·V for the keys that the strip sees. shows(i, key):
  /// does row i of the strip see that key?
  template <class Shows>
  void add_values(query_strip<T> const& strip, interval const& keys, T const* factor, matrix<T> const& O,
                  Shows&& shows) noexcept {
    std::int64_t const rows = strip.rows.size();
    interval const visible{strip.seen.first - keys.first, strip.seen.last - keys.first};
    interval const pairs = chunks_of(visible);
    for (std::int64_t i = 0; i < rows; ++i) pairs_.narrow(space_.S + i * score_stride<T>, whole_panels(visible));
    if (values_in_place_) return add_values_in_place(rows, strip.seen, pairs, factor, O);
    if (values_are_finite_ || (strip.whole && visible == interval{2 * pairs.first, 2 * pairs.last}))
      return pairs_.values(space_.S, words(space_.V), rows, pairs, size_.dv, factor, O);
    // As in working_products: a weight 0 would make NaN of a value that is NaN or ∞.
    for (std::int64_t i = 0; i < rows; ++i) {
      std::uint8_t shown[key_block]{};
      for (std::int64_t j = visible.first; j < visible.last; ++j) shown[j] = shows(i, keys.first + j);
      pairs_.visible_values(space_.S + i * score_stride<T>, words(space_.V), shown, pairs, size_.dv, factor[i],
                            O.row(i));
    }
  }

 private:
  /// The arrays of a workspace have memory for as many pairs as numbers; an array of pairs is written only as pairs.
  static bf16_pair* words(T* array) noexcept { return reinterpret_cast<bf16_pair*>(array); }

  std::int64_t whole_chunks(std::int64_t pairs) const noexcept { return rounded_up(pairs, pairs_.chunk); }

  /// The pairs of the chunks that hold these keys, both relative to the key block.
  interval chunks_of(interval const& keys) const noexcept {
    return {keys.first / 2 / pairs_.chunk * pairs_.chunk, whole_chunks(ceiling_division(keys.last, 2))};
  }

  /// The first of the columns `computed` that few queries do not read in place: whole panels of keys that are there.
  static std::int64_t in_place_until(interval const& keys, interval const& computed) noexcept {
    return std::max(computed.first, std::min(computed.last, keys.size() / panel * panel));
  }

  /// Scores of few rows with `keys`, whole panels of the key block.
  void score_in_place(query_strip<T> const& strip, interval const& keys, T factor, T* S) const noexcept {
    auto const& K = rows_.K;
    std::int64_t const rows = strip.rows.size(), last = strips_.seen.last;
    if (K.block_is_one_run() || K.runs_fill_lanes())
      return K.each_run(keys, [&](matrix<E const> const& run, interval const& some) {
        pairs_.few_scores(words(strip.Q), run, K.one_block_on(some, last), depth_, rows, some.size(), factor,
                          S + (some.first - keys.first));
      });
    E const *list[key_block], *next[key_block];
    pairs_.few_listed_scores(words(strip.Q), K.list(keys, list), K.list_one_block_on(keys, last, next), depth_, rows,
                             keys.size(), factor, S);
  }

  /// O ← O·factor + P·V for few rows and the keys `seen`, which are `pairs` of the key block.
  void add_values_in_place(std::int64_t rows, interval const& seen, interval const& pairs, T const* factor,
                           matrix<T> const& O) const noexcept {
    auto const& V = rows_.V;
    std::int64_t const last = strips_.seen.last;
    if (V.are_one_run(seen))
      return pairs_.few_values(space_.S, V.one_run(seen), V.one_block_on(seen, last), rows, pairs, size_.dv, factor, O);
    E const *list[key_block], *next[key_block];
    pairs_.few_listed_values(space_.S, V.list(seen, list), V.list_one_block_on(seen, last, next), rows, pairs, size_.dv,
                             factor, O);
  }

  /// A row of d numbers as depth_ pairs.
  void copy_as_pairs(E const* row, bf16_pair* to) const noexcept {
    std::fill(to + size_.d / 2, to + depth_, 0);
    if (size_.d % 2 != 0) to[size_.d / 2] = row[size_.d - 1].bits;
    std::memcpy(to, row, static_cast<std::size_t>(size_.d / 2) * sizeof *to);
  }

  /// Packs the panels of K that `some` names, relative to the key block: [keys/panel, depth_, panel]. Pairs are as long
  /// as the numbers that the transposition moves. Columns behind the entry's last key are 0.
  void pack_keys(interval const& keys, interval const& some) noexcept {
    for (std::int64_t j = some.first; j < some.last; j += panel) {
      interval const rows{std::min(keys.first + j, keys.last), std::min(keys.first + j + panel, keys.last)};
      bf16_pair* next = words(space_.wide);
      rows_.K.each_run(rows, [&](matrix<E const> const& run, interval const& part) {
        for (std::int64_t a = 0; a < part.size(); ++a, next += depth_) copy_as_pairs(run.row(a), next);
      });
      ops_.transpose({space_.wide, depth_}, rows.size(), depth_, panel, {space_.K + j * depth_, panel});
    }
  }

  /// Packs the rows `seen` of V in pairs of keys: [dv/panel, key_block/2, panel]. A key outside `seen` in the same
  /// chunk counts as 0, and so do the columns behind dv.
  /// Returns   whether all values are finite
  bool pack_values(interval const& keys, interval const& seen) noexcept {
    E const* list[key_block];
    rows_.V.list(seen, list);
    std::int64_t const first = seen.first - keys.first, last = seen.last - keys.first;
    auto const row = [&](std::int64_t j) { return first <= j && j < last ? list[j - first] : nullptr; };
    interval const pairs = chunks_of({first, last});
    bool finite = true;
    for (std::int64_t p = pairs.first; p < pairs.last; ++p)
      for (std::int64_t c = 0; c < size_.dv; c += panel) {
        bf16_pair* const to = words(space_.V) + c * (key_block / 2) + p * panel;
        finite = pack_pair(row(2 * p), row(2 * p + 1), c, std::min(panel, size_.dv - c), to) && finite;
      }
    return finite;
  }

  /// `count` columns of two keys, from column c on; null is a key whose values count as 0.
  static bool pack_pair(E const* even, E const* odd, std::int64_t c, std::int64_t count, bf16_pair* to) noexcept {
    static constexpr E zeros[panel]{};
    E const *const lower = even == nullptr ? zeros : even + c, *const upper = odd == nullptr ? zeros : odd + c;
    constexpr std::uint32_t infinity = problem::format_of<E>.infinity();
    std::uint32_t infinite = 0;
    for (std::int64_t a = 0; a < count; ++a) {
      std::uint32_t const x = lower[a].bits, y = upper[a].bits;
      infinite |= static_cast<std::uint32_t>((x & infinity) == infinity) |
                  static_cast<std::uint32_t>((y & infinity) == infinity);
      to[a] = x | y << 16;
    }
    for (std::int64_t a = count; a < panel; ++a) to[a] = 0;
    return infinite == 0;
  }

  operations<T> const& ops_;
  bf16_pair_operations const& pairs_;
  score_scale<T> const& scale_;
  workspace<T> const& space_;
  problem::sizes const& size_;
  block_strips<T> const& strips_;
  std::int64_t depth_;  ///< pairs of dimensions
  key_panels<E> rows_;
  bool keys_in_place_ = false, values_in_place_ = false;  ///< of the key block that was entered last
  bool values_are_finite_ = false;                        ///< of the packed values
};

}  // namespace attest::fast
