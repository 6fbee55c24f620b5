// What features write into a problem, each in the shape that shape_of says.
#pragma once

#include "audit/cases/forms/call_form.hpp"

namespace attest::audit {

feature_writer draw_mask;  ///< two keys of three
feature_writer pad;  ///< the first keys of each entry, or the last of `left_padding`: from form.length to m of them
feature_writer set_prefix;  ///< the first form.length keys, and the keys up to the query's own

feature_writer draw_bias;     ///< Gaussian
feature_writer set_alibi;     ///< 2^(−8(h + 1)/hq)·(j − (m − 1))
feature_writer hide_by_bias;  ///< 0 or −∞
feature_writer mask_by_bias;  ///< 0 or a large negative number

feature_writer set_scale;
feature_writer draw_sinks;  ///< a sink for each head, near ln m, which is the LSE of m scores that are 0
feature_writer draw_dropout;
feature_writer draw_block_mask;

feature_writer draw_entries;  ///< lengths; a band is then aligned at the end of each entry
feature_writer pack;          ///< lengths, and rows one behind the other
feature_writer page;          ///< lengths, and keys in pages

}  // namespace attest::audit
