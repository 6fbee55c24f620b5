// Clauses that hold together, found around one failing form.
#pragma once

#include <algorithm>
#include <vector>

#include "audit/condition/clause.hpp"

namespace attest::audit {

struct conjunction {
  std::vector<condition_clause> clauses;
  call_form base;          ///< a form that is wrong, near the plain one
  bool settled = false;    ///< every question that the clauses hold for is wrong
  bool elsewhere = false;  ///< a question that they do not hold for is wrong too

  bool holds(call_form const& form) const {
    return std::ranges::all_of(clauses, [&](condition_clause const& one) { return one.holds(form); });
  }
};

}  // namespace attest::audit
