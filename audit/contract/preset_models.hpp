// The kernel models of the presets of attention (docs/bound.md, section 10).
#pragma once

#include "problem/element_type.hpp"
#include "problem/kernel_model.hpp"

namespace attest::audit {

/// The preset `f32` of docs/bound.md, section 10: any order, any blocking, merging without normalisation.
problem::kernel_model unknown_f32();

/// The preset `f32-any`: one level of merging, with a final division, and a sink in any form. With 63 levels and a sink
/// that is a term `f32-ring`.
problem::kernel_model unknown_f32_any(int merge_levels = 1);

/// The preset `f32-ring-sigmoid`: 31 levels of o − σ(L_s − L)(o − o_s). (With 63 of them rows with an LSE of 10⁴ have
/// no bound: L − log σ(L − L_s) rounds numbers of that size in every merge.)
problem::kernel_model unknown_f32_sigmoids();

/// The preset `f32-split`: the combine of FlashAttention-2's split keys, which weighs parts by exp(L_s − L) and divides
/// nothing. It takes at most 128 parts.
problem::kernel_model unknown_f32_split();

/// Keys in the order of the index, or at least 64 at a time; at most 16 merges (docs/bound.md, Lemma 2, Order of
/// index).
problem::kernel_model ordered(problem::kernel_model);

/// The preset `f32-gradual`: f32 without flushing.
problem::kernel_model gradual_f32();

/// The preset `f64-in-f32`: q, k, v and the bias are converted to float32, one rounding more for each. A term of q·k
/// holds two of these roundings, a term of O one. A number below ω that becomes 0 is a number that f32 may read as 0. A
/// number that overflows is outside the lines of H0 on q, k, b_j and Ô. The results are float32 numbers, exact in
/// float64.
problem::kernel_model f64_in_f32();

/// The preset `f16-scores`: finished scores (scaled, capped, with their bias) are stored in float16 once. In base 2 the
/// stored number is s·log₂ e, which passes 65520 from s = 65520·ln 2 on and underflows by ln 2·2⁻²⁵ at most.
problem::kernel_model f16_scores();

/// The preset `bf16-throughout`: float32 tensors, and bfloat16 wherever a step of attention stores a number. The steps
/// are the conversions of the inputs, the two matrix products, scale, softcap (with tanh as one step), bias, softmax
/// and the conversion of the results. The sums of the products are float32, and may truncate. One rounding to bfloat16
/// is r = 2⁻⁸, which γ_k(2⁻²³) counts as 2¹⁵ roundings, and γ_k(2⁻²⁴) as 2¹⁶.
///   k_qk_base  8 of them: q, k, √d, σ, log₂ e, σ·log₂ e, the product with σ (or the two with its root), the store
///              before the bias; the last store is u_s. A root is formed in float32 and rounded as it is applied
///   g_b        3: the bias, log₂ e, their product
///   e_c        6: c, 1/c, the product with it, tanh, c again, the last product
///   u_p, u_v   1 each: a weight, an element of V. k_pre cannot hold the second, as H4 limits it
///   k_lse      1, of the LSE as it is returned
problem::kernel_model bf16_throughout();

/// The preset `f64`: `f32` with the roundings of float64.
problem::kernel_model unknown_f64();

/// Inputs and outputs of 16 bits, f32 accumulation, weights rounded before V (docs/bound.md, section 10). Conversions
/// to f16 underflow gradually unless `flushed` (conversions of x86 ignore its flags); conversions to bf16 may flush
/// with f32.
problem::kernel_model sixteen_bit(problem::element_type type, bool tensor_core, bool flushed = false);

}  // namespace attest::audit
