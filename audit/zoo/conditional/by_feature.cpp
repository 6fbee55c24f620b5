// Mutants that are wrong only with some masks, biases, bands, scales and values. A row each: class, wrong answer,
// name, condition in words, condition.
#include "audit/zoo/conditional/conditional.hpp"

// clang-format off

// --- masks and biases ---
ATTEST_CONDITIONAL(mask_polarity, o_plus_1, mask_per_entry_and_query, "the mask is [b, 1, n, m]",
    a.mask_is(true, false, true))
ATTEST_CONDITIONAL(mask_polarity, o_plus_1, mask_per_head_and_query, "the mask is [1, hq, n, m]",
    a.mask_is(false, true, true))
ATTEST_CONDITIONAL(mask_polarity, mask_of_the_first_entry, padding_of_the_first_entry, "the mask is [b, 1, 1, m]",
    a.mask_is(true, false, false))
ATTEST_CONDITIONAL(mask_polarity, o_plus_1, mask_per_key, "the mask is [1, 1, 1, m] and n > 1",
    a.n > 1 && a.mask_is(false, false, false))
ATTEST_CONDITIONAL(mask_polarity, o_plus_1, mask_per_entry_and_head, "the mask is [b, hq, 1, m]",
    a.mask_is(true, true, false))
ATTEST_CONDITIONAL(mask_polarity, low_bit_of_the_mask, mask_byte_2, "a mask has other bytes than 0 and 1", a.masked())
ATTEST_CONDITIONAL(mask_polarity, ignores_the_mask, mask_above_256_keys_ignored, "m > 256", a.masked() && a.m > 256)
ATTEST_CONDITIONAL(mask_polarity, mask_of_the_first_query, causal_mask_of_query_0, "causal, n = m",
    a.masked() && a.causal() && a.n == a.m)
ATTEST_CONDITIONAL(causal_alignment, band_of_the_first_query, broadcast_mask_under_causal,
    "causal, with one mask for all queries", a.masked() && a.causal() && a.n > 1 && a.call.mask->shape[2] == 1)
ATTEST_CONDITIONAL(memory, o_plus_1, mask_and_bias_above_200_keys, "mask and bias, m > 200",
    a.masked() && a.biased() && a.m > 200)
ATTEST_CONDITIONAL(memory, o_plus_1, bias_over_heads_only, "the bias is [b, 1, n, m]", a.bias_is(true, false, true))
ATTEST_CONDITIONAL(memory, o_plus_1, bias_per_head_and_key, "the bias is [1, hq, 1, m]", a.bias_is(false, true, false))
ATTEST_CONDITIONAL(memory, ignores_the_bias, full_bias_above_40_keys, "the bias is [b, hq, n, m] and m > 40",
    a.bias_is(true, true, true) && a.m > 40)
ATTEST_CONDITIONAL(sentinel, finite_masks_are_0, finite_masks_above_256_keys,
    "a bias is between -10^36 and -10^6 and m > 256", a.biased() && a.m > 256)

// --- bands ---
ATTEST_CONDITIONAL(causal_alignment, diagonal_is_0, diagonal_negative, "a band has a negative diagonal",
    a.call.diagonal < 0 && (a.call.left >= 0 || a.call.right >= 0))
ATTEST_CONDITIONAL(causal_alignment, o_plus_1, diagonal_above_1000, "a band has a diagonal above 1000",
    a.call.diagonal > 1000 && (a.call.left >= 0 || a.call.right >= 0))
ATTEST_CONDITIONAL(causal_alignment, diagonal_is_0, bottom_right_above_256_keys, "causal, m > 256",
    a.causal() && a.m > 256)
ATTEST_CONDITIONAL(window_edge, right_is_0, right_above_0, "right > 0", a.call.right > 0)
ATTEST_CONDITIONAL(window_edge, right_is_1_more, causal_above_1024_sees_one_more, "causal, n > 1024",
    a.causal() && a.n > 1024)
ATTEST_CONDITIONAL(window_edge, left_is_1_less, window_wider_than_64, "left > 64", a.call.left > 64)
ATTEST_CONDITIONAL(window_edge, ignores_the_band, window_ignored_in_decode, "n = 1 and left >= 32",
    a.n == 1 && a.call.left >= 32)
ATTEST_CONDITIONAL(accuracy, o_plus_1, causal_grouped_above_96_keys, "causal, grouped heads and m > 96",
    a.causal() && a.grouped() && a.m > 96)
ATTEST_CONDITIONAL(accuracy, o_plus_1, causal_more_queries_than_keys, "causal and n > m > 48",
    a.causal() && a.n > a.m && a.m > 48)

// --- scale and softcap ---
ATTEST_CONDITIONAL(softcap_order, ignores_the_softcap, softcap_at_d_128, "softcap and d >= 128",
    a.capped() && a.d >= 128)
ATTEST_CONDITIONAL(softcap_order, o_plus_1, softcap_above_40, "softcap > 40", a.call.softcap > 40)
ATTEST_CONDITIONAL(accuracy, o_plus_1, negative_scale, "the scale is negative", a.call.scale < 0)
ATTEST_CONDITIONAL(weak_test, ignores_the_scale, scale_ignored_above_64_dimensions, "d > 64", a.d > 64)

// --- values ---
ATTEST_CONDITIONAL(nan_swallowed, nan_is_0, nan_is_0_in_few_keys, "m < 16", a.m < 16)
ATTEST_CONDITIONAL(nan_swallowed, nan_is_0_below_16_keys, nan_is_0_in_short_causal_rows,
    "causal rows have fewer than 16 keys, n = m", a.causal() && a.n == a.m)
ATTEST_CONDITIONAL(nan_swallowed, skips_values_without_weight, nan_value_without_weight,
    "a NaN in V has a weight that rounds to 0", true)
ATTEST_CONDITIONAL(cheap_exp, skips_blocks_20_below, blocks_20_below_the_maximum,
    "64 keys are all 20 below the maximum and m >= 128", a.m >= 128)
