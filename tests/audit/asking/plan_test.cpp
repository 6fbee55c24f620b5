// The plan of an audit, and what its report says of the cases that are not in it.
#include "audit/asking/plan.hpp"

#include <algorithm>
#include <string>

#include "tests/support/catch.hpp"

namespace attest::audit::plan_test {
namespace {

std::vector<omission> left_out_in(char const* domain) {
  audit_options options;
  options.quick = true, options.claim = find_contract("f32");
  kernel_domain of;
  of.domain = of.of_gradients = call_domain::of_text(domain).value();
  auto const plan = planned(options, of);
  if (!plan) FAIL(plan.why().message());
  return left_out(options, plan.value());
}

std::string what_is_left_out(char const* domain, std::string const& why) {
  std::string what;
  for (omission const& one : left_out_in(domain))
    if (one.why == why) what += one.what;
  return what;
}

}  // namespace

TEST_CASE("a feature that cannot stand beside a needed input is said to be left out", "[unit]") {
  std::string const why = "outside the domain: an input that the kernel needs";
  CHECK_THAT(what_is_left_out("needs=mask", why), Catch::Contains("(support, "));
  CHECK_THAT(what_is_left_out("needs=q_offsets", why), Catch::Contains("(support 13)"));
  CHECK_THAT(what_is_left_out("needs=k_lengths", why), !Catch::Contains("support"));
}

TEST_CASE("each check stands once in the list of a reason", "[unit]") {
  std::string const what =
      what_is_left_out("causal=none needs=k_lengths", "outside the domain: another band than the domain takes");
  std::size_t const first = what.find("bands ");
  REQUIRE(first != what.npos);
  CHECK(what.find("bands ", first + 1) == what.npos);
}

}  // namespace attest::audit::plan_test
