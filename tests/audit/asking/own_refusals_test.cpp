// A kernel that ends its process where it meets an optional input refuses that input, if a small call shows it.
#include "audit/asking/own_refusals.hpp"

#include "audit/asking/run_case.hpp"
#include "audit/cases/random.hpp"
#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests::own_refusals_test {
namespace {

using Catch::Contains;

kernel_session opened(char const* symbol, char const* name = "limited") {
  ::setenv("ATTEST_RUNNER", ATTEST_TEST_RUNNER, 1);
  auto kernel = kernel_session::open({library(name), symbol}, {}, {});
  if (!kernel) FAIL(kernel.why().message());
  return std::move(kernel).value();
}

/// A call of other sizes than the small ones.
audit_case larger(feature_set const& features) {
  call_form form{.size = {1, 2, 2, 72, 72, 16, 16}, .options = features, .length = 9};
  random_stream random(3, "larger");
  return {.check = "masks",
          .name = "larger",
          .problem = owned_problem::of_valid(draft_of(form, element_type::f32, random)),
          .asks = {.lse = true, .weights = false},
          .form = form};
}

case_result taken(audit_case const& asked, kernel_session& kernel, own_refusals& refusals) {
  auto ran = run_case(asked, kernel, {.claim = find_contract("f32")}, nullptr);
  if (!ran) FAIL(ran.why().message());
  refusals.take(asked, kernel, ran.value());
  return std::move(ran).value();
}

case_result taken(audit_case const& asked, char const* symbol) {
  kernel_session kernel = opened(symbol);
  own_refusals refusals(element_type::f32, 1, {}, {}, true);
  return taken(asked, kernel, refusals);
}

}  // namespace

TEST_CASE("an assertion on an optional tensor is a refusal of it in every call", "[unit]") {
  kernel_session kernel = opened("attest_asserts_no_mask");
  own_refusals refusals(element_type::f32, 1, {}, {}, true);
  for (feature_set const& features : {feature_set{feature::mask}, {feature::padding, feature::bias}}) {
    case_result const found = taken(larger(features), kernel, refusals);
    CHECK(found.unsupported);
    CHECK(found.judged.failed == 0);
    REQUIRE(found.observations.size() == 1);
    CHECK_THAT(found.observations.front(),
               Contains("masks/larger: the kernel crashed") && Contains("taken as a refusal"));
    REQUIRE(found.replies.size() == 1);
    CHECK_FALSE(found.replies.front().answered);
  }
  case_result const plain = taken(larger({feature::bias}), kernel, refusals);
  CHECK(plain.judged.failed == 0);
  CHECK_FALSE(plain.unsupported);
}

TEST_CASE("an assertion on two tensors together is a refusal of both together", "[unit]") {
  CHECK(taken(larger({feature::mask, feature::bias}), "attest_asserts_one_tensor").unsupported);
  CHECK_FALSE(taken(larger({feature::mask}), "attest_asserts_one_tensor").unsupported);
}

TEST_CASE("an assertion on lengths of queries beside the lengths of keys that a kernel needs is a refusal", "[unit]") {
  kernel_session kernel = opened("attest_asserts_lengths", "needing");
  kernel.ask_by({.weights = output_asking::never});
  own_refusals refusals(element_type::f32, 1, call_domain::of_text("needs=k_lengths").value(), {}, true);
  case_result const found = taken(larger({feature::lengths}), kernel, refusals);
  CHECK((found.unsupported && found.judged.failed == 0));
  REQUIRE(found.observations.size() == 1);
  CHECK_THAT(found.observations.front(), Contains("the smallest call with q_lengths"));
}

TEST_CASE("an end of the process that the small call does not show is a finding", "[unit]") {
  case_result const found = taken(larger({feature::mask}), "attest_asserts_short_mask");
  CHECK(found.judged.failed == 1);
  CHECK_FALSE(found.unsupported);
  // An end that a plain call shows separates nothing.
  CHECK(taken(larger({feature::mask}), "attest_always_fails").judged.failed == 1);
}

TEST_CASE("an assertion on sizes alone is a refusal of these sizes", "[unit]") {
  auto const asked = [](attest::problem::sizes const& s, bool of_sizes) {
    kernel_session kernel = opened("attest_asserts_few_columns");
    own_refusals refusals(element_type::f32, 1, {}, {}, of_sizes);
    call_form form{.size = s};
    random_stream random(3, "wide");
    return taken({.check = "heads",
                  .name = "wide",
                  .problem = owned_problem::of_valid(draft_of(form, element_type::f32, random)),
                  .asks = {.lse = true, .weights = false},
                  .form = form},
                 kernel, refusals);
  };
  case_result const wide = asked({1, 48, 2, 1, 40, 16, 16}, true);
  CHECK(wide.unsupported);
  CHECK(wide.refused_sizes == "b=1 hq=48 hk=2 n=1 m=40 d=16 dv=16");
  CHECK(wide.judged.failed == 0);
  CHECK(asked({1, 48, 2, 1, 40, 16, 16}, false).judged.failed == 1);  // the domain was declared
  case_result const none = asked({1, 0, 0, 3, 3, 8, 8}, true);
  CHECK(none.refused_sizes == "kv_heads=0");
  CHECK_FALSE(asked({1, 4, 2, 1, 40, 16, 16}, true).unsupported);
}

}  // namespace attest::tests::own_refusals_test
