// The backward pass of the fast kernel: the gradients of attention, without an n × m matrix in memory.
#pragma once

#include <variant>

#include "fast/attention.hpp"
#include "problem/instance.hpp"
#include "problem/result.hpp"

namespace attest::fast {

/// The inputs of the backward pass beside the problem: the gradient of the loss by O, and what the forward pass wrote.
/// Shapes  dO and O [b, hq, n, dv], LSE [b, hq, n, 1], rows of the queries' entries; each with strides of its own
template <problem::floating_element E>
struct backward_inputs {
  problem::view<E const> d_o{}, o{};
  problem::view<problem::lse_element<E> const> lse{};
};

/// The gradients. An absent one is not computed.
/// Shapes  dQ [b, hq, n, d], dK [b, hk, m, d] and dV [b, hk, m, dv], rows of the entries; dBias [b or 1, hq or 1, n or
///         1, m] and dSink [b or 1, hq, 1, 1] as the bias and the sink themselves are, and one of the two types each:
///         an axis in which these are broadcast has size 1
template <problem::floating_element E>
struct gradients {
  problem::view<E> dq{}, dk{}, dv{};
  problem::view<E> dbias{};
  problem::view<float> dbias_f32{};
  problem::view<E> dsink{};
  problem::view<float> dsink_f32{};
};

/// For each query i and visible key j, with p_ij = e^(s_ij − LSE_i), W_ij = dO_i·v_j, Δ_i = dO_i·O_i,
/// dS_ij = p_ij·(W_ij − Δ_i) and g_ij = 1 − tanh²(σ·(q_i·k_j)/c) (1 without softcap c):
///
///   dV_j = Σ_i p_ij·dO_i,   dQ_i = σ·Σ_j dS_ij·g_ij·k_j,   dK_j = σ·Σ_i dS_ij·g_ij·q_i,   dBias_ij = dS_ij,
///   dSink_h = −Σ_i e^(t − LSE_i)·Δ_i over the rows of head h that see a key.
///
/// Sums over i run over all rows of all query heads that read the key's head; dBias and dSink are summed over the axes
/// in which the bias and the sink are broadcast. With dropout, W and the weights of dV are 0 where `keep` is 0, and
/// divided by 1 − p elsewhere. Like the forward pass, this one computes bf16 and f16 in f32. It rounds
/// gradients once, at the end.
///
/// Requires  gradients overlap neither each other nor an input. A gradient of a packed tensor is packed like it. Of K
///           and V in pages, the gradients are rows of slots [b, hk, m, ·]: a page may belong to several entries
/// Ensures   Every element of a gradient in a row (of dQ: a query, of dK and dV: a key) of an entry is written, and no
///           other; dBias and dSink are written whole. A pair (i, j) whose key is invisible contributes exactly
///           nothing, whatever Q, dO, K, V and the bias hold there. Rows without a visible key, and rows with LSE = −∞,
///           contribute 0. A row with LSE = NaN or +∞ makes NaN of the gradients of all that it sees.
///           The bits of dQ_i depend on the row's own numbers and visible keys (with their indices j) alone. The bits
///           of dK_j and dV_j depend on the key and on the rows that see it, with their places in the kv head. So
///           they do not depend on threads, the place in the batch, other entries, slots, packing or pages. The bits
///           are the same on AVX2 and AVX-512. Errors are within backward_model (fast/algorithm/backward_model.hpp)
/// Errors    bad_value: threads or cache below 0. missing: dO, O or LSE. unsupported: base 2; a bf16_arithmetic other
/// than f32 Throws    std::bad_alloc if a thread cannot allocate its working memory: blocks of 128 queries and 128
/// keys, and dQ
///           of one kv head
/// Source    docs/semantics.md; Dao 2023, algorithm 2 (FlashAttention-2)
/// Cost      b·hq·n·m·(3·d + 2·dv) multiply-adds where kv heads share the threads evenly, else b·hq·n·m·(4·d + 3·dv):
///           scores and W are then formed once for dK and dV and once for dQ. dBias: b·hq·n·m·(d + dv) more. Each less
///           what the band or the block mask hides
template <problem::floating_element E>
problem::result<std::monostate> attention_backward(problem::instance<E> const& instance,
                                                   backward_inputs<E> const& given, gradients<E> const& wanted,
                                                   options const& chosen = {});

}  // namespace attest::fast
