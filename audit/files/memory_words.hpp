// The words of PREFIX.attest.memory: how the tensors of a call lie in memory.
#pragma once

#include <optional>
#include <string>

#include "audit/tensors/memory_form.hpp"

namespace attest::audit {

/// The members of a form that are not the default, joined by spaces: v-in-k, shared-batch, shared-heads, heads-inside
/// and unaligned stand alone; overlap, row-gap, far-batch, far-head and far-row have a number of elements after them.
/// Empty for the default.
std::string memory_words(memory_form const& form);

/// The form of these words. Returns nothing for words that memory_words does not write. Their numbers may be out of
/// range (memory_fault).
std::optional<memory_form> parse_memory_words(std::string const& text);

}  // namespace attest::audit
