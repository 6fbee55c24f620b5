// Panels of K and V: packed copies of the rows that a query block reads, in the working type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fast/algorithm/band.hpp"
#include "fast/algorithm/blocking.hpp"
#include "fast/key_rows.hpp"
#include "fast/query_rows.hpp"
#include "fast/simd/prefetch.hpp"
#include "fast/workspace.hpp"

namespace attest::fast {

/// Prefetches rows of a matrix into the second-level cache.
template <class T>
void prefetch_rows(matrix<T const> from, interval const& rows, std::int64_t width) noexcept {
  constexpr auto line = static_cast<std::int64_t>(scratch::line / sizeof(T));
  for (std::int64_t j = rows.first; j < rows.last; ++j)
    for (std::int64_t c = 0; c < width; c += line) prefetch_line(from.row(j) + c);
}

/// Packs the rows of K and of V of one entry and kv head, a key block at a time.
template <class E>
class key_panels {
 public:
  using T = working<E>;
  static constexpr std::int64_t key_block = blocking_of<T>.keys;
  using rows_type = key_rows<E, key_block>;

  key_panels(operations<T> const& ops, workspace<T> const& space, problem::sizes const& size) noexcept
      : ops_(ops), space_(space), size_(size) {}

  rows_type K, V;

  /// Describes K and V of entry b and this kv head. (If there is nothing to read they stay undescribed.)
  void describe(problem::instance<E> const& instance, std::int64_t b, std::int64_t kv_head) noexcept {
    if (instance.keys(b) == 0) return;
    if (size_.d > 0) K.describe(instance.k(), b, kv_head);
    if (size_.dv > 0) V.describe(instance.v(), b, kv_head);
  }

  /// The shortest interval around `keys` that is whole panels and fills all lanes of l. Both sizes are powers of two.
  interval whole_panels(interval const& keys) const noexcept {
    std::int64_t const together = std::max(ops_.panel, sum_lanes);
    return {keys.first / together * together, rounded_up(keys.last, together)};
  }

  /// Packs the panels of K that `some` names, relative to the key block.
  void pack_keys(interval const& keys, interval const& some, T* to) noexcept {
    if (size_.d == 0) return;
    for (std::int64_t j = some.first; j < some.last; j += ops_.panel, to += ops_.panel * size_.d) {
      interval const panel{std::min(keys.first + j, keys.last), std::min(keys.first + j + ops_.panel, keys.last)};
      pack_panel(panel, to);
    }
  }

  /// Packs the rows `asked` of V, of a key block.
  /// Returns  whether all their values are finite
  bool pack_values(interval const& keys, interval const& asked) noexcept {
    bool finite = true;
    auto const pack = [&](matrix<T const> const& from, interval const& some) {
      T* const to = space_.V + (some.first - keys.first) * ops_.panel;
      finite = ops_.pack_values(from, some.size(), key_block, size_.dv, to) && finite;
    };
    if (size_.dv == 0) return true;
    if constexpr (!is_narrow<E>) V.each_run(asked, pack);
    else
      for (std::int64_t j = asked.first; j < asked.last; j += workspace<T>::widest_panel) {
        interval const some{j, std::min(j + workspace<T>::widest_panel, asked.last)};
        pack(gathered(V, some, size_.dv), some);
      }
    return finite;
  }

  static void prefetch(rows_type const& from, interval const& rows, std::int64_t width) noexcept {
    if (width == 0) return;
    from.walk(rows,
              [&](matrix<E const> const& run, interval const& some) { prefetch_rows(run, {0, some.size()}, width); });
  }

  /// Prefetches where the runs of the next key block begin: the hardware follows a run, but cannot know the next page.
  static void prefetch_pages(rows_type const& from, interval const& block) noexcept {
    if (!from.are_paged()) return;
    from.walk(block, [](matrix<E const> const& run, interval const&) {
      for (int line = 0; line < 8; ++line) prefetch_line(reinterpret_cast<std::byte const*>(run.data) + line * 64);
    });
  }

 private:
  /// A copy of at most widest_panel rows of K or V in the working type.
  matrix<T const> gathered(rows_type const& from, interval const& rows, std::int64_t width) const noexcept {
    T* to = space_.wide;
    from.each_run(rows, [&](matrix<E const> const& run, interval const& some) {
      for (std::int64_t j = 0; j < some.size(); ++j, to += width) {
        if constexpr (is_narrow<E>) converted(ops_, run.row(j), width, to);
        else std::copy_n(run.row(j), width, to);
      }
    });
    return {space_.wide, width};
  }

  /// Packs one panel of K: run by run where a run fills lanes, else from a copy.
  void pack_panel(interval const& panel, T* to) noexcept {
    std::int64_t const width = ops_.panel;
    bool copies = is_narrow<E> || panel.empty();
    if constexpr (!is_narrow<E>) {
      if (!copies && K.block_is_one_run())
        return ops_.transpose(K.one_run(panel), panel.size(), size_.d, width, {to, width});
      copies = copies || !(K.are_one_run(panel) || K.runs_fill_lanes());
      if (!copies)
        K.each_run(panel, [&](matrix<T const> const& run, interval const& some) {
          std::int64_t const at = some.first - panel.first,
                             columns = some.last == panel.last ? width - at : some.size();
          ops_.transpose(run, some.size(), size_.d, columns, {to + at, width});
        });
    }
    if (copies) ops_.transpose(gathered(K, panel, size_.d), panel.size(), size_.d, width, {to, width});
  }

  operations<T> const& ops_;
  workspace<T> const& space_;
  problem::sizes const& size_;
};

}  // namespace attest::fast
