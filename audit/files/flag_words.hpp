// The words of PREFIX.attest.as: the visibility and bias of a problem as the flags that libraries have for them.
#pragma once

#include <optional>
#include <string>

#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// The problem's band, mask and bias in the flags of libraries, joined by " + ". Returns nothing if one of them has no
/// such flag.
///   plain                 no band, no mask, no bias
///   causal-top-left       query i sees the keys j ≤ i; also written if n = m, when both alignments agree
///   causal-bottom-right   query i sees the keys j ≤ i + m − n;
///   window L R            query i sees the keys with −L ≤ j − (i + m − n) ≤ R; −1 is no limit on that side
///   lengths L0 L1 …       batch entry b sees its first Lb keys: one number for each entry
///   alibi S0 S1 …         the bias of head h is −Sh·|i + m − n − j|: one slope for each query head
///   alibi-by-key S0 S1 …  the bias of head h is Sh·j. Under causal-bottom-right, O is the same as with `alibi`, and
///                         the LSE is larger by Sh·(i + m − n)
/// Ensures   each word holds for every element, in the bits of the mask and of the bias. Scale and softcap have keys of
///           their own and are not considered
/// Cost      reading mask and bias once; lists for up to 1,024 entries or heads
std::optional<std::string> flag_words(owned_problem const& problem);

}  // namespace attest::audit
