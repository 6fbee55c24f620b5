// O and LSE of the forward pass, for a backward kernel that is handed them.
#pragma once

#include "audit/cases/case.hpp"

namespace attest::audit {

/// The problem of a backward pass with the O and LSE of docs/semantics.md, each within one rounding of the exact value.
/// The problem itself if it has them, or is of another operator.
/// Cost      the oracle's for every row
owned_problem with_forward(owned_problem const& problem);
/// The case with all its calls so.
audit_case with_forward(audit_case of);

}  // namespace attest::audit
