// Mutants whose condition is of a kind that audits forget to ask: layouts of one tensor, types, edges of integers,
// hidden ends, levels, features beyond one tile. A row each: class, wrong answer, name, condition in words, condition.
// docs/known_failures.md names public reports of most kinds.
#include "audit/zoo/conditional/conditional.hpp"

// clang-format off

// --- the layout of one tensor ---
ATTEST_CONDITIONAL(memory, o_plus_1, values_in_other_rows, "rows of K and V have other strides, dv = d",
    a.d == a.dv && a.m > 1 && a.call.k->strides[2] != a.call.v->strides[2])
ATTEST_CONDITIONAL(memory, o_plus_1, only_queries_with_gaps, "rows of Q have gaps, rows of K have none",
    a.has_row_gaps(*a.call.q) && !a.has_row_gaps(*a.call.k))
ATTEST_CONDITIONAL(memory, o_plus_1, only_keys_with_gaps, "rows of K have gaps, rows of Q have none",
    a.has_row_gaps(*a.call.k) && !a.has_row_gaps(*a.call.q))
ATTEST_CONDITIONAL(memory, o_plus_1, only_values_with_heads_inside, "V lies as [b, m, hk, d], K does not",
    a.has_heads_inside(*a.call.v) && !a.has_heads_inside(*a.call.k))
ATTEST_CONDITIONAL(memory, o_plus_1, only_queries_with_heads_inside, "Q lies as [b, n, hq, d], K does not",
    a.has_heads_inside(*a.call.q) && !a.has_heads_inside(*a.call.k))
ATTEST_CONDITIONAL(memory, o_plus_1, only_out_with_heads_inside, "out lies as [b, n, hq, d], Q does not",
    a.has_heads_inside(*a.call.out) && !a.has_heads_inside(*a.call.q))
ATTEST_CONDITIONAL(memory, o_plus_1, gaps_between_heads_of_keys, "heads of K have gaps, its rows have none",
    a.has_head_gaps(*a.call.k))
ATTEST_CONDITIONAL(memory, o_plus_1, gaps_between_heads_of_out, "heads of out have gaps, its rows have none",
    a.has_head_gaps(*a.call.out))
ATTEST_CONDITIONAL(memory, o_plus_1, only_the_mask_with_gaps, "rows of the mask have gaps, rows of Q have none",
    a.masked() && a.has_row_gaps(*a.call.mask) && !a.has_row_gaps(*a.call.q))
ATTEST_CONDITIONAL(memory, o_plus_1, only_the_bias_with_gaps, "rows of the bias have gaps, rows of Q have none",
    a.biased() && a.has_row_gaps(*a.call.bias) && !a.has_row_gaps(*a.call.q))

// --- types ---
ATTEST_CONDITIONAL_IN("bf16-ieee", low_precision, o_plus_1, f32_bias_beside_bf16, "the bias is f32",
    a.biased() && a.call.bias->dtype.bits == 32)
ATTEST_CONDITIONAL_IN("f16-ieee", low_precision, o_plus_1, f32_bias_of_keys_beside_f16,
    "the bias is f32 and has one row for all queries",
    a.biased() && a.call.bias->dtype.bits == 32 && a.n > 1 && a.call.bias->shape[2] == 1)

// --- edges of integers ---
ATTEST_CONDITIONAL(memory, o_plus_1_in_the_last_entry, batch_from_2_16, "b >= 65536", a.b >= 65536)
ATTEST_CONDITIONAL(memory, o_plus_1_in_the_last_head, heads_above_32767, "hq > 32767", a.hq > 32767)
ATTEST_CONDITIONAL(memory, o_plus_1, entries_times_heads_above_2_16, "b hq > 65536, b > 1 and hq > 1",
    a.b * a.hq > 65536 && a.b > 1 && a.hq > 1)
ATTEST_CONDITIONAL(memory, o_plus_1_in_the_last_row, queries_above_2_16, "n > 65536", a.n > 65536)
ATTEST_CONDITIONAL(memory, forgets_the_last_key, keys_above_2_16, "m > 65536", a.m > 65536)

// --- groups ---
ATTEST_CONDITIONAL(head_mapping, o_plus_1, decode_in_groups_of_3, "hq/hk = 3 and n = 1", a.n == 1 && a.group() == 3)
ATTEST_CONDITIONAL(head_mapping, heads_in_turn, groups_of_24_in_decode,
    "hq/hk > 16 is no multiple of 16, hk > 1 and n = 1", a.n == 1 && a.hk > 1 && a.group() > 16 && a.group() % 16 != 0)
ATTEST_CONDITIONAL(head_mapping, o_plus_1, groups_of_20_in_decode, "hq/hk > 16 is no multiple of 8, n = 1",
    a.n == 1 && a.group() > 16 && a.group() % 8 != 0)
ATTEST_CONDITIONAL(head_mapping, heads_in_turn, three_key_heads, "hk = 3, in groups", a.hk == 3 && a.grouped())

// --- hidden ends and levels of scores ---
ATTEST_CONDITIONAL(sentinel, o_plus_1, first_64_hidden_and_low,
    "the first 64 keys are hidden from all queries, and the scores lie below -50", a.hides_first(64) && a.level() < -50)
ATTEST_CONDITIONAL(sentinel, o_plus_1, last_64_hidden_and_low,
    "the last 64 keys are hidden from all queries, and the scores lie below -50", a.hides_last(64) && a.level() < -50)
ATTEST_CONDITIONAL(sentinel, o_plus_1, last_128_hidden_and_high,
    "the last 128 keys are hidden from all queries, and a score lies above 1000",
    a.hides_last(128) && a.level() > 1000)
ATTEST_CONDITIONAL(sentinel, o_plus_1, first_16_hidden_by_bias,
    "a bias of -inf hides the first 16 keys from all queries",
    a.biased() && a.hides_first(16))
ATTEST_CONDITIONAL(large_scores, o_plus_1, all_scores_above_500, "a score of the last query lies above 500, m > 32",
    a.m > 32 && a.level() > 500)
ATTEST_CONDITIONAL(large_scores, o_plus_1, all_scores_below_500, "the scores of the last query lie below -500, m > 32",
    a.m > 32 && a.level() < -500)

// --- two features beyond one tile ---
ATTEST_CONDITIONAL(mask_polarity, o_plus_1, few_queries_causal_and_mask, "causal, a mask, 2 <= n <= 16 and m >= 300",
    a.masked() && a.causal() && a.n > 1 && a.n <= 16 && a.m >= 300)
ATTEST_CONDITIONAL(window_edge, o_plus_1, window_and_bias_from_300, "a window, a bias and m >= 300",
    a.windowed() && a.biased() && a.m >= 300)
ATTEST_CONDITIONAL(softcap_order, o_plus_1, softcap_and_mask_from_300, "a softcap, a mask and m >= 300",
    a.capped() && a.masked() && a.m >= 300)
ATTEST_CONDITIONAL(causal_alignment, o_plus_1, causal_and_bias_above_the_keys, "causal, a bias and n > m >= 300",
    a.causal() && a.biased() && a.n > a.m && a.m >= 300)
ATTEST_CONDITIONAL(window_edge, o_plus_1, window_in_groups_from_300, "a window, grouped heads and m >= 300 > n",
    a.windowed() && a.grouped() && a.m >= 300 && a.n < 300)
ATTEST_CONDITIONAL(softcap_order, o_plus_1, softcap_and_window_from_300, "a softcap, a window and m >= 300",
    a.capped() && a.windowed() && a.m >= 300)

// --- numbers ---
ATTEST_CONDITIONAL(mask_polarity, o_plus_1, scale_0_beside_a_mask, "the scale is 0, and there is a mask",
    a.masked() && a.call.scale == 0)
ATTEST_CONDITIONAL(causal_alignment, ignores_the_band, negative_scale_beside_causal,
    "the scale is negative, and causal",
    a.causal() && a.call.scale < 0)
ATTEST_CONDITIONAL(sentinel, o_plus_1, negative_scale_beside_a_bias, "the scale is negative, and there is a bias",
    a.biased() && a.call.scale < 0)
ATTEST_CONDITIONAL(accuracy, o_plus_1, scale_above_20, "the scale is above 20", a.call.scale > 20)
ATTEST_CONDITIONAL(accuracy, o_plus_1, scale_below_a_thousandth, "the scale is between 0 and 0.001, and m > 16",
    a.call.scale > 0 && a.call.scale < 1e-3 && a.m > 16)
ATTEST_CONDITIONAL(softcap_order, ignores_the_softcap, softcap_above_100, "softcap > 100, m > 1",
    a.call.softcap > 100 && a.m > 1)
ATTEST_CONDITIONAL(softcap_order, o_plus_1, softcap_below_1, "softcap < 1", a.capped() && a.call.softcap < 1)
ATTEST_CONDITIONAL(low_precision, o_in_bf16, values_above_2_40, "a value is above 2^40 and below 2^100, m > 32",
    a.m > 32 && a.largest_value() > 0x1p40 && a.largest_value() < 0x1p100)

// --- residues ---
ATTEST_CONDITIONAL(accuracy, o_plus_1_in_the_last_row, n_37_mod_64, "n > 64 and n mod 64 = 37",
    a.n > 64 && a.n % 64 == 37)
ATTEST_CONDITIONAL(accuracy, o_plus_1, m_77_mod_128, "m > 128 and m mod 128 = 77", a.m > 128 && a.m % 128 == 77)
ATTEST_CONDITIONAL(memory, counts_a_key_that_is_not_there, m_1_mod_32, "m > 64, m mod 32 = 1 and n > 1",
    a.n > 1 && a.m > 64 && a.m % 32 == 1)
ATTEST_CONDITIONAL(accuracy, o_plus_1, n_64_mod_128, "n > 128 and n mod 128 = 64", a.n > 128 && a.n % 128 == 64)

// --- the default scale at widths of its own ---
ATTEST_CONDITIONAL(accuracy, o_plus_1, default_scale_at_d_192, "d = 192, dv = 128 and the default scale",
    a.d == 192 && a.dv == 128 && a.default_scale())
ATTEST_CONDITIONAL(accuracy, o_plus_1, default_scale_at_d_576, "d = 576, dv = 512 and the default scale",
    a.d == 576 && a.dv == 512 && a.default_scale())

// --- the first call ---
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, the_first_call, "no call came before", a.calls == 1)
