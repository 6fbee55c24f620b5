// The plan of an audit, and what its report says of the cases that are not in it.
#include "audit/asking/plan.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "audit/asking/slow_pace.hpp"
#include "audit/cases/domain/fit_case.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::plan_test {
namespace {

audit_plan plan_of_speed(double seconds_a_call, std::optional<std::int64_t> draws = {}) {
  audit_options options;
  options.quick = true, options.claim = find_contract("f32"), options.draws = draws;
  kernel_domain of;
  of.seconds_a_call = seconds_a_call;
  auto plan = planned(options, of);
  if (!plan) FAIL(plan.why().message());
  return std::move(plan).value();
}

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

TEST_CASE("a slow kernel is asked every check once before a second time, the telling ones first", "[unit]") {
  audit_plan const plan = plan_of_speed(0.1);
  CHECK(plan.slow_call == 0.1);
  std::set<std::string> asked, all;
  for (std::size_t at = 0; at < plan.shapes_from; ++at) all.insert(plan.fixed[at].check);
  std::int64_t calls = 0;
  constexpr std::size_t telling = 11;
  for (std::size_t at = 0; at < all.size(); ++at) {
    asked.insert(plan.fixed[at].check);
    if (at >= telling) CHECK(plan.fixed[at].calls >= std::exchange(calls, plan.fixed[at].calls));
  }
  CHECK(asked == all);
  CHECK((plan.first_turn > telling && plan.first_turn < all.size()));
  double products = 0;
  for (std::size_t at = all.size(); at < plan.shapes_from; ++at)
    CHECK(2 * plan.fixed[at].products >= std::exchange(products, plan.fixed[at].products));
  CHECK((plan.fixed[0].full_name() == "support/plain" && plan.fixed[1].check == "pairs"));
  CHECK(plan_of_speed(0.001).slow_call == 0);
  CHECK(plan_of_speed(0.1, 0).slow_call == 0);
}

TEST_CASE("the fixed part of a slow kernel ends in time, or with its half in twice the time", "[unit]") {
  slow_pace const at{.done = 200,
                     .half = 500,
                     .calls = 300,
                     .calls_of_half = 900,
                     .call = 0.02,
                     .spent = 8,
                     .next = 0.5,
                     .first = 0,
                     .usual = 9,
                     .most = 20};
  auto const with = [&](auto change) {
    slow_pace other = at;
    change(other);
    return may_go_on(other);
  };
  CHECK(may_go_on(at));
  CHECK_FALSE(with([](slow_pace& of) { of.next = 2; }));
  CHECK(with([](slow_pace& of) { of.next = 2, of.done = 0; }));
  CHECK_FALSE(with([](slow_pace& of) { of.spent = 10; }));
  CHECK(with([](slow_pace& of) { of.spent = 10, of.calls = 410; }));
  CHECK_FALSE(with([](slow_pace& of) { of.spent = 10, of.calls = 400; }));
  CHECK(with([](slow_pace& of) { of.spent = 10, of.calls = 400, of.first = 4; }));
  CHECK_FALSE(with([](slow_pace& of) { of.spent = 10, of.calls = 0; }));
  CHECK(with([](slow_pace& of) { of.spent = 10, of.calls = 0, of.call = 0.01; }));
  CHECK_FALSE(with([](slow_pace& of) { of.spent = 10, of.calls = 900, of.done = 500; }));
  CHECK_FALSE(with([](slow_pace& of) { of.spent = 19.8, of.calls = 899, of.done = 499; }));
}

TEST_CASE("a planned case in a domain is the fitted one, byte by byte", "[unit]") {
  call_domain const domain = call_domain::of_text("d=64 dv=d n%64 m=n group=1 causal=none scale>0").value();
  int several = 0;
  for (audit_case const& asked : generated_cases({.quick = true, .checks = {"poison", "stale", "weights-through-v"}})) {
    INFO(asked.full_name());
    auto const fits = fitted(asked, domain).made;
    auto const plan = fitted_plan(audit_case(asked), domain).plan;
    REQUIRE(plan.has_value() == fits.has_value());
    if (!plan) continue;
    audit_case const made = plan->make({});
    CHECK(plan->calls == made.calls());
    REQUIRE(made.further.size() == fits->further.size());
    several += made.further.empty() ? 0 : 1;
    for (std::size_t call = 0; call <= made.further.size(); ++call)
      for (auto const tensor : {&problem_draft::q, &problem_draft::k, &problem_draft::v})
        CHECK((made.call(call).draft().*tensor).bytes == (fits->call(call).draft().*tensor).bytes);
  }
  CHECK(several > 0);
}

TEST_CASE("each check stands once in the list of a reason", "[unit]") {
  std::string const what =
      what_is_left_out("causal=none needs=k_lengths", "outside the domain: another band than the domain takes");
  std::size_t const first = what.find("bands ");
  REQUIRE(first != what.npos);
  CHECK(what.find("bands ", first + 1) == what.npos);
}

}  // namespace attest::audit::plan_test
