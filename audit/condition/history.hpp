// Conditions on the calls before: one call that spoils later ones, or their number.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/condition/question.hpp"

namespace attest::audit {

/// Asks, and does not return where no time is left.
using patient_asker = std::function<given_answer(question const&)>;

struct history_condition {
  std::string sentence;
  std::vector<std::string> clauses;
};

/// What must have been called before, for a form that is right in a process of its own.
/// Ensures   returns nothing if no calls before it make it wrong, or not the same calls each time
std::optional<history_condition> find_history(call_form const& failing, std::span<call_form const> earlier,
                                              patient_asker const& ask);

}  // namespace attest::audit
