// The digits of a visibility probe are read only where they mean something: the row is within the bound of the answer
// with the keys that they name.
#include <algorithm>

#include "audit/cases/case.hpp"
#include "audit/contract/contract.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::visibility_probe_test {
namespace {

/// The probe of three queries that see 32 keys each, with column 0 of query 1 of head 0 replaced.
audit::case_result judged(double first_column) {
  for (audit::audit_case const& probe : audit::generated_cases({.seed = 5, .checks = {"visibility-probe"}})) {
    if (probe.name != "all") continue;
    audit::case_outputs outputs{builtin_answer(probe.problem.draft())};
    audit::owned_tensor& o = *outputs[0]->o;
    for (std::int64_t c = 0; c < probe.problem.size().dv; ++c)
      audit::store(o, audit::offset_of(o, 0, 0, 1, c), c == 0 ? first_column : 0);
    audit::case_result found;
    audit::judge_case(probe, outputs, {.claim = audit::find_contract("f32")}, found);
    return found;
  }
  FAIL("there is no such probe");
  return {};
}

bool says_keys(audit::case_result const& found) {
  return std::ranges::any_of(found.judged.violations, [](audit::violation const& v) {
    return v.sentence.find("read key") != std::string::npos;
  });
}

}  // namespace

TEST_CASE("the keys that a query read are named where its numbers are those of these keys", "[unit]") {
  audit::case_result const found = judged(1);  // key 0 alone
  CHECK(found.judged.failed > 0);
  CHECK(says_keys(found));
}

TEST_CASE("no keys are named where the numbers are those of no set of keys", "[unit]") {
  audit::case_result const found = judged(1.1);  // rounds to the digit of key 0
  CHECK(found.judged.failed > 0);
  CHECK_FALSE(says_keys(found));
}

}  // namespace attest::tests::visibility_probe_test
