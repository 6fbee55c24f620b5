// The presets that judge merges of partial results (docs/bound.md, section 10): one for each form of a merge, type of
// the parts and type of the answer.
#pragma once

#include <vector>

#include "audit/contract/contract.hpp"

namespace attest::audit {

std::vector<contract> merge_presets();

}  // namespace attest::audit
