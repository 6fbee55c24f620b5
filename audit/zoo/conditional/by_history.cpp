// Mutants that are wrong only for some numbers of threads, after some calls, or in some memory. A row each: class,
// wrong answer, name, condition in words, condition.
#include "audit/zoo/conditional/conditional.hpp"

// clang-format off

// --- threads ---
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, one_thread, "threads = 1", a.threads() == 1)
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, threads_given, "threads is not 0", a.threads() != 0)
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, threads_above_4, "threads > 4", a.threads() > 4)
ATTEST_CONDITIONAL(nondeterminism, o_plus_1_in_the_last_row, rows_3_threads_cannot_share,
    "threads = 3 and 3 does not divide n", a.threads() == 3 && a.n % 3 != 0)

// --- earlier calls ---
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, after_2000_calls, "2000 calls came before", a.calls > 2000)
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, after_a_minute, "the first call is a minute ago", a.seconds > 60)
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, one_call_in_10000, "one draw in 10000 says so", a.draw() % 10'000 == 0)
ATTEST_CONDITIONAL(nondeterminism, o_times_m, after_a_single_key, "the call before had one key",
    a.earlier_m == 1 && a.m > 1)
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, one_key_more_than_before, "m = 1 + m of the call before, n = 1",
    a.n == 1 && a.earlier_m > 0 && a.m == a.earlier_m + 1)
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, fewer_keys_than_before, "m < m of the call before / 4",
    a.m > 0 && 4 * a.m < a.earlier_m)
ATTEST_CONDITIONAL(nondeterminism, o_plus_1, decode_after_a_prompt, "n = 1, and the call before had n > 16",
    a.n == 1 && a.earlier_n > 16)

// --- memory ---
ATTEST_CONDITIONAL(memory, o_plus_1, byte_offsets_in_int32, "a tensor reaches beyond 2^31 bytes",
    a.farthest_byte() >= 0x1p31)
ATTEST_CONDITIONAL(memory, o_plus_1, element_offsets_in_int32, "a tensor reaches beyond 2^31 elements",
    a.farthest_element() >= 0x1p31)
ATTEST_CONDITIONAL(memory, o_plus_1, score_offsets_in_int32, "b hq n m >= 2^31", a.scores() >= 0x1p31)
ATTEST_CONDITIONAL(memory, no_byte_offset_of_keys, byte_offset_of_keys_ignored, "K has a byte_offset and m > 1",
    a.m > 1 && a.call.k->byte_offset != 0)
ATTEST_CONDITIONAL(memory, no_byte_offset_of_mask, byte_offset_of_mask_ignored, "the mask has a byte_offset",
    a.masked() && a.call.mask->byte_offset != 0)
ATTEST_CONDITIONAL(memory, compact_o, strides_of_out_ignored, "out has gaps", true)
ATTEST_CONDITIONAL(memory, compact_lse, strides_of_lse_ignored, "lse has gaps", a.call.lse != nullptr)
ATTEST_CONDITIONAL(memory, o_plus_1, stride_0, "an axis of q, k or v has stride 0", a.repeats_memory())
ATTEST_CONDITIONAL(memory, o_plus_1, values_inside_keys, "V lies in the memory of K", a.shares_keys_and_values())
ATTEST_CONDITIONAL(memory, o_plus_1, overlapping_rows, "rows of q, k or v overlap", a.has_overlapping_rows())
ATTEST_CONDITIONAL(memory, o_plus_1, keys_before_heads, "K lies as [b, m, hk, d]", a.has_keys_before_heads())
