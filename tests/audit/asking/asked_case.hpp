// Cases that a kernel is asked.
#pragma once

#include "audit/asking/run_case.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests {

inline owned_problem two_heads() {
  problem_draft draft;
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) {
    *t = owned_tensor::compact(element_type::f32, {2, 2, 3, 4});
    fill(*t,
         [](auto b, auto h, auto i, auto c) { return 0.25 * static_cast<double>((b * 7 + h * 5 + i * 3 + c) % 8); });
  }
  return valid(std::move(draft));
}

inline kernel_session session(char const* name, isolation_limits const& limits = {}) {
  ::setenv("ATTEST_RUNNER", ATTEST_TEST_RUNNER, 1);
  auto opened = kernel_session::open({library(name)}, {}, limits);
  if (!opened) FAIL(opened.why().message());
  return std::move(opened).value();
}

inline case_result ask(audit_case const& asked, kernel_session& kernel) {
  auto found = run_case(asked, kernel, {.claim = find_contract("f32")}, nullptr);
  if (!found) FAIL(found.why().message());
  return std::move(found).value();
}

inline audit_case in_memory(memory_form const& first, memory_form const& second) {
  audit_case asked{.check = "layout", .name = "drawn", .problem = two_heads(), .memory = first};
  asked.must_equal(asked.problem, "its tensors lie elsewhere");
  asked.further.back().memory = second;
  return asked;
}

}  // namespace attest::tests
