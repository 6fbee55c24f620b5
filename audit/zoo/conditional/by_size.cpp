// Mutants that are wrong only at some sizes. A row each: class, wrong answer, name, condition in words, condition.
#include <bit>

#include "audit/zoo/conditional/conditional.hpp"

// clang-format off

// --- queries and keys ---
ATTEST_CONDITIONAL(accuracy, o_plus_1, n_above_128, "n > 128", a.n > 128)
ATTEST_CONDITIONAL(accuracy, o_plus_1, n_and_m_above_128, "n > 128 and m > 128", a.n > 128 && a.m > 128)
ATTEST_CONDITIONAL(accuracy, o_plus_1, scores_above_20000, "n m > 20000", a.n * a.m > 20'000)
ATTEST_CONDITIONAL(accuracy, o_plus_1, scores_above_a_million, "n m > 10^6", a.n * a.m > 1'000'000)
ATTEST_CONDITIONAL(accuracy, o_plus_1, m_from_300_to_500, "300 <= m <= 500", a.m >= 300 && a.m <= 500)
ATTEST_CONDITIONAL(accuracy, o_plus_1, m_41_mod_64, "m mod 64 = 41", a.m % 64 == 41)
ATTEST_CONDITIONAL(accuracy, o_plus_1, m_above_300_not_in_eights, "m > 300 is no multiple of 8",
    a.m > 300 && a.m % 8 != 0)
ATTEST_CONDITIONAL(accuracy, o_plus_1, m_above_4300, "m > 4300", a.m > 4300)
ATTEST_CONDITIONAL(accuracy, o_plus_1, m_power_of_2_above_256, "m > 256 is a power of two",
    a.m > 256 && std::has_single_bit(static_cast<std::uint64_t>(a.m)))
ATTEST_CONDITIONAL(accuracy, o_plus_1, m_odd_above_512, "m > 512 is odd", a.m > 512 && a.m % 2 == 1)
ATTEST_CONDITIONAL(accuracy, o_plus_1, n_equals_m_above_64, "n = m > 64", a.n == a.m && a.n > 64)
ATTEST_CONDITIONAL(accuracy, o_plus_1, n_is_m_plus_1, "n = m + 1 > 32", a.n == a.m + 1 && a.n > 32)
ATTEST_CONDITIONAL(accuracy, o_plus_1, n_above_m_by_64, "n > m + 64 and m > 64", a.n > a.m + 64 && a.m > 64)
ATTEST_CONDITIONAL(accuracy, o_plus_1, few_queries_many_keys, "2 <= n <= 8 and m > 1000",
    a.n >= 2 && a.n <= 8 && a.m > 1000)
ATTEST_CONDITIONAL(accuracy, o_plus_1, many_queries_one_key, "n > 64 and m = 1", a.n > 64 && a.m == 1)
ATTEST_CONDITIONAL(accuracy, o_plus_1_in_the_last_row, last_of_500_rows, "n > 500 is odd", a.n > 500 && a.n % 2 == 1)
ATTEST_CONDITIONAL(accuracy, o_plus_1_in_row_1023, row_1023_of_1500, "n > 1500", a.n > 1500)
ATTEST_CONDITIONAL(memory, forgets_the_last_row, last_row_of_257_unwritten, "n mod 256 = 1 and n > 256",
    a.n > 256 && a.n % 256 == 1)

// --- long rows ---
ATTEST_CONDITIONAL(memory, forgets_the_last_key, last_key_of_2048, "m >= 2048", a.m >= 2048)
ATTEST_CONDITIONAL_IN("f64", memory, forgets_the_last_key, f64_last_key_of_1025, "m >= 1025", a.m >= 1025)
ATTEST_CONDITIONAL(memory, counts_the_middle_key_twice, key_twice_from_2048, "m >= 2048", a.m >= 2048)
ATTEST_CONDITIONAL_IN("f64", memory, counts_the_middle_key_twice, f64_key_twice_from_1025, "m >= 1025", a.m >= 1025)
ATTEST_CONDITIONAL_IN("bf16-ieee", memory, counts_the_middle_key_twice, bf16_key_twice_from_1025, "m >= 1025",
    a.m >= 1025)
ATTEST_CONDITIONAL_IN("f16-ieee", memory, counts_the_middle_key_twice, f16_key_twice_from_1025, "m >= 1025",
    a.m >= 1025)
ATTEST_CONDITIONAL(low_precision, o_in_bf16, o_in_bf16_above_600_keys, "m > 600", a.m > 600)
ATTEST_CONDITIONAL(lse, lse_plus_1, lse_of_2000_keys, "m > 2000", a.m > 2000)
ATTEST_CONDITIONAL(accuracy, weights_halved, weights_of_600_keys, "m > 600", a.m > 600)
ATTEST_CONDITIONAL_IN("bf16-ieee", accuracy, o_plus_1, bf16_m_above_512, "m > 512", a.m > 512)
ATTEST_CONDITIONAL_IN("f16-ieee", accuracy, o_plus_1, f16_d_96, "d = 96", a.d == 96)
ATTEST_CONDITIONAL_IN("f64", accuracy, o_plus_1, f64_d_above_64, "d > 64 and n > 1", a.d > 64 && a.n > 1)

// --- dimensions of a head ---
ATTEST_CONDITIONAL(accuracy, o_plus_1, d_above_256, "d > 256", a.d > 256)
ATTEST_CONDITIONAL(accuracy, o_plus_1, d_80, "d = 80", a.d == 80)
ATTEST_CONDITIONAL(accuracy, o_plus_1, dv_above_128, "dv > 128", a.dv > 128)
ATTEST_CONDITIONAL(accuracy, o_plus_1, d_48_and_m_above_48, "d = 48 and m > 48", a.d == 48 && a.m > 48)
ATTEST_CONDITIONAL(accuracy, o_plus_1, dv_is_3_d, "dv = 3 d", a.d > 1 && a.dv == 3 * a.d)
ATTEST_CONDITIONAL(accuracy, o_plus_1, d_odd_above_64, "d > 64 is odd", a.d > 64 && a.d % 2 == 1)
ATTEST_CONDITIONAL(accuracy, o_plus_1_in_the_last_column, last_column_above_96, "dv > 96 is no multiple of 16",
    a.dv > 96 && a.dv % 16 != 0)

// --- batch and heads ---
ATTEST_CONDITIONAL(accuracy, o_plus_1, batch_above_3, "b > 3", a.b > 3)
ATTEST_CONDITIONAL(accuracy, o_plus_1, all_heads_above_24, "b hq > 24", a.b * a.hq > 24)
ATTEST_CONDITIONAL(accuracy, o_plus_1, all_heads_above_64, "b hq > 64", a.b * a.hq > 64)
ATTEST_CONDITIONAL(accuracy, o_plus_1, heads_above_12, "hq > 12", a.hq > 12)
ATTEST_CONDITIONAL(accuracy, o_plus_1, seven_heads, "hq = 7", a.hq == 7)
ATTEST_CONDITIONAL(head_mapping, o_plus_1, group_above_6, "hq/hk > 6", a.group() > 6)
ATTEST_CONDITIONAL(head_mapping, heads_in_turn, four_key_heads_in_turn, "hk >= 4, in groups", a.hk >= 4 && a.grouped())
ATTEST_CONDITIONAL(head_mapping, o_plus_1, groups_of_4_at_d_64, "hq/hk = 4 and d = 64", a.group() == 4 && a.d == 64)
ATTEST_CONDITIONAL(accuracy, o_plus_1, decode_with_many_heads, "n = 1 and hq > 8", a.n == 1 && a.hq > 8)
ATTEST_CONDITIONAL(accuracy, o_plus_1, decode_of_8_entries, "n = 1 and b >= 8", a.n == 1 && a.b >= 8)
ATTEST_CONDITIONAL(accuracy, o_plus_1_in_the_last_head, last_of_32_heads, "hq >= 32", a.hq >= 32)
ATTEST_CONDITIONAL(accuracy, o_plus_1_in_the_last_entry, last_of_16_entries, "b >= 16", a.b >= 16)
ATTEST_CONDITIONAL(lse, lse_plus_1, lse_of_16_heads, "hq >= 16", a.hq >= 16)
