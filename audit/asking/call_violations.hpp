// What a call did beside writing its outputs, as violations of a case.
#pragma once

#include "audit/isolation/isolated_kernel.hpp"
#include "audit/judge/judge_case.hpp"

namespace attest::audit {

/// Adds a violation for each broken promise, and one for an outcome that is no answer; notes a refusal, a hang, an
/// interruption, and what else did not return. `call` is that of the case.
void take_outcome(call_report const& did, std::size_t call, case_result& into);

}  // namespace attest::audit
