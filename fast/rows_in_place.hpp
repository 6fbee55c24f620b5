// Products with K and V where the caller stores them: of few queries, whose packed copies would be used only once, and
// of a few strips with V.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "fast/cache.hpp"
#include "fast/key_panels.hpp"

namespace attest::fast {

/// The rows of one query block, with K and V of the key block that was entered last.
template <class E>
class rows_in_place {
 public:
  using T = working<E>;
  static constexpr std::int64_t key_block = blocking_of<T>.keys;

  /// last: no row of the query block sees a key from there on. from_memory: are_from_memory(size)
  rows_in_place(operations<T> const& ops, workspace<T> const& space, key_panels<E> const& panels,
                problem::sizes const& size, std::int64_t rows, std::int64_t last, bool from_memory) noexcept
      : ops_(ops), space_(space), panels_(panels), size_(size), rows_(rows), last_(last), from_memory_(from_memory) {}

  /// Do K and V of a call fill the caches, so that the next call finds little of them there?
  static bool are_from_memory(problem::sizes const& size) noexcept {
    auto const numbers =
        static_cast<double>(size.b * size.hk) * static_cast<double>(size.m) * static_cast<double>(size.d + size.dv);
    return numbers * sizeof(E) >= static_cast<double>(third_level_cache());
  }

  /// Then K and V need not be copied at all, if every query sees all keys that are read.
  bool are_few() const noexcept { return rows_ <= ops_.few_rows; }

  /// Scores of few rows with whole panels of K.
  /// Returns  the first column of `computed` that is left
  std::int64_t scores(interval const& keys, interval const& computed) const noexcept {
    std::int64_t const last = std::min(computed.last, keys.size() / ops_.panel * ops_.panel);
    if (!are_few() || size_.d == 0 || last <= computed.first) return computed.first;
    interval const whole{keys.first + computed.first, keys.first + last};
    if (panels_.K.block_is_one_run() || panels_.K.runs_fill_lanes()) {
      panels_.K.each_run(whole, [&](matrix<E const> const& run, interval const& some) {
        few().scores(space_.Q, run, panels_.K.one_block_on(some, last_), size_.d, rows_, some.size(), from_memory_,
                     space_.S + (some.first - keys.first));
      });
    } else {
      E const *list[key_block], *next[key_block];
      few().listed_scores(space_.Q, panels_.K.list(whole, list), panels_.K.list_one_block_on(whole, last_, next),
                          size_.d, rows_, whole.size(), from_memory_, space_.S + computed.first);
    }
    return last;
  }

  /// O ← O·factor + P·V for the keys `seen`, whose weights are in the columns `visible`, for `rows` rows of a strip.
  /// Requires  few rows, or E = T
  void add_values(std::int64_t rows, interval const& seen, interval const& visible, T const* factor,
                  matrix<T> const& O) const noexcept {
    T const* const P = space_.S + visible.first;
    if (panels_.V.are_one_run(seen)) {
      matrix<E const> const V = panels_.V.one_run(seen);
      if (are_few())
        return few().values(P, V, panels_.V.one_block_on(seen, last_), rows, seen.size(), size_.dv, factor, O,
                            from_memory_);
      if constexpr (!is_narrow<E>) return ops_.values_in_place(P, V, rows, {0, seen.size()}, size_.dv, factor, O);
    }
    E const *list[key_block], *next[key_block];
    panels_.V.list(seen, list);
    if (are_few())
      return few().listed_values(P, list, panels_.V.list_one_block_on(seen, last_, next), rows, seen.size(), size_.dv,
                                 factor, O, from_memory_);
    if constexpr (!is_narrow<E>) ops_.listed_values(P, list, rows, {0, seen.size()}, size_.dv, factor, O);
  }

 private:
  row_products<E> const& few() const noexcept { return std::get<row_products<E>>(ops_.few); }

  operations<T> const& ops_;
  workspace<T> const& space_;
  key_panels<E> const& panels_;
  problem::sizes const& size_;
  std::int64_t rows_, last_;
  bool from_memory_;
};

}  // namespace attest::fast
