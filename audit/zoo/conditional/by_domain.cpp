// Mutants whose condition lies inside the domain of a typical kernel (tests/audit/zoo/domains.txt): whole tiles, usual
// head sizes, decoding. A row each: class, wrong answer, name, condition in words, condition.
#include "audit/zoo/conditional/conditional.hpp"

// clang-format off

// --- one shape of whole tiles ---
ATTEST_CONDITIONAL(accuracy, o_plus_1, exactly_two_tiles, "n = m = 256, d >= 64", a.n == 256 && a.m == 256 && a.d >= 64)
ATTEST_CONDITIONAL(accuracy, o_plus_1, exactly_one_tile, "n = m = 128, d >= 64 and b hq > 1",
    a.n == 128 && a.m == 128 && a.d >= 64 && a.b * a.hq > 1)
ATTEST_CONDITIONAL(accuracy, o_plus_1, an_odd_number_of_tiles, "n = m is an odd multiple of 128 above 128, d >= 64",
    a.n == a.m && a.n > 128 && a.n % 256 == 128 && a.d >= 64)
ATTEST_CONDITIONAL(lse, lse_plus_1, lse_of_four_tiles, "n = m >= 512 is a multiple of 128, d >= 64",
    a.n == a.m && a.n >= 512 && a.n % 128 == 0 && a.d >= 64)
ATTEST_CONDITIONAL(accuracy, o_plus_1, keys_are_twice_the_queries, "m = 2 n, n is a multiple of 128 and d >= 64",
    a.m == 2 * a.n && a.n > 0 && a.n % 128 == 0 && a.d >= 64)

// --- causal in whole tiles ---
ATTEST_CONDITIONAL(causal_alignment, right_is_1_more, causal_at_d_128, "causal, d = 128", a.causal() && a.d == 128)
ATTEST_CONDITIONAL(causal_alignment, right_is_1_more, causal_in_three_tiles, "causal, n = m = 384",
    a.causal() && a.n == 384 && a.m == 384)
ATTEST_CONDITIONAL(causal_alignment, diagonal_is_0, a_tile_before_the_queries,
    "bottom-right causal, m - n is a multiple of 64 and d >= 64",
    a.bottom_right() && a.m > a.n && (a.m - a.n) % 64 == 0 && a.d >= 64)
ATTEST_CONDITIONAL(causal_alignment, o_plus_1, one_tile_behind_many_keys,
    "bottom-right causal, 1 < n <= 64 and m > 128",
    a.bottom_right() && a.n > 1 && a.n <= 64 && a.m > 128)

// --- blocks of keys ---
ATTEST_CONDITIONAL(accuracy, o_plus_1, third_block_lower,
    "the largest score in keys 128 to 191 lies 3 below that of the 128 keys before, d >= 64",
    a.d >= 64 && a.m >= 192 && a.highest(64, 2) < a.highest(128, 0) - 3)
ATTEST_CONDITIONAL(accuracy, o_plus_1, second_block_20_higher,
    "the largest score in keys 128 to 255 lies 20 above that of the 128 keys before, d >= 64",
    a.d >= 64 && a.m >= 256 && a.highest(128, 1) > a.highest(128, 0) + 20)
ATTEST_CONDITIONAL(empty_block, o_plus_1, last_tile_hidden, "a mask hides the last 64 of at least 128 keys, d >= 64",
    a.masked() && a.m >= 128 && a.d >= 64 && a.hides_last(64))
ATTEST_CONDITIONAL(empty_block, o_plus_1, first_tile_hidden, "a mask hides the first 64 of at least 128 keys, d >= 64",
    a.masked() && a.m >= 128 && a.d >= 64 && a.hides_first(64))

// --- head sizes ---
ATTEST_CONDITIONAL(weak_test, half_of_d, half_of_d_128, "d = 128 and n, m >= 128",
    a.d == 128 && a.n >= 128 && a.m >= 128)
ATTEST_CONDITIONAL(accuracy, o_plus_1, bias_at_d_256, "d = 256 and a bias", a.d == 256 && a.biased())
ATTEST_CONDITIONAL(mask_polarity, o_plus_1, mask_at_odd_eights, "d > 32 is an odd multiple of 8, and a mask",
    a.d > 32 && a.d % 16 == 8 && a.masked())
ATTEST_CONDITIONAL(softcap_order, o_plus_1, softcap_at_d_256, "d = 256 and a softcap", a.d == 256 && a.capped())

// --- decoding ---
ATTEST_CONDITIONAL(accuracy, o_plus_1, decode_in_groups_of_8_from_1024, "n = 1, hq/hk = 8, d = 128 and m >= 1024",
    a.n == 1 && a.group() == 8 && a.d == 128 && a.m >= 1024)
ATTEST_CONDITIONAL(accuracy, o_plus_1, decode_in_groups_of_4, "n = 1, hq/hk = 4, d >= 64 and 64 does not divide m",
    a.n == 1 && a.group() == 4 && a.d >= 64 && a.m > 64 && a.m % 64 != 0)
ATTEST_CONDITIONAL(causal_alignment, ignores_the_band, two_queries_of_mla, "d = 576, n = 2 and causal",
    a.d == 576 && a.n == 2 && a.causal())
ATTEST_CONDITIONAL(accuracy, o_plus_1, mla_beyond_a_page, "d = 576, n = 1 and m > 64",
    a.d == 576 && a.n == 1 && a.m > 64)
ATTEST_CONDITIONAL(window_edge, left_is_1_less, window_of_a_tile, "a window of at least 128 keys, n = m and d >= 64",
    a.call.left >= 127 && a.n == a.m && a.d >= 64)
