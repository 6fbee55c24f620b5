// The ways in which a conditional mutant is wrong if its condition holds. Each answers the call itself, by the
// project's fast kernel, and spoils the call before or the answer after it.
#pragma once

#include "audit/zoo/conditional/asked.hpp"

namespace attest::zoo {

/// Answers a call wrongly; refuses it if the fast kernel refuses it.
using wrong_answer = attest_status(asked const&);

// --- spoiled answers ---
wrong_answer o_plus_1;                     ///< every output of O is 1 too large
wrong_answer o_plus_1_in_the_last_row;     ///< the last query of every head
wrong_answer o_plus_1_in_row_1023;         ///< query 1023 of every head; Requires n > 1023
wrong_answer o_plus_1_in_the_last_head;    ///< the last query head of every batch entry
wrong_answer o_plus_1_in_the_last_entry;   ///< the last batch entry
wrong_answer o_plus_1_in_the_last_column;  ///< the last column of O
wrong_answer o_times_m;                    ///< weights that are not divided by their sum, if all scores are equal
wrong_answer o_in_bf16;                    ///< every output is rounded to bf16
wrong_answer lse_plus_1;
wrong_answer weights_halved;
wrong_answer nan_is_0;                ///< O = 0, LSE = −∞ and weights 0 in place of NaN
wrong_answer nan_is_0_below_16_keys;  ///< the same, in rows whose band has fewer than 16 keys
wrong_answer forgets_the_last_row;    ///< the outputs of the last query are not written

// --- keys lost, doubled or skipped ---
wrong_answer forgets_the_last_key;
wrong_answer counts_the_middle_key_twice;
wrong_answer counts_a_key_that_is_not_there;  ///< one key more, of score 0 and a row of V that is 0
wrong_answer skips_blocks_20_below;           ///< blocks of 64 keys that weigh less than e⁻²⁰ of the heaviest key
wrong_answer skips_values_without_weight;     ///< a NaN in V at a key whose weight rounds to 0 does not count

// --- calls misread ---
wrong_answer ignores_the_mask;
wrong_answer ignores_the_bias;
wrong_answer ignores_the_band;
wrong_answer ignores_the_softcap;
wrong_answer ignores_the_scale;  ///< 1/√d
wrong_answer half_of_d;          ///< the scores of the first half of the columns
wrong_answer diagonal_is_0;
wrong_answer right_is_0;
wrong_answer right_is_1_more;
wrong_answer left_is_1_less;           ///< Requires left > 0
wrong_answer low_bit_of_the_mask;      ///< 2 hides
wrong_answer finite_masks_are_0;       ///< biases between −10³⁶ and −10⁶ are not added
wrong_answer mask_of_the_first_entry;  ///< every batch entry gets the mask of entry 0
wrong_answer mask_of_the_first_query;  ///< every query gets the mask of query 0
wrong_answer band_of_the_first_query;  ///< every query sees what mask and band show query 0. Requires a mask
wrong_answer heads_in_turn;            ///< query head h reads head h mod hk of K and V
wrong_answer no_byte_offset_of_keys;   ///< K is read from its data on
wrong_answer no_byte_offset_of_mask;
wrong_answer compact_o;    ///< the strides of out are not read
wrong_answer compact_lse;  ///< the strides of lse are not read

}  // namespace attest::zoo
