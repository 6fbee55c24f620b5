// Rows of the outputs that belong to no query, where a contract says what is there.
#pragma once

#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/owned_outputs.hpp"

namespace attest::audit {

/// padding_rows: kept or zero. The first row of each output that is not so is one violation.
void judge_padding(owned_outputs const& outputs, contract const& claim, judgement& into);

}  // namespace attest::audit
