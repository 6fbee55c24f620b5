// The fast kernel: O = softmax(σ·Q·Kᵀ + bias, masked)·V, without an n × m matrix in memory.
#pragma once

#include <cstdint>
#include <variant>

#include "problem/instance.hpp"
#include "problem/result.hpp"

namespace attest::fast {

/// The ways of multiplying numbers stored as bf16. Each is an arithmetic of its own, with its own error model and bits.
enum class bf16_arithmetic : std::uint8_t {
  f32,  ///< as the f32 numbers that they are: fast::model
  // The others round weights to bf16 for V: fast::dot_product_model.
  dot_products,   ///< in pairs (simd/bf16_pairs.hpp)
  tile_products,  ///< in tiles of 16 pairs (simd/bf16_tiles.hpp)
};

/// Whether this processor has the arithmetic.
bool is_here(bf16_arithmetic of) noexcept;

struct options {
  int threads = 0;         ///< at most this many; 0: the kernel chooses
  std::int64_t cache = 0;  ///< bytes of second-level cache to plan for; 0: the cache of one core of this machine
  fast::bf16_arithmetic bf16_arithmetic = fast::bf16_arithmetic::f32;
};

/// O_i = Σ_j softmax_j(s_ij)·v_j over visible keys, s_ij = c·tanh(σ·(q_i·k_j)/c) + bias_ij (without softcap c:
/// σ·(q_i·k_j) + bias_ij); LSE and weights if they are among the outputs. A sink t of the head is one more score of
/// each of its rows, without key and value. Entries may be dense, shorter than their slots, packed or (K and V) paged.
///
/// bf16 and f16 are storage formats: the arithmetic is f32 arithmetic. O and weights are the results for the same
/// numbers in f32, rounded to nearest. With bf16_arithmetic::dot_products or tile_products, q·k and P·V are sums of
/// products of bf16 instead. Their bits are the same on every processor that has the arithmetic: dot_products with
/// AVX512-BF16; tile_products with AMX (fast), or with AVX2 and FMA.
///
/// Shapes    as in problem::instance
/// Requires  outputs overlap neither each other nor an input
/// Ensures   Every element of the outputs in a row of an entry is written, and no other. Each is within the bound of
///           docs/bound.md for fast::model, or fast::dot_product_model (model.hpp). A row's bits depend only on its own
///           query, sink, visible keys (with their indices j), values and biases and on (d, dv, T). They do not depend
///           on the number of threads, the row's place in the batch, other rows and entries, the size of its slot, or
///           anything at an invisible key. Nor do they depend on whether and where its rows are packed or paged. The
///           bits are the same on AVX2 and AVX-512. A key behind the entry's length is not read; an entry of the block
///           table that no key needs is not followed. Subnormal numbers of f32, f64 and bf16 count as 0. The
///           floating-point environment is restored. On an error no output is written
/// Errors    bad_value: threads or cache below 0. unsupported: dropout; a bf16_arithmetic other than f32 for another
///           element type, or if the processor lacks it
/// Throws    std::bad_alloc if a thread cannot allocate its working memory. That is half of the planned cache and O(d +
///           dv) numbers; 8 bytes an entry if entries have different numbers of queries; and for weights in bf16 and
///           f16, 4 MiB or 24 rows of scores more
/// Source    docs/semantics.md; Milakov and Gimelshein 2018 (online softmax); Dao 2023, algorithm 1 (FlashAttention-2)
/// Cost      b·hq·n·m·(d + dv) multiply-adds (n and m of each entry), less the key blocks that the band or the block
///           mask hides from a strip
template <problem::floating_element E>
problem::result<std::monostate> attention(problem::instance<E> const& instance, problem::outputs<E> const& outputs,
                                          options const& chosen = {});

/// Frees the working memory that threads keep from call to call, except memory that a call on another thread is using.
/// Later calls allocate it anew; their results are the same.
///
/// Returns   the bytes that were freed
/// Cost      a thread's memory is a lock and a free
std::int64_t release_memory() noexcept;

}  // namespace attest::fast
