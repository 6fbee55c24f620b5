// A task of the backward pass: some query blocks of one kv head beside some of its key blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "fast/backward_tile.hpp"

namespace attest::fast {

struct gradient_task {
  head_place at{};
  interval rows{};  ///< of the kv head; begins at a multiple of gradient_rows
  interval keys{};  ///< begins at a multiple of the key block
  tile_results form{};
};

/// Runs tasks on the memory of one thread. dK and dV of a key block are summed query block by query block. dQ of a
/// row is summed key block by key block. So no sum depends on how a head is cut into tasks.
template <class E>
class gradient_runner {
 public:
  using T = working<E>;
  static constexpr std::int64_t row_block = gradient_rows<T>, key_block = blocking_of<T>.keys;

  /// key_blocks: that the workspace has arrays for
  gradient_runner(backward_context<E> const& call, gradient_workspace<T> const& space, std::int64_t key_blocks) noexcept
      : call_(call), space_(space), queries_(call, space), key_blocks_(key_blocks) {}

  /// Forms and writes the gradients of the task: dQ of its rows, dK and dV of its keys.
  void run(gradient_task const& task) noexcept {
    if (task.form.dQ) std::fill_n(space_.dQ.data, task.rows.size() * space_.dQ.stride, T(0));
    std::int64_t const step = key_blocks_ * key_block;
    for (std::int64_t j = task.keys.first; j < task.keys.last; j += step) {
      interval const visited{j, std::min(j + step, task.keys.last)};
      enter(task.at, visited, task.form.dK_dV);
      for (std::int64_t r = task.rows.first; r < task.rows.last; r += row_block) {
        queries_.enter(task.at, {r, std::min(r + row_block, task.rows.last)});
        for (std::int64_t g = 0; g * key_block < visited.size(); ++g)
          add_tile(places_[static_cast<std::size_t>(g)], task.form, space_.dQ.from(r - task.rows.first));
      }
      for (std::int64_t g = 0; g * key_block < visited.size() && task.form.dK_dV; ++g)
        places_[static_cast<std::size_t>(g)].keys.write();
    }
    if (task.form.dQ) write_queries(task);
  }

  /// Calls visit(r, dS of the row) for the rows r of a query block, if any of them sees keys of this key block. dS of a
  /// row holds a number for each key of the block.
  template <class Visit>
  void each_dS(head_place const& at, interval const& rows, interval const& keys, Visit&& visit) noexcept {
    enter(at, keys, false);
    queries_.enter(at, rows);
    if (!add_tile(places_[0], {}, {})) return;
    for (std::int64_t r = 0; r < rows.size(); ++r) visit(r, space_.dS + r * score_stride<T>);
  }

 private:
  /// A key block of a visit.
  struct key_place {
    gradient_workspace<T> space;
    key_side<E> keys;

    key_place(backward_context<E> const& call, gradient_workspace<T> const& shared, std::int64_t at) noexcept
        : space(shared.with_key_block(at)), keys(call, space) {}
    key_place(key_place const&) = delete;
    key_place& operator=(key_place const&) = delete;
  };

  /// Turns to the key blocks of `visited`.
  void enter(head_place const& at, interval const& visited, bool sums) noexcept {
    for (std::int64_t j = visited.first; j < visited.last; j += key_block) {
      auto& keys = places_[static_cast<std::size_t>((j - visited.first) / key_block)].keys;
      keys.enter(at), keys.enter({j, std::min(j + key_block, visited.last)}, sums);
    }
  }

  bool add_tile(key_place& place, tile_results const& form, matrix<T> const& dQ) noexcept {
    interval const seen = queries_.look_at(place.keys.keys());
    if (seen.empty()) return false;
    place.keys.pack();
    backward_tile<E>(call_, place.space, queries_, place.keys).add(form, seen, dQ);
    return true;
  }

  void write_queries(gradient_task const& task) const noexcept {
    problem::sizes const& size = call_.instance.size();
    std::int64_t const n = call_.instance.queries(task.at.b);
    if (size.d == 0) return;
    for (std::int64_t r = task.rows.first; r < task.rows.last; ++r) {
      std::int64_t const h = task.at.kv_head * (size.hq / size.hk) + r / n;
      write_row(call_, space_.dQ.row(r - task.rows.first), call_.sigma, size.d,
                call_.wanted.dq.row(task.at.b, h, r % n), space_.row);
    }
  }

  backward_context<E> const& call_;
  gradient_workspace<T> const& space_;
  query_side<E> queries_;
  std::int64_t key_blocks_;
  std::array<key_place, most_key_blocks> places_{
      {{call_, space_, 0}, {call_, space_, 1}, {call_, space_, 2}, {call_, space_, 3}}};
};

}  // namespace attest::fast
