// The mutants that are wrong on rare inputs only: there their answer is far off, and elsewhere it is an honest
// kernel's.
#include <cmath>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/guarded_call.hpp"

namespace attest::tests::rare_mutants_test {
namespace {

using problem::element_type;

std::vector<audit::audit_case> cases_of(element_type type, std::string const& check) {
  return audit::generated_cases({.type = type, .seed = 1, .checks = {check}});
}

audit::problem_draft const& problem_of(std::vector<audit::audit_case> const& cases, std::string const& name) {
  auto const at = std::ranges::find(cases, name, &audit::audit_case::name);
  REQUIRE(at != cases.end());
  return at->problem.draft();
}

/// The answer of a specimen.
audit::owned_outputs answer_of(std::string_view specimen, audit::problem_draft const& draft) {
  zoo::specimen const* const found = zoo::find_specimen(specimen);
  REQUIRE(found != nullptr);
  audit::owned_outputs answer = guarded_answer_of(found->kernel, draft);
  REQUIRE(answer.o.has_value());
  return answer;
}

/// The largest difference of two tensors of one shape.
double distance(audit::owned_tensor const& a, audit::owned_tensor const& b) {
  double largest = 0;
  for (std::size_t at = 0; at < a.spanned_elements(); ++at)
    largest = std::max(largest, std::abs(audit::load(a, at) - audit::load(b, at)));
  return largest;
}

struct differences {
  double o = 0, lse = 0;
};

differences from_honest(std::string_view mutant, std::string_view honest, audit::problem_draft const& draft) {
  auto const wrong = answer_of(mutant, draft), right = answer_of(honest, draft);
  CHECK_FALSE(wrong.weights.has_value());
  return {distance(*wrong.o, *right.o), distance(*wrong.lse, *right.lse)};
}

/// The mutant's bits on inputs that are not rare are the honest kernel's.
void is_honest_on(std::string_view mutant, std::string_view honest, std::vector<audit::audit_case> const& cases,
                  std::vector<std::string> const& names) {
  for (std::string const& name : names) {
    INFO(mutant << " on " << name);
    auto const [o, lse] = from_honest(mutant, honest, problem_of(cases, name));
    CHECK(o == 0);
    CHECK(lse == 0);
  }
}

}  // namespace

TEST_CASE("finite masks: the mutants leak -100, give mean(V) or add 1 to the LSE, between -1e36 and -1e6 only",
          "[unit]") {
  std::vector<std::string> const ordinary{"half-at-1e+06", "half-at-1.06338e+37", "first-64-at-1e+06"};
  auto const f32 = cases_of(element_type::f32, "additive-masks");
  for (std::string_view const mutant :
       {"ignores_finite_masks", "mean_of_v_beside_finite_masks", "lse_plus_1_beside_finite_masks"})
    is_honest_on(mutant, "blocks_of_16", f32, ordinary);
  for (std::string const value : {"-1e+07", "-1e+09", "-1e+10", "-1e+20", "-1e+30"}) {
    INFO(value);
    for (std::string const pattern : {"half", "one-key", "first-128", "all-but-one"}) {
      INFO(pattern);
      audit::problem_draft const& asked = problem_of(f32, pattern + "-at" + value);
      differences const ignored = from_honest("ignores_finite_masks", "blocks_of_16", asked);
      CHECK(ignored.o > 0.01);
      CHECK(ignored.lse > 1e-4);
      differences const mean = from_honest("mean_of_v_beside_finite_masks", "blocks_of_16", asked);
      CHECK(mean.o > 0.1);
      if (pattern != "all-but-one") CHECK(mean.lse > 1);  // there the LSE is the maximum
      differences const plus_1 = from_honest("lse_plus_1_beside_finite_masks", "blocks_of_16", asked);
      CHECK(plus_1.o == 0);
      CHECK(std::abs(plus_1.lse - 1) < 1e-5);
    }
  }
  auto const bf16 = cases_of(element_type::bf16, "additive-masks");
  is_honest_on("bf16_ignores_finite_masks", "bf16_in_memory", bf16, {"half-at-1.06338e+37"});
  CHECK(from_honest("bf16_ignores_finite_masks", "bf16_in_memory", problem_of(bf16, "one-key-at-1e+09")).o > 0.03);
}

TEST_CASE("long rows: the mutants lose a key, count one twice or cut V, from 1025 keys on only", "[unit]") {
  struct long_row_mutant {
    std::string_view mutant, honest;
    element_type type;
  };
  for (auto const& [mutant, honest, type] :
       {long_row_mutant{"long_rows_lose_the_last_key", "blocks_of_16", element_type::f32},
        long_row_mutant{"bf16_long_rows_lose_the_last_key", "bf16_in_memory", element_type::bf16},
        long_row_mutant{"f16_long_rows_lose_the_last_key", "f16_in_memory", element_type::f16},
        long_row_mutant{"long_rows_count_a_key_twice", "blocks_of_16", element_type::f32}}) {
    INFO(mutant);
    auto const cases = cases_of(type, "every-key");
    is_honest_on(mutant, honest, cases, {"pairs-m129", "one-hot-m129"});
    for (std::string const name : {"equal-m1025", "equal-m2049", "equal-m4200"})
      CHECK(from_honest(mutant, honest, problem_of(cases, name)).o > 0.9 / 4200);
    if (mutant.ends_with("lose_the_last_key"))  // the first pair has the last key
      for (std::string const name : {"pairs-m1025", "pairs-m2049", "pairs-m4200", "pairs-drawn"})
        CHECK(from_honest(mutant, honest, problem_of(cases, name)).o > 0.99);
  }
  auto const cases = cases_of(element_type::f32, "every-key");
  is_honest_on("long_rows_cut_values_to_bf16", "blocks_of_16", cases, {"pairs-m129", "one-hot-m129"});
  for (std::string const name : {"equal-m1025", "pairs-m2049", "one-hot-m4200", "pairs-drawn"})
    CHECK(std::abs(from_honest("long_rows_cut_values_to_bf16", "blocks_of_16", problem_of(cases, name)).o - 0x1p-9) <
          1e-5);
}

}  // namespace attest::tests::rare_mutants_test
