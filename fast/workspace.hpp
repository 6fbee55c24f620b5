// The working memory of one thread: one allocation, kept from call to call, so that small problems allocate nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "fast/algorithm/blocking.hpp"
#include "fast/simd/operations.hpp"

namespace attest::fast {

/// Bytes that begin at a cache line. Their contents are lost when they grow.
class scratch {
 public:
  scratch() = default;
  scratch(scratch const&) = delete;
  scratch& operator=(scratch const&) = delete;
  ~scratch() { std::free(data_); }

  /// Throws  std::bad_alloc
  std::byte* at_least(std::size_t bytes) {
    if (bytes > size_) {
      std::size_t const rounded = (bytes + line - 1) / line * line;
      void* const grown = std::aligned_alloc(line, rounded);
      if (grown == nullptr) throw std::bad_alloc();
      std::free(data_);
      data_ = static_cast<std::byte*>(grown), size_ = rounded;
    }
    return data_;
  }

  std::size_t bytes() const noexcept { return size_; }
  void release() noexcept {
    std::free(data_);
    data_ = nullptr, size_ = 0;
  }

  static constexpr std::size_t line = 64;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Places arrays one behind another from `base` on, or only measures them if that is null. Each begins at a cache line;
/// behind each is memory for a vector that a loop reads or writes beyond the end.
template <class T>
class array_layout {
 public:
  explicit array_layout(std::byte* base) noexcept : base_(base) {}

  /// The place of `count` numbers; null if arrays are only measured.
  T* take(std::int64_t count) noexcept {
    std::byte* const array = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (static_cast<std::size_t>(count + 2 * sum_lanes) * sizeof(T) + scratch::line - 1) / scratch::line *
             scratch::line;
    return reinterpret_cast<T*>(array);
  }
  std::size_t bytes() const noexcept { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

/// The arrays of a query block, in the form of array_layout.
template <class T>
struct workspace {
  T* Q = nullptr;      ///< [strips, strip_rows, packed_dimensions(d)] scaled queries
  T* wide = nullptr;   ///< [widest_panel, max(d, dv)] rows of bf16 or f16, converted, or rows from pages
  T* kept = nullptr;   ///< [rows, m] scores from which weights are made, if the output cannot hold them
  T* K = nullptr;      ///< [keys/panel, packed_dimensions(d), panel] K of one key block
  T* V = nullptr;      ///< [dv/panel, keys, panel] V of one key block
  T* S = nullptr;      ///< [strip_rows, score_stride] the scores of a strip, then its weights P
  matrix<T> O{};       ///< [rows, dv] not yet divided by l
  matrix<T> next_O{};  ///< the O of the next split, if there are several
  row_states<T> states{}, next{};

  /// Columns of O in memory: whole vectors.
  static constexpr std::int64_t padded(std::int64_t dv) noexcept { return rounded_up(dv, sum_lanes); }

  /// Memory of a packed query or key, in numbers: tiles of bf16 have at least 16 pairs.
  static constexpr std::int64_t packed_dimensions(std::int64_t d) noexcept { return std::max<std::int64_t>(d, 16); }

  /// No target's panel is wider.
  static constexpr std::int64_t widest_panel = 64;

  /// The facts that decide the arrays of a call, except its sizes.
  struct requirements {
    bool several_splits = false, gathers = false;  ///< gathers: rows are converted, or collected from pages
    std::int64_t kept = 0;                         ///< scores to keep of each row
    bool short_strips = false;                     ///< strips may have fewest_strip_rows rows
  };

  /// Lays the arrays out in `memory`, which grows if it is too small.
  static workspace in(scratch& memory, std::int64_t rows, std::int64_t d, std::int64_t dv, requirements const& needs) {
    workspace space;
    space.lay_out(memory.at_least(space.lay_out(nullptr, rows, d, dv, needs)), rows, d, dv, needs);
    return space;
  }
  /// The bytes that this takes.
  static std::int64_t bytes(std::int64_t rows, std::int64_t d, std::int64_t dv, requirements const& needs) noexcept {
    return static_cast<std::int64_t>(workspace().lay_out(nullptr, rows, d, dv, needs));
  }

 private:
  /// Places the arrays from `base` on, or only measures if that is null.
  /// Returns  the bytes they take
  std::size_t lay_out(std::byte* base, std::int64_t rows, std::int64_t d, std::int64_t dv,
                      requirements const& needs) noexcept {
    std::int64_t const all = rounded_up(rows, strip_rows), keys = blocking_of<T>.keys, width = padded(dv);
    std::int64_t const merged = needs.several_splits ? all : 0;
    std::int64_t const strips = ceiling_division(rows, needs.short_strips ? fewest_strip_rows : strip_rows);
    array_layout<T> arrays(base);
    auto const take = [&](std::int64_t count) { return arrays.take(count); };
    Q = take(strips * strip_rows * packed_dimensions(d)), K = take(keys * packed_dimensions(d));
    wide = take(needs.gathers ? widest_panel * std::max(packed_dimensions(d), dv) : 0), kept = take(rows * needs.kept);
    V = take(keys * rounded_up(dv, widest_panel)), S = take(strip_rows * score_stride<T>);
    O = {take(all * width), width}, next_O = {take(merged * width), width};
    states = {take(all), take(all * sum_lanes), take(all)};
    next = {take(merged), take(merged * sum_lanes), take(merged)};
    return arrays.bytes();
  }
};

}  // namespace attest::fast
