// A case with the outputs of its calls.
#pragma once

#include <algorithm>

#include "audit/cases/arranged.hpp"
#include "audit/cases/case.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/random.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests {

/// A case of this form; only these of its rows are judged.
inline audit::audit_case sampled(audit::call_form const& form, std::vector<audit::row_index> rows) {
  audit::random_stream random(1, "sampled");
  return {.check = "drawn",
          .name = "1",
          .problem = audit::owned_problem::of_valid(draft_of(form, problem::element_type::f32, random)),
          .rows = std::move(rows),
          .form = form};
}

}  // namespace attest::tests
