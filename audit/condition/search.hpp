// The search for a conjunction around one failing form: resets to what is plain, edges of what remains, questions
// against the conjunction so found.
#pragma once

#include <vector>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/condition/conjunction.hpp"
#include "audit/condition/traits.hpp"

namespace attest::audit {

/// `right` are forms that were judged right: the clauses must not hold for them. `element_bytes` is the size of an
/// element of the kernel's type. Forms outside the domain are refused.
/// Requires  `failing` is wrong
conjunction find_conjunction(call_form const& failing, std::vector<call_form> const& right, form_asker const& ask,
                             std::int64_t element_bytes = 4, call_domain const& domain = {});

}  // namespace attest::audit
