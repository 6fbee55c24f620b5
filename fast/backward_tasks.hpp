// A task of the backward pass: some query blocks of one kv head beside some of its key blocks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fast/backward_tile.hpp"

namespace attest::fast {

struct gradient_task {
  head_place at{};
  interval rows{};  ///< of the kv head; begins at a multiple of gradient_rows
  interval keys{};  ///< begins at a multiple of the key block
  tile_results form{};
};

/// Runs tasks on the memory of one thread. dK and dV of a key block are summed query block by query block, and dQ of a
/// row key block by key block, so no sum depends on how a head is cut into tasks.
template <class E>
class gradient_runner {
 public:
  using T = working<E>;
  static constexpr std::int64_t row_block = gradient_rows<T>, key_block = blocking_of<T>.keys;

  gradient_runner(backward_context<E> const& call, gradient_workspace<T> const& space) noexcept
      : call_(call), space_(space), queries_(call, space), keys_(call, space), tile_(call, space, queries_, keys_) {}

  /// Forms and writes the gradients of the task: dQ of its rows, dK and dV of its keys.
  void run(gradient_task const& task) noexcept {
    if (task.form.dQ) std::fill_n(space_.dQ.data, task.rows.size() * space_.dQ.stride, T(0));
    if (!task.keys.empty()) keys_.enter(task.at);
    for (std::int64_t j = task.keys.first; j < task.keys.last; j += key_block) {
      keys_.enter({j, std::min(j + key_block, task.keys.last)}, task.form.dK_dV);
      for (std::int64_t r = task.rows.first; r < task.rows.last; r += row_block) {
        queries_.enter(task.at, {r, std::min(r + row_block, task.rows.last)});
        add_tile(task.form, space_.dQ.from(r - task.rows.first));
      }
      if (task.form.dK_dV) keys_.write();
    }
    if (task.form.dQ) write_queries(task);
  }

  /// Calls visit(query_side, first key, dS of the row, r) for the rows r of a query block that see keys of this key
  /// block. dS of a row holds a number for each key of the block.
  template <class Visit>
  void each_dS(head_place const& at, interval const& rows, interval const& keys, Visit&& visit) noexcept {
    keys_.enter(at), keys_.enter(keys, false);
    queries_.enter(at, rows);
    if (!add_tile({}, {})) return;
    for (std::int64_t r = 0; r < rows.size(); ++r) visit(r, space_.dS + r * score_stride<T>);
  }

 private:
  bool add_tile(tile_results const& form, matrix<T> const& dQ) noexcept {
    interval const seen = queries_.look_at(keys_.keys());
    if (seen.empty()) return false;
    keys_.pack();
    tile_.add(form, seen, dQ);
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
  key_side<E> keys_;
  backward_tile<E> tile_;
};

}  // namespace attest::fast
