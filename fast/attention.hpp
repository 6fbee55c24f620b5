// The fast kernel: O = softmax(σ·Q·Kᵀ + bias, masked)·V, without ever holding an n × m matrix.
#pragma once

#include <variant>

#include "problem/instance.hpp"
#include "problem/result.hpp"

namespace attest::fast {

struct options {
  int threads = 0;  ///< at most this many; 0 = the kernel's own choice
};

/// O_i = Σ_j softmax_j(s_ij)·v_j over visible keys, s_ij = σ·(q_i·k_j) + bias_ij; LSE and weights where asked for.
///
/// Shapes    those of problem::instance
/// Requires  outputs that overlap nothing
/// Ensures   every element of the outputs is written, within the bound of docs/bound.md for fast::model (model.hpp);
///           a row's bits depend on its own query, visible keys, values and biases and on (m, d, dv, T) only: not on
///           the number of threads, its place in the batch, other rows, or anything at an invisible key; they are the
///           same on AVX2 and AVX-512. Subnormal numbers count as 0.
///           The floating-point environment is as it was. On an error no output is touched
/// Errors    unsupported: softcap; bad_value: threads below 0
/// Throws    std::bad_alloc where a thread cannot have its block: half of the second-level cache and O(d + dv) numbers
/// Source    docs/semantics.md; Milakov and Gimelshein 2018 (online softmax); Dao 2023, algorithm 1 (FlashAttention-2)
/// Cost      b·hq·n·m·(d + dv) multiply-adds, less the tiles that the band hides
problem::result<std::monostate> attention(problem::instance<float> const& asked, problem::outputs<float> const& given,
                                          options const& how = {});
problem::result<std::monostate> attention(problem::instance<double> const& asked, problem::outputs<double> const& given,
                                          options const& how = {});

}  // namespace attest::fast
