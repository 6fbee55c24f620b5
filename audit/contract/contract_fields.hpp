// The only list of the fields of a contract, with their ranges. The reader and the writer of contract files visit it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "audit/contract/contract.hpp"

namespace attest::audit {

/// The numbers that a field may have, both ends included. No kernel has a model outside these ranges: 2⁻² is coarser
/// than any format, and counts up to a million roundings stay below the pole of γ_k.
struct range {
  double least = 0, most = 0;
};

namespace fields {

inline constexpr range unit{0, 0.25};             ///< a relative error
inline constexpr range roundoff{0x1p-200, 0.25};  ///< a unit roundoff, which is never 0
inline constexpr range absolute{0, 1};            ///< an absolute error
inline constexpr range exponent{0, 16384};        ///< a power of e or of 2
inline constexpr range size{0, std::numeric_limits<double>::max()};
inline constexpr range count{0, 1e6};
inline constexpr range some{1, 1e6};
inline constexpr range steps{0, 1024};  ///< products of one step of a matrix unit
inline constexpr range bits{0, 29};     ///< further bits than a format has
inline constexpr range cutoff{0, std::numeric_limits<double>::infinity()};
inline constexpr range limit{0, std::numeric_limits<double>::infinity()};  ///< an overflow threshold

/// Visits an enumeration as a word: `words[static_cast<std::size_t>(field)]`.
template <class Visitor, class Enum, std::size_t N>
void word(Visitor& visitor, char const* name, Enum& field, char const* const (&words)[N]) {
  auto at = static_cast<std::size_t>(field);
  visitor.word(name, words, at);
  field = static_cast<Enum>(at);
}

/// Visits a whole number.
template <class Visitor>
void whole(Visitor& visitor, char const* name, int& field, range const& allowed) {
  auto wide = static_cast<std::int64_t>(field);
  visitor.count(name, wide, allowed);
  field = static_cast<int>(wide);
}

}  // namespace fields

/// Visits every field of problem::kernel_model by its name. Fields that version 0.1 did not know are optional in every
/// file: their defaults describe the kernels that 0.1 judged.
template <class Visitor>
void visit_model(problem::kernel_model& m, Visitor& visitor) {
  using namespace fields;
  visitor.object("format", [&](Visitor& inside) {
    inside.number("u", m.format.u, roundoff);
    inside.number("omega", m.format.omega, absolute);
    inside.number("far", m.format.far, exponent);
    inside.number("largest_x0", m.format.largest_x0, exponent);
    inside.number("omega_w", m.format.omega_w, absolute);
    inside.number("h0_limit", m.format.h0_limit, size);
  });
  whole(visitor, "k_qk_base", m.k_qk_base, fields::count);
  whole(visitor, "k_qk_per_d", m.k_qk_per_d, fields::count);
  visitor.number("u_qk", m.u_qk, unit);
  visitor.flag("fold_q", m.fold_q);
  whole(visitor, "k_add", m.k_add, fields::count);
  visitor.number("g_b", m.g_b, unit);
  visitor.number("e_c", m.e_c, unit);
  visitor.number("a_t", m.a_t, absolute);
  visitor.number("u_s", m.u_s, unit);
  visitor.number("omega_s", m.omega_s, absolute);
  whole(visitor, "k_x", m.k_x, fields::count);
  whole(visitor, "c_m", m.c_m, fields::count);
  visitor.number("eps", m.eps, unit);
  fields::word(visitor, "rescales", m.rescales, {"none", "per_block", "rank_of_score"});
  visitor.number("tau", m.tau, exponent);
  visitor.number("x0", m.x0, cutoff);
  visitor.number("u_p", m.u_p, unit);
  visitor.number("omega_p", m.omega_p, absolute);
  visitor.flag("p_shared", m.p_shared);
  visitor.count("block", m.block, some);
  fields::word(visitor, "height", m.height, {"in_sequence", "block_local", "declared"});
  whole(visitor, "k_pre", m.k_pre, fields::count);
  visitor.number("u_pv", m.u_pv, unit);
  whole(visitor, "splits", m.splits, some);
  fields::word(visitor, "merge", m.merge, {"raw", "lse", "lse_normalised", "sigmoid", "logsigmoid"});
  whole(visitor, "k_f", m.k_f, fields::count);
  visitor.number("u_out", m.u_out, unit);
  visitor.number("omega_out", m.omega_out, absolute);
  visitor.flag("flushes", m.flushes);
  visitor.number("eps_log", m.eps_log, unit);
  whole(visitor, "k_lse", m.k_lse, fields::some);
  visitor.optional([&](Visitor& added) {
    added.flag("fold_k", m.fold_k);
    fields::word(added, "folded_overflow", m.folded_overflow, {"survived", "unspecified"});
    added.flag("bias_first", m.bias_first);
    added.number("s_limit", m.s_limit, limit);
    fields::word(added, "large_scores", m.large_scores, {"stable", "unspecified"});
    added.number("mask_limit", m.mask_limit, limit);
    fields::word(added, "order", m.order, {"any", "index"});
    added.count("least_block", m.least_block, some);
    whole(added, "merges", m.merges, fields::count);
    fields::word(added, "unchanged_rescale", m.unchanged_rescale, {"exact", "rounded"});
    added.number("p_limit", m.p_limit, limit);
    fields::word(added, "p_normalised", m.p_normalised, {"no", "yes", "unknown"});
    fields::word(added, "weight_reference", m.weight_reference,
                 {"unknown", "rising", "falling", "whole_row", "own_block"});
    fields::word(added, "returned_weights", m.returned_weights, {"unrounded", "rounded", "unknown"});
    added.count("height_divisor", m.height_divisor, some);
    added.count("height_base", m.height_base, fields::count);
    added.count("promote", m.promote, fields::count);
    whole(added, "merge_levels", m.merge_levels, some);
    added.flag("parts_are_keys", m.parts_are_keys);
    added.number("u_state", m.u_state, unit);
    added.number("omega_state", m.omega_state, absolute);
    added.number("state_limit", m.state_limit, limit);
    whole(added, "k_block", m.k_block, fields::count);
    added.count("divided_block", m.divided_block, some);
    fields::word(added, "normalise", m.normalise, {"sum", "lse", "first_pass"});
    added.number("out_limit", m.out_limit, limit);
    whole(added, "k_t", m.k_t, fields::count);
    added.number("u_t", m.u_t, unit);
    added.number("omega_t", m.omega_t, absolute);
    added.number("sink_limit", m.sink_limit, limit);
    fields::word(added, "sink_form", m.sink_form, {"term", "rescale", "any"});
    whole(added, "k_sink", m.k_sink, fields::some);
    added.number("u_sink", m.u_sink, unit);
    added.number("omega_sink", m.omega_sink, absolute);
    whole(added, "k_drop", m.k_drop, fields::count);
    added.number("u_drop", m.u_drop, unit);
    added.number("omega_drop", m.omega_drop, absolute);
    added.number("u_rate", m.u_rate, unit);
    added.count("block_most", m.block_most, some);
    fields::word(added, "zero_products", m.zero_products, {"counted", "exact"});
    added.number("eps_rescale", m.eps_rescale, unit);
    added.count("l_height_divisor", m.l_height_divisor, fields::count);
    added.count("l_height_base", m.l_height_base, fields::count);
    added.number("omega_log", m.omega_log, absolute);
    whole(added, "block_fma", m.block_fma, fields::steps);
    whole(added, "alignment_bits", m.alignment_bits, fields::bits);
    fields::word(added, "accumulator", m.accumulator, {"any", "one"});
    added.number("u_v", m.u_v, unit);
  });
}

/// Visits every convention by its name.
template <class Visitor>
void visit_conventions(conventions& c, Visitor& visitor) {
  fields::word(visitor, "masked_values", c.masked_values, {"never_read", "must_be_finite", "must_not_overflow"});
  fields::word(visitor, "empty_row", c.empty_row, {"zero", "nan", "mean", "unmasked", "nan_unless_no_keys"});
  fields::word(visitor, "empty_lse", c.empty_lse, {"-inf", "0", "+inf"});
  fields::word(visitor, "nan", c.nan, {"propagate", "unspecified"});
  fields::word(visitor, "sink_inf", c.sink_inf, {"nan", "limit"});
  fields::word(visitor, "lse_sink", c.lse_sink, {"included", "excluded"});
  fields::word(visitor, "lse_base", c.lse_base, {"e", "2"});
  fields::word(visitor, "padding_rows", c.padding_rows, {"any", "kept", "zero"});
}

/// Visits every field of problem::gradient_model by its name.
template <class Visitor>
void visit_gradient(problem::gradient_model& m, Visitor& visitor) {
  using namespace fields;
  fields::word(visitor, "weights", m.weights, {"lse", "saved", "either"});
  whole(visitor, "k_x", m.k_x, fields::count);
  whole(visitor, "c_l", m.c_l, fields::count);
  visitor.number("eps", m.eps, unit);
  visitor.number("u_lse", m.u_lse, unit);
  visitor.number("x0", m.x0, cutoff);
  visitor.number("u_pd", m.u_pd, unit);
  visitor.number("omega_pd", m.omega_pd, absolute);
  visitor.flag("one_pass", m.one_pass);
  whole(visitor, "k_dp_base", m.k_dp_base, fields::count);
  whole(visitor, "k_dp_per_dv", m.k_dp_per_dv, fields::count);
  visitor.number("u_dp", m.u_dp, unit);
  visitor.number("u_dps", m.u_dps, unit);
  visitor.number("omega_dps", m.omega_dps, absolute);
  fields::word(visitor, "delta", m.delta, {"output", "weights", "either"});
  visitor.flag("delta_shared", m.delta_shared);
  visitor.flag("same_terms", m.same_terms);
  visitor.flag("delta_first", m.delta_first);
  whole(visitor, "k_delta", m.k_delta, fields::count);
  visitor.number("u_delta", m.u_delta, unit);
  visitor.number("omega_delta", m.omega_delta, absolute);
  whole(visitor, "k_e", m.k_e, fields::count);
  whole(visitor, "k_ds", m.k_ds, fields::count);
  visitor.number("u_ds", m.u_ds, unit);
  visitor.number("omega_ds", m.omega_ds, absolute);
  visitor.flag("ds_scaled", m.ds_scaled);
  whole(visitor, "k_g", m.k_g, fields::count);
  fields::word(visitor, "height", m.height, {"in_sequence", "block_local"});
  visitor.count("block", m.block, some);
  visitor.number("u_acc", m.u_acc, unit);
  whole(visitor, "k_scale", m.k_scale, fields::count);
  whole(visitor, "k_dv", m.k_dv, fields::count);
  visitor.number("u_head", m.u_head, unit);
  visitor.number("omega_head", m.omega_head, absolute);
  visitor.count("part_keys", m.part_keys, fields::count);
  visitor.count("part_rows", m.part_rows, fields::count);
  visitor.number("u_grad", m.u_grad, unit);
  visitor.number("omega_grad", m.omega_grad, absolute);
  visitor.number("stored_limit", m.stored_limit, limit);
}

}  // namespace attest::audit
