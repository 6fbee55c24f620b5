// Forms that put a conjunction to the test.
#pragma once

#include <vector>

#include "audit/condition/clause.hpp"

namespace attest::audit {

/// Forms that differ from `base` in all that the clauses are not about.
std::vector<call_form> designs_inside(call_form const& base, std::vector<condition_clause> const& clauses);

/// Forms that violate exactly one clause, just barely, and differ from `base` in all that the clauses are not about.
std::vector<call_form> designs_outside(call_form const& base, std::vector<condition_clause> const& clauses);

/// From one form to another, one number or group of features at a time; the first is `from`, the last `to`.
std::vector<call_form> path_between(call_form const& from, call_form const& to);

}  // namespace attest::audit
