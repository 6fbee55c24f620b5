// What each mutant does wrong, by the name that a report should give to the cause of its failing inputs: a row of
// audit/judge/hypotheses/, an event of audit/judge/cause_search.cpp, or "contract-" and a preset.
#include <algorithm>
#include <array>
#include <utility>

#include "audit/zoo/zoo.hpp"

namespace attest::zoo {
namespace {

constexpr std::array causes{
    // --- operator ---
    std::pair{"sink_dropped", "sink-ignored"},
    std::pair{"sink_scaled", "sink-scaled"},
    std::pair{"sink_softcapped", "sink-softcapped"},
    std::pair{"sink_counted_twice", "sink-twice"},
    std::pair{"sink_of_kv_head", "sink-of-kv-head"},
    std::pair{"sink_interleaved", "sink-interleaved"},
    std::pair{"sink_of_first_head", "sink-of-first-head"},
    std::pair{"sink_narrowed", "sink-in-bf16"},
    std::pair{"sink_not_in_lse", "sink-not-in-lse"},
    std::pair{"sink_in_decoding_only", "sink-ignored-but-in-decoding|sink-ignored"},
    std::pair{"sink_clamped", "sink-at-most-20"},
    std::pair{"length_ignored", "lengths-ignored"},
    std::pair{"length_one_too_many", "length-one-more"},
    std::pair{"length_one_too_few", "length-one-less"},
    std::pair{"length_of_first_entry", "length-of-first-entry"},
    std::pair{"empty_entry_is_nan", "empty-row-nan"},
    std::pair{"empty_entry_ends_call", "outputs-unwritten"},
    std::pair{"window_ignored_in_pages", "left-ignored"},
    std::pair{"end_of_slot", "alignment-at-slots"},
    std::pair{"alignment_ignored", "alignment-ignored"},
    std::pair{"blocks_ignored", "block-mask-ignored"},
    std::pair{"blocks_or_band", "block-mask-or-band|band-ignored"},
    std::pair{"blocks_of_first_head", "block-mask-of-first-head"},
    std::pair{"blocks_of_first_batch", "block-mask-of-first-batch"},
    std::pair{"block_byte_2", "block-mask-low-bit"},
    std::pair{"dropout_before_sum", "dropout-before-sum"},
    std::pair{"dropout_not_divided", "dropout-not-divided"},
    std::pair{"dropout_divided_by_p", "dropout-divided-by-p"},
    std::pair{"dropout_divided_twice", "dropout-divided-twice"},
    std::pair{"keep_inverted", "keep-inverted"},
    std::pair{"keep_of_first_head", "keep-of-first-head"},
    // --- number_mutants ---
    std::pair{"weights_in_f16", "weights-in-f16"},
    std::pair{"logits_in_f16", "scores-in-f16|contract-f16-scores"},
    std::pair{"logits_in_bf16", "scores-in-bf16"},
    std::pair{"sums_in_bf16", "sums-in-bf16"},
    std::pair{"sum_of_rounded_weights", "sum-of-bf16-weights"},
    std::pair{"double_as_float", "contract-f64-in-f32"},
    std::pair{"scale_in_f16", "scale-in-f16"},
    std::pair{"exp_in_float_for_double", "exp-of-float"},
    std::pair{"cubic_exp", "exp-to-*"},
    std::pair{"coarse_exp_in_tail", "exp-to-*"},
    std::pair{"exp_64_ulp", "exp-to-*"},
    std::pair{"drops_weights_below_a_quarter", "cutoff-*"},
    std::pair{"drops_small_weights", "cutoff-*"},
    std::pair{"exp_cut_off_at_minus_80", "cutoff-*"},
    std::pair{"lse_in_base_2", "lse-base-2"},
    std::pair{"lse_negated", "lse-negated"},
    std::pair{"lse_without_maximum", "lse-without-maximum"},
    std::pair{"merges_without_weights", "2-parts-unweighted"},
    std::pair{"forgets_to_rescale", "not-rescaled-16"},
    std::pair{"softcap_after_bias", "softcap-after-bias"},
    std::pair{"softcap_before_scale", "softcap-before-scale"},
    std::pair{"softcap_ignored", "softcap-ignored"},
    std::pair{"mean_of_v", "weights-equal"},
    std::pair{"zeros", "answer-0"},
    std::pair{"denominator_plus_epsilon", "sum-plus-1e-06"},
    std::pair{"no_scale", "default-scale-1"},
    std::pair{"scale_of_value_columns", "default-scale-of-dv"},
    std::pair{"scale_0_is_default", "scale-0-is-default"},
    // --- visibility_mutants ---
    std::pair{"nan_empty_row", "empty-row-0/0|empty-row-nan"},
    std::pair{"mean_empty_row", "empty-row-mean"},
    std::pair{"unwritten_empty_row", "outputs-unwritten"},
    std::pair{"lse_0_of_empty_row", "empty-lse-0"},
    std::pair{"nan_empty_block", "empty-first-block-of-16-nan"},
    std::pair{"empty_block_ends_row", "empty-block-of-16-ends-row"},
    std::pair{"sentinel_ten_thousand", "hidden-score-10000-unread"},
    std::pair{"sentinel_finfo_min", "hidden-score-lowest"},
    std::pair{"sentinel_maximum_from_0", "maximum-from*"},
    std::pair{"sentinel_maximum_from_minus_100", "maximum-from*"},
    std::pair{"sentinel_in_bias", "bias-from-10000"},
    std::pair{"always_top_left", "band-top-left"},
    std::pair{"always_bottom_right", "band-bottom-right"},
    std::pair{"decoding_is_not_causal", "band-ignored-for-one-query"},
    std::pair{"inverted_mask", "mask-inverted"},
    std::pair{"ignored_mask", "mask-ignored"},
    std::pair{"mask_of_the_first_head", "mask-of-first-head"},
    std::pair{"mask_of_the_first_batch", "mask-of-first-batch"},
    std::pair{"band_or_mask", "band-ignored-with-mask"},
    std::pair{"heads_interleaved", "heads-interleaved"},
    std::pair{"first_head_only", "first-head-of-groups"},
    std::pair{"window_without_first_key", "left-edge-outside"},
    std::pair{"window_with_one_key_more", "window-right-one-more"},
    // --- safety_mutants ---
    std::pair{"zero_times_masked_value", "hidden-value-times-0"},
    std::pair{"masked_key_plus_minus_infinity", "hidden-score-plus-infinity"},
    std::pair{"padding_is_read", "hidden-value-times-0-right"},
    std::pair{"nan_score_is_no_score", "nan-score-lost"},
    std::pair{"infinite_score_is_largest_score", "infinite-score-largest"},
    std::pair{"nan_value_is_zero", "nan-value-0"},
    std::pair{"nan_query_is_zero", "nan-query-0"},
    std::pair{"infinity_folded_away", "empty-row-0/0"},
    std::pair{"nan_check_folded_away", "nan-score-lost"},
    std::pair{"leaves_flush_to_zero", "environment"},
    std::pair{"rounds_upward", "environment"},
    std::pair{"order_of_the_moment", "answers-differ"},
    std::pair{"splits_of_the_moment", "answers-differ"},
    std::pair{"forgets_the_tail", "tail-of-4-unread"},
    std::pair{"assumes_compact_rows", "v-row-stride-ignored"},
    std::pair{"sixteen_bit_index", "v-index-16-bits"},
    std::pair{"reads_past_keys", "memory-outside"},
    std::pair{"writes_past_out", "memory-outside"},
    std::pair{"scales_queries_in_place", "inputs-written"},
    std::pair{"forgets_the_last_row", "outputs-unwritten"},
    std::pair{"divides_by_no_keys", "crash"},
    // --- rare_mutants ---
    std::pair{"ignores_finite_masks", "finite-masks-ignored"},
    std::pair{"bf16_ignores_finite_masks", "finite-masks-ignored"},
    std::pair{"mean_of_v_beside_finite_masks", ""},  // rows of another kind than the ordinary ones beside them
    std::pair{"lse_plus_1_beside_finite_masks", ""},
    std::pair{"long_rows_lose_the_last_key", "last-key-unread"},
    std::pair{"bf16_long_rows_lose_the_last_key", "last-key-unread"},
    std::pair{"f16_long_rows_lose_the_last_key", "last-key-unread"},
    std::pair{"long_rows_count_a_key_twice", "middle-key-from-the-end-twice"},
    std::pair{"long_rows_cut_values_to_bf16", "v-in-bf16"},
    // --- narrow_kernels ---
    std::pair{"bf16_outputs_cut", "outputs-cut-to-bf16"},
    std::pair{"bf16_weights_cut", "weights-cut-to-bf16"},
    std::pair{"bf16_sums", "sums-in-bf16"},
    std::pair{"bf16_logits", "scores-in-bf16"},
    std::pair{"f16_logits", "scores-in-f16"},
    std::pair{"f16_dot_products", ""},  // a model of such sums is wider than that of coarser scores
    std::pair{"f16_lowest_for_hidden", "hidden-score-65504"},
    std::pair{"f16_flushes_outputs", "outputs-flushed"},
    // --- precisions ---
    std::pair{"subnormal_inputs_as_0", "subnormal-inputs-0"},
    std::pair{"subnormal_outputs_as_0", "outputs-flushed"},
    std::pair{"scores_in_bf16", "scores-in-bf16"},
    std::pair{"scores_and_sums_in_f16", "scores-and-sums-in-f16|sums-in-f16"},
    std::pair{"bf16_inside_and_sums", "sums-in-bf16"},
    std::pair{"fp8_inputs", "inputs-in-fp8"},
    std::pair{"tf32_inside", "qk-in-tf32"},
    std::pair{"float_inside_coarse_exp", "exp-to-*"},
    // --- library_kernels ---
    std::pair{"future_key_plus_minus_infinity", "hidden-score-plus-infinity-right"},
    std::pair{"sentinel_1e30", "hidden-score-1e+30-unread"},
    std::pair{"no_lse_without_columns", "outputs-unwritten"},
    std::pair{"zero_without_depth", "values-0-without-depth"},
    std::pair{"f16_sums", "sums-in-f16"},
};

}  // namespace

std::string_view expected_cause(std::string_view mutant) {
  auto const at = std::ranges::find_if(causes, [&](auto const& row) { return mutant == row.first; });
  return at == causes.end() ? "" : at->second;
}

}  // namespace attest::zoo
