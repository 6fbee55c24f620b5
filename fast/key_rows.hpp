// The rows of K or V that a query block reads: rows of one entry and one kv head, at one stride or in pages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fast/algorithm/band.hpp"
#include "fast/algorithm/blocking.hpp"
#include "fast/simd/matrix.hpp"
#include "problem/view.hpp"

namespace attest::fast {

/// A **run** is rows at one stride: all rows, or the rows of one page. An entry of the block table is followed only if
/// rows of its page are asked for. `most` is the size of the largest key block.
template <class E, std::int64_t most>
class key_rows {
 public:
  key_rows() noexcept {}  // leaves runs_ as it is

  /// Requires  entry b has at least one key, and rows have at least one number
  void describe(problem::view<E const> const& of, std::int64_t b, std::int64_t h) noexcept {
    stride_ = of.stride[2];
    if (of.has_row_stride()) {
      first_ = of.row(b, h, 0);
    } else {
      first_ = of.data + h * of.stride[1];
      table_ = of.map.table + b * of.map.width, page_ = of.map.page, page_stride_ = of.stride[0];
    }
  }

  std::int64_t stride() const noexcept { return stride_; }
  bool are_paged() const noexcept { return page_ != 0; }
  /// Do runs begin and end where lanes do? The end of the last run does not count.
  bool runs_fill_lanes() const noexcept { return page_ % sum_lanes == 0; }

  /// The place of the rows that follow these by one key block, if they lie in one run and before row `last`; else null.
  E const* one_block_on(interval const& rows, std::int64_t last) const noexcept {
    interval const on = moved_on(rows);
    if (on.last > last) return nullptr;
    if (page_ == 0) return first_ + on.first * stride_;
    std::int64_t const at = on.first / page_, inside = on.first % page_;
    return inside + on.size() <= page_ ? in_page(at, inside) : nullptr;
  }

  /// Calls visit(matrix, interval) for the runs of any rows, in order.
  template <class Visit>
  void walk(interval const& rows, Visit&& visit) const {
    if (rows.empty()) return;
    if (page_ == 0) return visit(matrix<E const>{first_ + rows.first * stride_, stride_}, rows);
    std::int64_t at = rows.first / page_, inside = rows.first % page_;
    for (std::int64_t j = rows.first; j < rows.last; ++at, inside = 0) {
      interval const some{j, std::min(rows.last, j + (page_ - inside))};
      visit(matrix<E const>{in_page(at, inside), stride_}, some);
      j = some.last;
    }
  }

  /// to[j] ← where row rows.first + j begins, of any rows.
  E const* const* list(interval const& rows, E const** to) const noexcept {
    E const** next = to;
    walk(rows, [&](matrix<E const> const& from, interval const& some) {
      for (std::int64_t j = 0; j < some.size(); ++j) *next++ = from.row(j);
    });
    return to;
  }
  /// The same for the rows that follow these by one key block, if they lie before row `last`; else null.
  E const* const* list_one_block_on(interval const& rows, std::int64_t last, E const** to) const noexcept {
    return moved_on(rows).last <= last ? list(moved_on(rows), to) : nullptr;
  }

  /// Finds the runs of a key block, for the functions below: their rows lie in the block that was entered last.
  void enter(interval const& block) noexcept {
    run* next = runs_;
    walk(block,
         [&](matrix<E const> const& rows, interval const& some) { *next++ = {rows.data, some.first, some.last}; });
    whole_ = next == runs_ + 1;
  }
  /// Is the block that was entered one run?
  bool block_is_one_run() const noexcept { return whole_; }
  bool are_one_run(interval const& rows) const noexcept { return whole_ || rows.last <= run_of(rows.first)->last; }
  /// Requires  are_one_run(rows), not empty
  matrix<E const> one_run(interval const& rows) const noexcept {
    run const* const in = whole_ ? runs_ : run_of(rows.first);
    return {in->data + (rows.first - in->first) * stride_, stride_};
  }
  /// walk() without a division.
  template <class Visit>
  void each_run(interval const& rows, Visit&& visit) const {
    if (rows.empty()) return;
    run const* in = run_of(rows.first);
    for (std::int64_t j = rows.first; j < rows.last; ++in) {
      interval const some{j, std::min(rows.last, in->last)};
      visit(matrix<E const>{in->data + (j - in->first) * stride_, stride_}, some);
      j = some.last;
    }
  }

 private:
  struct run {  // no initialisers: a query block needs few of its many runs
    E const* data;
    std::int64_t first, last;  ///< keys
  };

  static interval moved_on(interval const& rows) noexcept { return {rows.first + most, rows.last + most}; }

  E const* in_page(std::int64_t at, std::int64_t inside) const noexcept {
    return first_ + (table_[at] * page_stride_ + inside * stride_);
  }

  run const* run_of(std::int64_t row) const noexcept {
    run const* in = runs_;
    while (in->last <= row) ++in;
    return in;
  }

  E const* first_ = nullptr;
  std::int32_t const* table_ = nullptr;
  std::int64_t stride_ = 0, page_ = 0, page_stride_ = 0;
  bool whole_ = false;
  run runs_[most];
};

}  // namespace attest::fast
