// The weaker condition: a property that, among the inputs that were asked, all failing ones have and no passing one
// has.
#pragma once

#include <optional>
#include <span>

#include "audit/condition/question.hpp"

namespace attest::audit {

/// The smallest conjunction, of at most three clauses, that holds for all wrong calls and for no right one.
/// Ensures   returns nothing if there are fewer than five wrong calls for each clause, or fewer than five right ones: a
///           box around a few points separates them from most others by chance
std::optional<condition> observed_condition(std::span<judged_form const> asked);

}  // namespace attest::audit
