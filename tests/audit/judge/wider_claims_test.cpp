// A case that fails under a claim is judged again by the presets that are wider.
#include "audit/judge/wider_claims.hpp"

#include <string>
#include <vector>

#include "audit/contract/preset_family.hpp"
#include "audit/judge/judge_case.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/guarded_call.hpp"

namespace attest::tests::wider_claims_test {
namespace {

using names = std::vector<std::string>;

names wider_than(char const* claim) {
  names all;
  for (audit::wider_preset const& preset : audit::wider_presets(*audit::find_contract(claim)))
    all.emplace_back(preset.name);
  return all;
}

/// The cases of the check `accuracy`, as a specimen answers them.
struct answered {
  audit::audit_case asked;
  audit::case_outputs outputs;
};
std::vector<answered> answers_of(std::string_view specimen, problem::element_type type) {
  zoo::specimen const* const found = zoo::find_specimen(specimen);
  REQUIRE(found != nullptr);
  std::vector<answered> all;
  for (audit::audit_case& kernel_case : audit::generated_cases({.type = type, .seed = 1, .quick = true}))
    if (kernel_case.check == "accuracy" && kernel_case.further.empty()) {
      auto outputs = guarded_answer_of(found->kernel, kernel_case.problem.draft());
      all.push_back({std::move(kernel_case), {std::move(outputs)}});
    }
  REQUIRE(all.size() >= 4);
  return all;
}

/// The presets that all failing cases are inside.
names left_of(audit::wider_claims& wider, audit::contract const& claim, std::vector<answered> const& answers) {
  names left;
  std::int64_t failing = 0;
  for (auto const& [asked, outputs] : answers) {
    audit::case_result found;
    audit::judge_case(asked, outputs, {&claim}, found);
    if (found.judged.failed == 0) continue;
    ++failing;
    left.clear();
    auto const inside = wider.holding(asked, outputs, false, found.judged.violations.front());
    for (audit::holding_preset const& preset : inside) {
      left.push_back(preset.name);
      CHECK(preset.worst > 0);
      CHECK(preset.worst <= 1);
    }
    wider.keep(inside);
  }
  CHECK(failing >= 2);
  return left;
}

}  // namespace

TEST_CASE("wider presets are of the claim's element type, and begin after the claim", "[unit]") {
  CHECK(wider_than("f64") == names{"f64-in-f32"});
  CHECK(wider_than("f64-ordered") == names{"f64", "f64-in-f32"});
  CHECK(wider_than("f64-in-f32").empty());
  CHECK(wider_than("f32") == names{"f32-any", "f32-split", "f16-scores", "bf16-throughout"});
  CHECK(wider_than("f32-gradual") == names{"f32", "f32-any", "f32-split", "f16-scores", "bf16-throughout"});
  CHECK(wider_than("f32-blocked") == wider_than("f32-gradual"));
  CHECK(wider_than("bf16-ieee") == names{"bf16"});
  CHECK(wider_than("f16") == names{"f16-ftz"});
  CHECK(wider_than("bf16").empty());
  CHECK(wider_than("merge-f32") == names{"merge-f32-split", "merge-f32-ring", "merge-f32-sigmoid"});
  CHECK(wider_than("merge-f32-bf16") == names{"merge-f32-bf16-split", "merge-f32-bf16-ring", "merge-f32-bf16-sigmoid"});
  CHECK(wider_than("merge-f32-ring") == names{"merge-f32-sigmoid"});
  CHECK(wider_than("merge-f32-sigmoid").empty());
}

TEST_CASE("a kernel of less precision is inside its preset wherever it fails", "[slow]") {
  using enum problem::element_type;
  struct row {
    char const *specimen, *claim, *narrowest;
  };
  for (auto const& [specimen, claim, narrowest] :
       {row{"double_as_float", "f64-ordered", "f64-in-f32"}, row{"logits_in_f16", "f32", "f16-scores"},
        row{"bf16_inside", "f32-ordered", "bf16-throughout"}}) {
    INFO(specimen);
    audit::contract const& claimed = *audit::find_contract(claim);
    audit::wider_claims wider(claimed);
    auto const left = left_of(wider, claimed, answers_of(specimen, claimed.type));
    REQUIRE(!left.empty());
    CHECK(left.front() == narrowest);
  }
}

TEST_CASE("a wrong kernel is inside none, and what one case left is not asked of the next", "[unit]") {
  audit::contract const& claimed = *audit::find_contract("f32");
  audit::wider_claims wider(claimed);
  CHECK(left_of(wider, claimed, answers_of("mean_of_v", claimed.type)).empty());
  for (auto const& [asked, outputs] : answers_of("logits_in_f16", claimed.type))
    CHECK(wider.holding(asked, outputs, false, {}).empty());
}

}  // namespace attest::tests::wider_claims_test
