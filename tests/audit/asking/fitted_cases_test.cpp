// The built-in kernel is right in every case that is made inside the domain of another kernel.
#include <string>

#include "audit/asking/run_case.hpp"
#include "audit/builtin/kernel_spec.hpp"
#include "audit/cases/domain/fit_case.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::fitted_cases_test {
namespace {

void ask_all(char const* text) {
  INFO(text);
  auto const domain = call_domain::of_text(text);
  REQUIRE(domain);
  ::setenv("ATTEST_RUNNER", ATTEST_TEST_RUNNER, 1);
  auto kernel = open_kernel("builtin", -1, {}, {});
  if (!kernel) FAIL(kernel.why().message());
  for (audit_case const& asked : generated_cases({.quick = true})) {
    fitted_case const fit = fitted(asked, domain.value());
    if (!fit.made) continue;
    auto const found = run_case(*fit.made, kernel.value(), {.claim = find_contract("f32")}, nullptr);
    INFO(asked.full_name());
    if (!found) FAIL(found.why().message());
    CHECK(found.value().judged.failed == 0);
    for (violation const& v : found.value().judged.violations) UNSCOPED_INFO(v.sentence);
    CHECK(found.value().judged.violations.empty());
  }
}

}  // namespace

TEST_CASE("an honest kernel is right in fitted cases", "[unit]") {
  ask_all(
      GENERATE("d%8 d<=256 dv=d causal=none,top-left,bottom-right", "d=128 dv=d n=1 group=1,4,8 causal=none scale>0"));
}

TEST_CASE("an honest kernel is right in cases with neutral tensors, packed rows and pages", "[nightly]") {
  ask_all(GENERATE("d=64 dv=d n%64 m%64 needs=k_lengths", "d=64 dv=d n%64 m%64 needs=mask", "needs=bias",
                   "d=64,128 dv=d needs=q_offsets,k_offsets", "d=64,128 dv=d needs=k_lengths,block_table"));
}

TEST_CASE("an honest kernel is right in cases that are fitted to further domains", "[nightly]") {
  ask_all(GENERATE("d=64,128 dv=d causal=none,bottom-right scale>0",
                   "d=64,128 dv=d n%128 n>=128 m=n group=1 causal=none,top-left scale>0", "d=64,128 dv=d n%128 m=n",
                   "d=64 dv=d n%64 m%64", "d=576 dv=512 n>=1 n<=2 kv_heads=1 causal=none,bottom-right scale=default"));
}

}  // namespace attest::audit::fitted_cases_test
