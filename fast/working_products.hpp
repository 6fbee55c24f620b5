// The products of a query block in the working type: S = (Q·σ·log₂ e)·Kᵀ and O = P·V, by multiply-adds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fast/call_context.hpp"
#include "fast/key_panels.hpp"
#include "fast/query_strips.hpp"
#include "fast/rows_in_place.hpp"

namespace attest::fast {

/// q·σ·log₂ e is rounded once, when a query is packed. Then each score, and each sum of P·V over a key block, is one
/// chain of multiply-adds from 0 (operations::scores, operations::values).
template <class E>
class working_products {
 public:
  using T = working<E>;

  /// strips: the strips of the block, even if they are not known yet
  working_products(call_context<E> const& call, query_block const& block, workspace<T> const& space,
                   block_strips<T> const& strips) noexcept
      : ops_(call.ops),
        scale_(call.scale),
        space_(space),
        size_(call.instance.size()),
        strips_(strips),
        panels_(call.ops, space, size_),
        from_memory_(rows_in_place<E>::are_from_memory(size_)) {
    panels_.describe(call.instance, block.b, block.kv_head);
  }

  /// Scales query r of the query block, which is in `strip`.
  /// Returns   left: its scores still lack the factor 2^left
  /// Requires  d > 0
  int pack_query(query_strip<T> const& strip, std::int64_t r, E const* q) noexcept {
    std::int64_t const d = size_.d;
    return scale_.fold(ops_, converted(ops_, q, d, space_.wide), d, strip.Q + (r - strip.rows.first) * d);
  }

  /// Packs the rows of key block `keys` that the strips need: K unless there is only one strip, and V unless they can
  /// read it where it lies. The strips see `seen` of the block.
  void enter(interval const& keys, interval const& seen, interval const& next_block) noexcept {
    panels_.K.enter(keys), panels_.V.enter(keys);
    bool const reads_input = can_read_values_in_place();
    if (!strips_.are_one()) {
      interval const packed = whole_panels({seen.first - keys.first, seen.last - keys.first});
      panels_.pack_keys(keys, packed, space_.K + packed.first * size_.d);
    }
    values_ = reads_input                       ? values_from::input
              : panels_.pack_values(keys, seen) ? values_from::finite_panels
                                                : values_from::panels_with_nan;
    if (strips_.are_one()) panels_.prefetch_pages(panels_.K, next_block), panels_.prefetch_pages(panels_.V, next_block);
  }

  /// Prefetches rows of K and V of the next key block, where they will be packed.
  void prefetch(interval const& rows) const noexcept {
    if (!strips_.are_one()) panels_.prefetch(panels_.K, rows, size_.d), panels_.prefetch(panels_.V, rows, size_.dv);
  }

  /// The columns of S that are computed where `visible` is needed.
  interval whole_panels(interval const& visible) const noexcept { return panels_.whole_panels(visible); }

  /// space.S ← the scores of a strip in units of log₂, for the columns `computed` of the key block that was entered
  /// last.
  void score(query_strip<T> const& strip, interval const& keys, interval const& computed) noexcept {
    if (strips_.are_one()) score_only_strip(keys, computed);
    else ops_.scores(strip.Q, space_.K, size_.d, strip.rows.size(), computed, space_.S);
  }

  /// O ← O·factor + P·V for the keys that the strip sees. shows(i, key): does row i of the strip see that key?
  template <class Shows>
  void add_values(query_strip<T> const& strip, interval const& keys, T const* factor, matrix<T> const& O,
                  Shows&& shows) noexcept {
    std::int64_t const rows = strip.rows.size();
    interval const visible{strip.seen.first - keys.first, strip.seen.last - keys.first};
    if (values_ == values_from::input) return in_place().add_values(rows, strip.seen, visible, factor, O);
    if (values_ == values_from::finite_panels || strip.whole)
      return ops_.values(space_.S, space_.V, rows, visible, size_.dv, factor, O);
    // A value of NaN or ∞ may be visible to only some queries of the strip. For the others, the weight 0 in the matrix
    // product of the strip would make NaN of it.
    for (std::int64_t i = 0; i < rows; ++i) {
      std::uint8_t shown[blocking_of<T>.keys];
      for (std::int64_t j = visible.first; j < visible.last; ++j) shown[j] = shows(i, keys.first + j);
      ops_.visible_values(space_.S + i * score_stride<T>, space_.V, shown, visible, size_.dv, factor[i], O.row(i));
    }
  }

 private:
  /// The place from which the products of one key block read V.
  enum class values_from : std::uint8_t {
    input,            ///< the caller's memory
    finite_panels,    ///< packed panels with only finite numbers
    panels_with_nan,  ///< packed panels with a NaN or ∞ somewhere
  };

  rows_in_place<E> in_place() const noexcept {
    return {ops_, space_, panels_, size_, strips_.rows, strips_.seen.last, from_memory_};
  }

  /// Can the products read V in the caller's memory? That gains if few strips read it. It needs numbers of type T in
  /// whole vectors that every query sees. With more than one strip, rows must also be near enough to share the
  /// first-level cache.
  bool can_read_values_in_place() const noexcept {
    constexpr std::int64_t few = 4, near = 256 / static_cast<std::int64_t>(sizeof(T));
    if ((is_narrow<E> && !in_place().are_few()) || size_.dv % (ops_.panel / 2) != 0) return false;
    if (!strips_.are_one() && panels_.V.stride() > near) return false;
    std::int64_t readers = 0;
    for (query_strip<T> const& strip : strips_) {
      if (strip.seen.empty()) continue;
      if (!strip.whole || ++readers > few) return false;
    }
    return true;
  }

  /// Scores of the only strip. Few rows read K where it lies; else each panel of K is used while its copy is in the
  /// first-level cache.
  void score_only_strip(interval const& keys, interval const& computed) noexcept {
    std::int64_t const left = in_place().scores(keys, computed);
    for (std::int64_t j = left; j < computed.last; j += ops_.panel) {
      panels_.pack_keys(keys, {j, j + ops_.panel}, space_.K);
      ops_.scores(space_.Q, space_.K, size_.d, strips_.rows, {0, ops_.panel}, space_.S + j);
    }
  }

  operations<T> const& ops_;
  score_scale<T> const& scale_;
  workspace<T> const& space_;
  problem::sizes const& size_;
  block_strips<T> const& strips_;
  key_panels<E> panels_;
  bool from_memory_;
  values_from values_ = values_from::input;
};

}  // namespace attest::fast
