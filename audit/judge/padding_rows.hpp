// Rows of the outputs that belong to no query, if the contract prescribes their values.
#pragma once

#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/owned_outputs.hpp"

namespace attest::audit {

/// padding_rows: kept or zero. The first row of each output that has other values is one violation.
void judge_padding(owned_outputs const& outputs, contract const& claim, judgement& into);

}  // namespace attest::audit
