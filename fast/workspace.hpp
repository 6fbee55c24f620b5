// The memory of one thread: one piece, kept from call to call, so that small problems allocate nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "fast/algorithm/blocking.hpp"
#include "fast/simd/operations.hpp"

namespace attest::fast {

/// Bytes that begin at a cache line. What they held is lost when they grow.
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

  static constexpr std::size_t line = 64;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The arrays of a block of queries. Beyond each lies room for the vector that a loop writes or reads too much.
template <class T>
struct workspace {
  T* Q = nullptr;        ///< [rows/tile, d, tile] scaled queries
  T* scaled = nullptr;   ///< [sum_lanes, d] the tile that is being packed
  T* wide = nullptr;     ///< [widest_panel, max(d, dv)] rows of bf16 or f16, converted
  T* kept = nullptr;     ///< [rows, m] scores of rows whose weights are wanted, where the output cannot hold them
  T* K = nullptr;        ///< [keys/panel, d, panel] of one block
  T* V = nullptr;        ///< [dv/panel, keys, panel] of one block
  T* S = nullptr;        ///< [strip_rows, score_stride] S, then P
  matrix<T> O{};         ///< [rows, dv] not yet divided by l
  matrix<T> next_O{};    ///< of the next partial row, where there are several
  row_states<T> states{}, next{};

  /// Columns of O as they are laid out: whole vectors.
  static constexpr std::int64_t padded(std::int64_t dv) noexcept { return rounded_up(dv, sum_lanes); }

  static constexpr std::int64_t widest_panel = 64;

  /// What a call needs beside its sizes.
  struct wishes {
    bool several_splits = false, converts = false;
    std::int64_t kept = 0;  ///< scores of a row
  };

  /// Lays the arrays out in `memory`, which grows where it must.
  static workspace in(scratch& memory, std::int64_t rows, std::int64_t d, std::int64_t dv, wishes const& wanted) {
    workspace made;
    made.lay_out(memory.at_least(made.lay_out(nullptr, rows, d, dv, wanted)), rows, d, dv, wanted);
    return made;
  }
  /// What that takes.
  static std::int64_t bytes(std::int64_t rows, std::int64_t d, std::int64_t dv, wishes const& wanted) noexcept {
    return static_cast<std::int64_t>(workspace().lay_out(nullptr, rows, d, dv, wanted));
  }

 private:
  /// Places the arrays from `base` on, or only measures where that is null. Answers the bytes.
  std::size_t lay_out(std::byte* base, std::int64_t rows, std::int64_t d, std::int64_t dv, wishes const& wanted) noexcept {
    std::int64_t const all = rounded_up(rows, strip_rows), keys = blocking_of<T>.keys, width = padded(dv);
    std::int64_t const merged = wanted.several_splits ? all : 0;
    std::size_t used = 0;
    auto const take = [&](std::int64_t count) {
      std::byte* const here = base == nullptr ? nullptr : base + used;
      used += (static_cast<std::size_t>(count + 2 * sum_lanes) * sizeof(T) + scratch::line - 1) / scratch::line *
              scratch::line;
      return reinterpret_cast<T*>(here);
    };
    Q = take(all * d), scaled = take(sum_lanes * d), K = take(keys * d);
    wide = take(wanted.converts ? widest_panel * std::max(d, dv) : 0), kept = take(rows * wanted.kept);
    V = take(keys * rounded_up(dv, widest_panel)), S = take(strip_rows * score_stride<T>);
    O = {take(all * width), width}, next_O = {take(merged * width), width};
    states = {take(all), take(all * sum_lanes), take(all)};
    next = {take(merged), take(merged * sum_lanes), take(merged)};
    return used;
  }
};

}  // namespace attest::fast
