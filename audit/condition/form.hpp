// The form of a call that an audit asked, as near to the call as a form can be.
#pragma once

#include <optional>

#include "audit/cases/case.hpp"
#include "audit/condition/question.hpp"

namespace attest::audit {

/// The form of call `at` of a case: form_of, and its threads, memory, shape and bytes of the mask, window and softcap.
/// Of a backward pass, the form of its call of attention. What the kernel needs, where it has the value that any
/// call gets, is `supplied` and no feature. Returns nothing if the problem has not rank 4.
std::optional<call_form> form_asked(audit_case const& of, std::size_t at, needed_inputs const& needs = {});

/// The special values that a call may have: a NaN only where its V holds one.
std::vector<value_form> special_values_of(problem_draft const& draft);

/// The forms of the calls that a run of the case makes before call `at`, in their order.
std::vector<call_form> forms_before(audit_case const& of, std::size_t at, needed_inputs const& needs = {});

}  // namespace attest::audit
