// The effects of a call other than its outputs, as violations of a case.
#pragma once

#include "audit/isolation/isolated_kernel.hpp"
#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// Adds a violation for each broken promise, and one for an outcome that is no answer. Notes a refusal, a hang, an
/// interruption, and every other call that did not return. `call` is the index of the call in its case.
void take_outcome(call_report const& did, std::size_t call, case_result& into);

}  // namespace attest::audit
