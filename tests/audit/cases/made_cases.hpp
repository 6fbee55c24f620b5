// Cases of a check, and numbers of their tensors.
#pragma once

#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/cases/random.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

using audit::audit_case;
using problem::element_type;

inline constexpr element_type all_types[]{element_type::f32, element_type::f64, element_type::bf16, element_type::f16};

/// The cases of a check whose names begin with `prefix`.
inline std::vector<audit_case> cases_of(std::string_view check, std::string_view prefix, audit::case_options options) {
  options.checks = {std::string(check)};
  std::vector<audit_case> cases = audit::generated_cases(options);
  std::erase_if(cases, [&](audit_case const& c) { return !c.name.starts_with(prefix); });
  return cases;
}

}  // namespace attest::tests
