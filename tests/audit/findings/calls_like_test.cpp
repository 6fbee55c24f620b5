// Calls that tell mistakes apart which one input does not.
#include "audit/findings/calls_like.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/random.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::calls_like_test {
namespace {

bool has_subnormal(audit::owned_tensor const& t) {
  auto const* first = t.as<float>();
  return std::any_of(first, first + t.spanned_elements(), [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

bool has_subnormal_input(audit::problem_draft const& p) {
  return has_subnormal(p.q) || has_subnormal(p.k) || has_subnormal(p.v);
}

}  // namespace

TEST_CASE("an input with a subnormal number has a call beside it whose outputs alone are subnormal", "[unit]") {
  audit::random_stream random(1, "subnormal");
  audit::call_form const form{{1, 2, 2, 5, 7, 8, 8}};
  audit::problem_draft draft = audit::draft_of(form, problem::element_type::f32, random);
  auto const usual = audit::calls_like(audit::owned_problem::of_valid(audit::problem_draft(draft)), {});
  draft.v.as<float>()[3] = 1e-40F;
  REQUIRE(has_subnormal_input(draft));
  auto const calls = audit::calls_like(audit::owned_problem::of_valid(std::move(draft)), {});
  CHECK(calls.size() == usual.size() + 1);
  // Rows of O are means of V: where both signs occur, they are smaller than the smallest normal number.
  CHECK(std::ranges::count_if(calls, [](audit::owned_problem const& call) {
          audit::owned_tensor const& v = call.draft().v;
          auto const is_least = [](float least) { return [=](float x) { return x == least; }; };
          auto const* first = v.as<float>();
          auto const* const last = first + v.spanned_elements();
          return !has_subnormal_input(call.draft()) && std::any_of(first, last, is_least(FLT_MIN)) &&
                 std::any_of(first, last, is_least(-FLT_MIN)) &&
                 std::all_of(first, last, [](float x) { return std::abs(x) == FLT_MIN; });
        }) == 1);
}

TEST_CASE("one of the calls has scores that spread, so that some maxima rise by much", "[unit]") {
  audit::random_stream random(1, "spread");
  auto const asked = audit::owned_problem::of_valid(
      audit::draft_of(audit::call_form{{1, 2, 2, 5, 7, 8, 8}}, problem::element_type::f32, random));
  auto const calls = audit::calls_like(asked, {});
  REQUIRE(calls.size() > 1);
  float const *const usual = calls[0].draft().q.as<float>(), *const spread = calls[1].draft().q.as<float>();
  CHECK(std::equal(usual, usual + 80, spread, [](float x, float four_x) { return 4 * x == four_x; }));
  CHECK(calls[0].draft().k.bytes == calls[1].draft().k.bytes);
}

TEST_CASE("one of the calls has more keys than twice as many, one more heads in groups as large and wider", "[unit]") {
  audit::random_stream random(1, "wider");
  auto const asked = audit::owned_problem::of_valid(
      audit::draft_of(audit::call_form{{1, 4, 2, 5, 24, 8, 8}}, problem::element_type::f32, random));
  auto const sizes_where = [&](auto const& fit) {
    return std::ranges::count_if(audit::calls_like(asked, {}), [&](auto const& call) { return fit(call.size()); });
  };
  CHECK(sizes_where([](problem::sizes const& s) { return s.m > 48; }) == 1);
  CHECK(sizes_where([](problem::sizes const& s) { return s.hk == 5 && s.hq == 10 && s.m == 24 && s.d == 80; }) == 1);
}

}  // namespace attest::tests::calls_like_test
