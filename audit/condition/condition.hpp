// Names the condition under which a kernel is wrong ("wrong from n = 129 on"): asks it on purpose on both sides of the
// edge, from one form of a call that failed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/condition/question.hpp"

namespace attest::audit {

/// The smallest conjunction that was found of conditions on sizes, features, values, threads, memory and earlier calls.
/// It separates the wrong answers from the right ones among all that was asked around the failing form; where the
/// questions do not settle it, the sentence is an observation over the calls that were judged ("every failing input has
/// …; no passing input has"). A conjunction has at most three clauses, since longer ones are not read, and the search
/// met no wrong answer outside it. `element_bytes` is the size of an element of the kernel's type. Forms outside the
/// domain are refused: what all of its forms have is no part of the condition. `special`: the special values that the
/// failing call may have; the kernel may be wrong with others as well, which would say nothing of this call.
/// Ensures   returns nothing if no conjunction fits, if the form fails by chance, or if time ended before one was seen
/// Cost      usually 30 to 90 questions, up to three times as many where an error is seen with some values only; ends
/// when `ask` returns nothing
std::optional<condition> find_condition(call_form const& failing, std::span<judged_form const> earlier,
                                        asker const& ask, std::int64_t element_bytes = 4,
                                        call_domain const& domain = {},
                                        std::span<value_form const> special = special_values);

/// The sentence of a condition, beside all calls that were judged. If a wrong one lies outside, it speaks of the calls
/// around the failing one: "around this call: wrong where causal".
std::string sentence_beside(condition const& found, std::span<judged_form const> judged);

}  // namespace attest::audit
