// The task of computing a block of rows. Shared by rows.cpp and double_word/rows.cpp.
#pragma once

#include "reference/machine/rows.hpp"

namespace attest::reference::machine {

/// Rows i0 ≤ i < i0 + rows of head h of batch b.
template <class T>
struct block_task {
  problem::instance<T> const* p;
  problem::kernel_model const* model;
  workspace* memory;
  std::int64_t b, h, i0;
  std::size_t rows;
  row_options options;
  void (*visit)(void*, certified_row const&);
  void* context;
};

template <class T>
using block_task_pointer = block_task<T> const*;
using any_block_task = problem::variant_of<block_task_pointer, problem::floating_elements>;

/// The types for which one double is enough: products of two of their numbers are exact.
template <class T>
struct has_exact_products : std::bool_constant<2 * (problem::format_of<T>.fraction_bits + 1) <=
                                               problem::format_of<double>.fraction_bits + 1> {};
using one_double_elements = problem::filtered_list<has_exact_products, problem::floating_elements>;
using one_double_task = problem::variant_of<block_task_pointer, one_double_elements>;

/// Computes the rows in double words, on the best SIMD target (double_word/rows.cpp).
void run_in_double_words(any_block_task const& task);

}  // namespace attest::reference::machine
