// What a block of rows is asked for. Shared by rows.cpp and pairs.cpp.
#pragma once

#include "reference/machine/rows.hpp"

namespace attest::reference::machine {

/// Rows i0 ≤ i < i0 + rows of head h of batch b.
template <class T>
struct block_task {
  problem::instance<T> const* asked;
  problem::kernel_model const* model;
  workspace* memory;
  std::int64_t b, h, i0;
  std::size_t rows;
  row_options how;
  void (*visit)(void*, certified_row const&);
  void* to;
};

/// The rows in double words, on the best SIMD target (pairs.cpp).
template <class T>
void run_pairs(block_task<T> const& task);

}  // namespace attest::reference::machine
