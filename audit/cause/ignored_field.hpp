// A kernel that answers a call as if one of its fields were not there.
#pragma once

#include <optional>

#include "audit/cases/case.hpp"
#include "audit/contract/contract.hpp"

namespace attest::audit {

/// The feature of a call without which its answer would be right. Returns nothing if there is no such feature, or if
/// the answer without it has another shape. Requires  a case with a form, whose answer is wrong
/// Cost      one judgement of the call for each of its features
std::optional<feature> ignored_field(audit_case const& asked, owned_outputs const& outputs, contract const& claim);

}  // namespace attest::audit
