// The rows of K or V that a query block reads: those of one entry and one kv head, at one stride or in pages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fast/algorithm/band.hpp"
#include "fast/algorithm/blocking.hpp"
#include "fast/simd/matrix.hpp"
#include "problem/view.hpp"

namespace attest::fast {

/// A **run** is rows at one stride: all of them, or those of one page. An entry of the block table is followed when a
/// row of its page is asked for, and never else.
template <class E>
class key_rows {
 public:
  key_rows() = default;
  /// Requires  an entry with at least one key, and rows of at least one number
  key_rows(problem::view<E const> const& of, std::int64_t b, std::int64_t h) noexcept
      : of_(&of), b_(b), h_(h), stride_(of.stride[2]), page_(of.has_row_stride() ? 0 : of.map.page) {
    if (page_ == 0) first_ = of.row(b, h, 0);
  }

  std::int64_t stride() const noexcept { return stride_; }
  /// Do runs begin and end where lanes do (but for the last one)?
  bool runs_fill_lanes() const noexcept { return page_ % sum_lanes == 0; }
  bool are_one_run(interval const& rows) const noexcept {
    return page_ == 0 || rows.first / page_ == (rows.last - 1) / page_;
  }
  /// Requires  are_one_run(rows), not empty
  matrix<E const> run(interval const& rows) const noexcept {
    return {page_ == 0 ? first_ + rows.first * stride_ : of_->row(b_, h_, rows.first), stride_};
  }
  /// Calls visit(matrix, interval) for the runs of `rows`, in order.
  template <class Visit>
  void each_run(interval const& rows, Visit&& visit) const {
    for (std::int64_t j = rows.first; j < rows.last;) {
      interval const some{j, page_ == 0 ? rows.last : std::min(rows.last, j - j % page_ + page_)};
      visit(run(some), some);
      j = some.last;
    }
  }

 private:
  problem::view<E const> const* of_ = nullptr;
  std::int64_t b_ = 0, h_ = 0, stride_ = 0, page_ = 0;
  E const* first_ = nullptr;
};

}  // namespace attest::fast
