// Which calls a contract leaves open, because numbers at hidden keys may reach the outputs: no more than it says.
#include "audit/judge/hidden_keys.hpp"

#include <limits>

#include "audit/cases/arranged.hpp"
#include "audit/cases/default_contract.hpp"
#include "audit/cases/random.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/merge_form.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::hidden_keys_test {
namespace {

using audit::conventions;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

audit::contract claim_of(conventions::masked hidden) {
  audit::contract claim = *audit::find_contract("f32");
  claim.conventions.masked_values = hidden;
  return claim;
}

/// Whether the claim leaves a problem open.
auto opens(audit::contract const& claim) {
  return [&claim](audit::problem_draft const& draft) {
    return audit::leaves_outputs_open(audit::owned_problem::of_valid(draft), claim);
  };
}

}  // namespace

TEST_CASE("hidden values are finite where only what nobody reads is not, and where a bias of −∞ hides a key",
          "[unit]") {
  audit::contract const claim =
      claim_of(GENERATE(conventions::masked::must_be_finite, conventions::masked::must_not_overflow));
  auto const is_open = opens(claim);
  recipe r;
  r.b = 2, r.n = 3, r.m = 5, r.d = 4, r.dv = 4;
  audit::problem_draft const dense = make_problem(r);
  auto const place = [](audit::owned_tensor const& of, std::int64_t b, std::int64_t j) {
    return audit::offset_of(of, b, 0, j, 1);
  };

  audit::problem_draft behind = dense;
  audit::set_lengths(behind, {2, 3}, {4, 5});
  audit::store(behind.q, place(behind.q, 0, 2), nan), audit::store(behind.k, place(behind.k, 0, 4), nan);
  audit::store(behind.v, place(behind.v, 0, 4), infinity);
  CHECK_FALSE(is_open(behind));
  audit::store(behind.v, place(behind.v, 0, 3), infinity);  // the last key of entry 0
  CHECK(is_open(behind));

  audit::problem_draft biased = dense;
  biased.bias = audit::owned_tensor::compact(problem::element_type::f32, {1, 1, 3, 5});
  audit::fill(*biased.bias, [](auto, auto, auto i, auto j) { return j > i ? -infinity : 0; });
  CHECK_FALSE(is_open(biased));
  CHECK(audit::judge_by_law(audit::owned_problem::of_valid(biased), builtin_answer(biased), claim).failed == 0);
  audit::store(*biased.bias, 4, nan);
  CHECK(is_open(biased));
  audit::store(*biased.bias, 4, infinity);
  CHECK(is_open(biased));

  audit::problem_draft paged = dense;
  audit::random_stream random(1, "paged");
  audit::set_lengths(paged, {3, 3}, {4, 5});
  audit::page_keys(paged, {.page = 2}, random);
  CHECK_FALSE(is_open(paged));
}

TEST_CASE("a NaN at a key that every query sees leaves nothing open, whatever could hide keys", "[unit]") {
  audit::contract const claim =
      claim_of(GENERATE(conventions::masked::must_be_finite, conventions::masked::must_not_overflow));
  auto const is_open = opens(claim);
  recipe r;
  r.n = 3, r.m = 5, r.d = 4, r.dv = 4;
  audit::problem_draft biased = make_problem(r);
  biased.bias = audit::owned_tensor::compact(problem::element_type::f32, {1, 1, 3, 5});
  for (double const odd : {nan, infinity}) {
    audit::store(*biased.bias, 7, odd);
    CHECK_FALSE(is_open(biased));
    CHECK(audit::judge_by_law(audit::owned_problem::of_valid(biased), builtin_answer(biased), claim).failed == 0);
  }
  audit::store(*biased.bias, 0, -infinity);
  CHECK(is_open(biased));

  audit::problem_draft masked = make_problem(r);
  audit::store(masked.v, 0, nan);
  masked.mask = audit::owned_tensor::compact(problem::element_type::u8, {1, 1, 3, 5});
  audit::fill(*masked.mask, [](auto...) { return 1.0; });
  CHECK_FALSE(is_open(masked));
  audit::store(*masked.mask, 14, 0);
  CHECK(is_open(masked));
  masked.mask.reset(), masked.band = {0, 7, 7};
  CHECK_FALSE(is_open(masked));
  masked.band = {0, 7, 1};
  CHECK(is_open(masked));
}

TEST_CASE(
    "a score that overflows at a key that a bias of −∞ hides leaves the answer open where scores must not overflow",
    "[unit]") {
  recipe r;
  r.n = 2, r.m = 5, r.d = 2, r.dv = 2;
  audit::problem_draft draft = make_problem(r);
  audit::fill(draft.q, [](auto...) { return 2.0; });
  draft.bias = audit::owned_tensor::compact(problem::element_type::f32, {1, 1, 1, 5});
  audit::fill(*draft.bias, [](auto, auto, auto, auto j) { return j == 3 ? -infinity : 0; });
  for (double const hidden : {1e30, 3e38}) {
    audit::store(draft.k, 3 * 2, hidden);
    CHECK(audit::hidden_scores_may_overflow(audit::owned_problem::of_valid(draft), *audit::find_contract("f32")) ==
          (hidden > 1e31));
  }
}

TEST_CASE("a claim that hidden values must be finite says so of parts that saw nothing, and of no other merge",
          "[unit]") {
  audit::merge_parts parts{.parts = 2, .b = 1, .hq = 1, .n = 1, .dv = 1};
  audit::owned_tensor o = audit::owned_tensor::compact(problem::element_type::f32, {2, 1}), lse = o;
  audit::contract claim = *audit::find_contract("f32-split");
  auto const open = [&](double o_1, double lse_1, conventions::masked hidden) {
    audit::store(o, 0, 1), audit::store(o, 1, o_1), audit::store(lse, 0, 0.5), audit::store(lse, 1, lse_1);
    parts.o = o.bytes, parts.lse = lse.bytes;
    auto const merge = audit::owned_problem::of_valid(audit::merge_draft(parts, problem::element_type::f32));
    claim.conventions.masked_values = hidden;
    return audit::leaves_outputs_open(merge, audit::contract_under(claim, merge));
  };
  using enum conventions::masked;
  CHECK(open(nan, -infinity, must_be_finite));
  CHECK(open(infinity, -infinity, must_not_overflow));
  CHECK_FALSE(open(nan, -infinity, never_read));
  CHECK_FALSE(open(2, -infinity, must_be_finite));
  CHECK_FALSE(open(nan, 0.5, must_be_finite));
}

}  // namespace attest::tests::hidden_keys_test
